package mutation

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lookfirst/fsmcp/confine"
)

// patience is how long a test waits for what must happen: it guards against hanging and decides nothing else.
const patience = 2 * time.Minute

// rootID is the identity of the root in all tests of the lock; the root itself plays no part in them.
var rootID = confine.ID{Dev: 7, Ino: 42}

func lockIn(dir string) *Lock { return For("/root", rootID, Options{Dir: dir, Wait: patience}) }

// child is another process: the test binary, run again as TestLockChild.
type child struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// startChild runs "work args…" (see TestLockChild) in another process, with its lock files in dir.
func startChild(t *testing.T, dir string, work ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0], "-test.run=^TestLockChild$")}
	c.cmd.Env = append(os.Environ(), "LOCK_CHILD="+strings.Join(work, " "), "LOCK_DIR="+dir)
	c.cmd.Stderr = os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewScanner(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		c.cmd.Wait()
	})
	return c
}

// expect waits for the child to say word.
func (c *child) expect(word string) {
	c.t.Helper()
	for c.out.Scan() {
		if c.out.Text() == word {
			return
		}
	}
	c.t.Fatalf("the other process ended before it said %q", word)
}

// tell makes the child go on.
func (c *child) tell() {
	c.t.Helper()
	if _, err := io.WriteString(c.in, "\n"); err != nil {
		c.t.Fatal(err)
	}
}

// TestLockChild is the other process of the tests that need one. It passes at once when none asked for it.
func TestLockChild(t *testing.T) {
	work := strings.Fields(os.Getenv("LOCK_CHILD"))
	if len(work) == 0 {
		return
	}
	l := lockIn(os.Getenv("LOCK_DIR"))
	in := bufio.NewScanner(os.Stdin)
	switch work[0] {
	case "hold": // hold read|write: takes the lock, says so, and releases it when told
		take := l.Read
		if work[1] == "write" {
			take = l.Write
		}
		release, err := take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("held")
		in.Scan()
		release()
		fmt.Println("released")
		in.Scan()
	case "count": // count FILE TIMES FLAW: see count
		times, err := strconv.Atoi(work[2])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("ready")
		in.Scan()
		count(t, l, work[1], times, work[3])
		fmt.Println("counted")
	case "crowd": // crowd: two readers that come back at once, until told to stop
		fmt.Println("ready")
		in.Scan()
		crowd(t, l, func() {
			fmt.Println("crowding")
			in.Scan()
		})
	}
}

// count adds one to the number in a file, times times, each under the lock. A flaw of "delete" also removes the lock
// files as the last thing before each release, when nothing is left for the lock to guard, and comes back as a newcomer
// would, without the old file's descriptor.
func count(t *testing.T, l *Lock, file string, times int, flaw string) {
	for range times {
		release, err := l.Write(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		n, err := strconv.Atoi(string(text))
		if err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(file, []byte(strconv.Itoa(n+1)), 0o600); err != nil {
			t.Error(err)
		}
		if flaw == "delete" {
			os.Remove(l.key.path(".lock"))
			os.Remove(l.key.path(".gate"))
		}
		release()
		if flaw == "delete" {
			r := process.enter(l.key)
			r.closeIdle()
			process.leave(r)
		}
	}
}

// crowd keeps two readers at work, who come back as soon as they have left, while until runs.
func crowd(t *testing.T, l *Lock, until func()) {
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			work := make([]byte, 1<<20)
			for {
				select {
				case <-stop:
					return
				default:
				}
				release, err := l.Read(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				sha256.Sum256(work)
				release()
			}
		})
	}
	until()
	close(stop)
	group.Wait()
}
