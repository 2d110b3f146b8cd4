package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/confine"
)

// longVariable asks for more of what is random, as long as an hour's worth, and for another seed each time.
const longVariable = "LOOKFIRST_LONG"

// abuse is how much there is of it, and where its randomness comes from.
type abuse struct {
	seed                  uint64
	sessions, connections int
}

func newAbuse(t *testing.T) abuse {
	t.Helper()
	a := abuse{seed: 1, sessions: 90, connections: 400}
	if raced {
		a.sessions, a.connections = 30, 100
	}
	if os.Getenv(longVariable) != "" {
		a = abuse{seed: rand.Uint64(), sessions: 5000, connections: 20_000}
	}
	t.Logf("seed %d", a.seed)
	return a
}

// abusiveLines are what a client says that is broken, or out of its mind: calls that work, calls that are refused, lines
// that are cut and garbled, and things that are nowhere near a message. None of them is cause to end.
func abusiveLines(t *testing.T, random *rand.Rand, n int) []string {
	t.Helper()
	odd := []string{
		hello, ready, "", "\x00", "[]", "{", "null", "\ufeff", strings.Repeat("[", 5000), strings.Repeat("x", 100_000),
		request("7", "server/discover", modernMeta), request("7", "tools/list", ""), request("7", "prompts/list", modernMeta),
		request("8", "subscriptions/listen", `"notifications":{"toolsListChanged":true},`+modernMeta),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`,
		`{"jsonrpc":"2.0","id":9,"method":"no/such"}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		toolCall(t, 5, "fs_write", map[string]any{"path": "deep/er/and/deeper", "content": strings.Repeat("0123456789\n", 20_000)}),
		toolCall(t, 6, "fs_read", map[string]any{"path": "../../../etc/passwd"}),
		toolCall(t, 6, "fs_delete", map[string]any{"path": "d", "recursive": true}),
	}
	var lines []string
	for _, c := range mixedCalls(t, random, n) {
		switch random.IntN(3) {
		case 0:
			lines = append(lines, c.line)
		case 1:
			lines = append(lines, garbled(random, c.line))
		default:
			lines = append(lines, odd[random.IntN(len(odd))])
		}
	}
	return lines
}

// garbled changes a line in a few places.
func garbled(random *rand.Rand, line string) string {
	b := []byte(line)
	for range 1 + random.IntN(4) {
		at := random.IntN(len(b) + 1)
		switch random.IntN(4) {
		case 0:
			b = b[:at]
		case 1:
			b = slices.Insert(b, at, byte(random.IntN(256)))
		case 2:
			b = slices.Insert(b, at, b[at/2:at]...)
		default:
			b = slices.Concat(b[:at/2], b[at:])
		}
	}
	return string(bytes.ReplaceAll(b, []byte("\n"), nil))
}

// descriptors counts the files that a process has open. Those of the lock do not count: a few are kept, to be used again,
// and how many depends on how many calls there were at one time.
func descriptors(t *testing.T, pid int) int {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	n := 0
	for _, name := range names(t, dir) {
		if target, err := os.Readlink(dir + name); err == nil && filepath.Base(filepath.Dir(target)) != "locks" {
			n++
		}
	}
	return n
}

// Whatever its clients do, nothing is left behind: no process, no descriptor and no temporary file. Some of them talk
// nonsense, close one end or both in the midst of it, or are gone; some of the programs are killed. All the while one
// program lives on, and serves.
func TestAbuse(t *testing.T) {
	a := newAbuse(t)
	s := newSite(t)
	converse(t, s, hello) // with which the test opens what it opens once
	ours := descriptors(t, os.Getpid())
	witness := launch(t, s.command(t))
	witness.ask(hello)
	lines := abusiveLines(t, rand.New(rand.NewPCG(a.seed, 0)), 500)
	witness.endures(lines, "first")
	before, cached := descriptors(t, witness.cmd.Process.Pid), tree(t, s.cache)

	var workers sync.WaitGroup
	next := make(chan int)
	for range 3 {
		workers.Go(func() {
			for i := range next {
				s.suffer(t, rand.New(rand.NewPCG(a.seed, uint64(i)+1)))
			}
		})
	}
	for i := range a.sessions {
		next <- i
		witness.endures(lines[i%len(lines):][:1], fmt.Sprint(i))
	}
	close(next)
	workers.Wait()

	witness.endures(lines, "last")
	if after := descriptors(t, witness.cmd.Process.Pid); after > before {
		t.Errorf("the program has %d files open, and had %d", after, before)
	}
	witness.in.Close()
	witness.rest()
	witness.exits()
	witness.out.Close()
	s.isClean(t, cached)
	if now := descriptors(t, os.Getpid()); now > ours {
		t.Errorf("the test has %d files open, and had %d", now, ours)
	}
}

