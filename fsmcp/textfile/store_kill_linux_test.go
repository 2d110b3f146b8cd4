package textfile_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/textfile"
)

const (
	// killsVariable says how many writers to kill. An ordinary run takes some seconds for it, a release 300 kills or more.
	killsVariable = "STORE_TEST_KILLS"
	defaultKills  = 100
	killedFiles   = 4
	maxKilledSize = 1 << 20
)

// version is the content of a file at some time: it tells its own number and length, so that half of one, or a mixture of
// two, is none.
func version(n uint64) []byte {
	r := rand.New(rand.NewPCG(n, 0))
	size := 32 + r.IntN(maxKilledSize)
	b := fmt.Appendf(make([]byte, 0, size), "%d\n", n)
	unit := fmt.Appendf(nil, "%020d\n", r.Uint64())
	b = append(b, bytes.Repeat(unit, size/len(unit)+1)...)
	return b[:size]
}

// isVersion says whether b is one.
func isVersion(b []byte) bool {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	n, err := strconv.ParseUint(string(line), 10, 64)
	return err == nil && bytes.Equal(b, version(n))
}

// TestStoreKilled kills programs in the midst of storing files, which not even a handler of signals survives.
func TestStoreKilled(t *testing.T) {
	if dir := os.Getenv(childDir); dir != "" {
		storeUntilKilled(t, dir)
	}
	kills := defaultKills
	if n, err := strconv.Atoi(os.Getenv(killsVariable)); err == nil {
		kills = n
	}
	dir := t.TempDir()
	want := make([]string, killedFiles)
	for i := range want {
		want[i] = fmt.Sprintf("f%d", i)
		put(t, dir+"/"+want[i], string(version(uint64(i))))
	}
	root := openRoot(t, dir)
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	left := 0
	for range kills {
		killOne(t, dir, time.Duration(r.IntN(int(12*time.Millisecond))))
		for _, name := range want {
			if b := mustRead(t, dir+"/"+name); !isVersion(b) {
				t.Fatalf("%s is torn: %d bytes that begin with %.30q", name, len(b), b)
			}
		}
		if diff := cmp.Diff(want, namesIn(t, root)); diff != "" {
			t.Fatalf("listed (-want +got):\n%s", diff)
		}
		left = max(left, len(tree(t, dir))-killedFiles)
	}
	t.Logf("%d kills left at most %d temporary files at a time", kills, left)
	if _, err := root.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(tree(t, dir)); got != killedFiles {
		t.Errorf("%d files after the sweep, want %d", got, killedFiles)
	}
}

// killOne lets a writer work for the time that is given, from its first file on.
func killOne(t *testing.T, dir string, after time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStoreKilled$")
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	started, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	if _, err := io.ReadFull(started, make([]byte, 1)); err != nil {
		t.Fatal("the writer has not begun:", err)
	}
	// This waits for nothing: any moment is as good as another.
	time.Sleep(after)
	must(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		t.Fatal("the writer ended by itself")
	}
}

// storeUntilKilled never returns.
func storeUntilKilled(t *testing.T, dir string) {
	root := openRoot(t, dir)
	for n := 0; ; n++ {
		path := fmt.Sprintf("f%d", n%killedFiles)
		opt := textfile.StoreOptions{Sync: n%3 == 0}
		if _, err := store(t.Context(), root, path, version(rand.Uint64()), opt); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			os.Stdout.WriteString(".")
		}
	}
}

func namesIn(t *testing.T, root *confine.Root) []string {
	t.Helper()
	loc, err := root.Resolve("path", ".")
	must(t, err)
	defer loc.Close()
	var names []string
	must(t, loc.Parent().Walk(t.Context(), confine.ByPath, func(s *confine.Step) error {
		names = append(names, s.Path())
		return nil
	}))
	return names
}