// endures sends the lines, and waits for the answer to a call behind them, which comes when all calls before it are over.
func (p *process) endures(lines []string, last string) {
	p.t.Helper()
	end := toolCall(p.t, last, "fs_mkdir", map[string]any{"path": "witness"})
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(p.in, strings.Join(lines, "\n")+"\n"+end+"\n")
	}()
	for answerID(p.t, p.read()) != `"`+last+`"` {
		continue
	}
	<-sent
}

// suffer runs the program once, with a client that does not behave.
func (s *site) suffer(t *testing.T, random *rand.Rand) {
	cmd := s.command(t)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that whatever it starts can be found
	p := launch(t, cmd)
	var lines []string
	pings := 0
	for _, line := range abusiveLines(t, random, random.IntN(60)) {
		if lines = append(lines, line); random.IntN(4) == 0 {
			lines = append(lines, ping)
			pings++
		}
	}
	said := strings.Join(append([]string{hello}, lines...), "\n") + "\n"
	whole := random.IntN(2) == 0
	if !whole {
		said = said[:random.IntN(len(said))]
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = io.WriteString(p.in, said) // It does not work when the program has ended.
	}()
	if whole {
		p.hears(random.IntN(pings + 1))
	}
	killed := false
	switch random.IntN(6) {
	case 0:
		go func() {
			<-written
			p.in.Close()
		}()
		p.rest()
	case 1:
		p.out.Close()
	case 2:
		p.in.Close()
		p.out.Close()
	case 3:
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
	case 4:
		_ = p.cmd.Process.Signal(syscall.SIGINT)
	default:
		_ = p.cmd.Process.Kill()
		killed = true
	}
	err := <-p.ended
	<-written
	p.in.Close()
	p.out.Close()
	// A signal that comes before the program has begun ends it too.
	if said := p.stderr.String(); !killed && err != nil && said != "" || strings.Contains(said, "panic") {
		t.Errorf("the program ended with %v; standard error:\n%s", err, said)
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("a process is left behind: %v", err)
	}
}

// hears reads until so many pings have been answered, be it that their id is in use.
func (p *process) hears(pongs int) {
	for pongs > 0 {
		line, err := p.lines.ReadString('\n')
		if err != nil {
			p.t.Errorf("read: %v after %q", err, line)
			return
		}
		if strings.HasPrefix(line, `{"jsonrpc":"2.0","id":"ping",`) {
			pongs--
		}
	}
}

// tree lists all that is below a directory.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, strings.TrimPrefix(path, dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// isClean checks that there is nothing but what was asked for. What a killed program has left in a directory is cleared
// away by the next write there, so there is one to each.
func (s *site) isClean(t *testing.T, cached []string) {
	t.Helper()
	lines := []string{hello}
	for i, path := range tree(t, s.root) {
		if info, err := os.Stat(s.root + path); err == nil && info.IsDir() {
			lines = append(lines, toolCall(t, i, "fs_write", map[string]any{"path": strings.TrimPrefix(path+"/cleared", "/"), "content": ""}))
		}
	}
	for _, line := range converse(t, s, lines...)[1:] {
		if !worked(line) {
			t.Errorf("got %.500s", line)
		}
	}
	for _, path := range tree(t, s.root) {
		if confine.IsTemp(filepath.Base(path)) {
			t.Errorf("a temporary file is left behind: %s", path)
		}
	}
	if diff := cmp.Diff([]string{""}, tree(t, s.temp)); diff != "" {
		t.Errorf("among temporary files: want -, got +:\n%s", diff)
	}
	if diff := cmp.Diff(cached, tree(t, s.cache)); diff != "" {
		t.Errorf("in the cache: want -, got +:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"cache", "root", "temp"}, names(t, filepath.Dir(s.root))); diff != "" {
		t.Errorf("around the root: want -, got +:\n%s", diff)
	}
}
