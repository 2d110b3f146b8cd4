package revision

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func handles(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(open)
}

func TestManyAtOnceAgreeAndGiveBackWhatTheyOpened(t *testing.T) {
	var tree []string
	for i := range 120 {
		tree = append(tree, fmt.Sprintf("%d/%d/f", i%20, i), fmt.Sprintf("%d/%d/l => f", i%20, i))
	}
	root, dir := planted(t, tree...)
	want := slowToken(t, dir)
	h := NewHasher(Options{Now: later().now, Memo: 50})
	before := handles(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for turn := range 6 {
				loc, err := root.Resolve("path", ".")
				if err != nil {
					t.Error(err)
					return
				}
				defer loc.Close()
				ctx, cancel := context.WithCancel(t.Context())
				if i%4 == 3 {
					cancel() // Some give up at once.
				}
				var got Revision
				if i%2 == 0 {
					got, err = h.Fresh(ctx, loc)
				} else {
					got = h.Observe(ctx, loc)
				}
				if ctx.Err() == nil && (err != nil || got != want) {
					t.Errorf("goroutine %d, turn %d: got %v and %v, want %v", i, turn, got, err, want)
				}
				cancel()
				h.Forget(loc.Info.ID)
			}
		})
	}
	wg.Wait()
	if after := handles(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// mostHandles is the walk's bound, the directories of the batches in flight, and some of the test's own.
const mostHandles = 64 + (batchesAhead+hashers+1)*batchDirs + 16

func TestOneTraversalHoldsABoundedNumberOfDescriptors(t *testing.T) {
	var tree []string
	for i := range 300 {
		tree = append(tree, fmt.Sprintf("%03d/f", i))
	}
	root, _ := planted(t, tree...)
	before, most := handles(t), 0
	c := later()
	c.onNow = func() { most = max(most, handles(t)) }
	mustFresh(t, NewHasher(Options{Now: c.now}), located(t, root, "."))
	if most-before > mostHandles {
		t.Errorf("%d descriptors at once, want at most %d", most-before, mostHandles)
	}
}

// The kernel reports every file below the watched directory that is opened.
func TestOutsideOfTheRootIsNeverOpened(t *testing.T) {
	root, dir := planted(t, "out/f = secret", "root/f", "root/l => ../out/f", "root/d => ../out", "root/through => d/f")
	outside := filepath.Join(filepath.Dir(dir), "out")
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	must(t, err)
	defer unix.Close(fd)
	if _, err := unix.InotifyAddWatch(fd, outside, unix.IN_OPEN|unix.IN_ACCESS); err != nil {
		t.Fatal(err)
	}
	h := NewHasher(Options{})
	for _, arg := range []string{".", "l", "d", "through"} {
		mustFresh(t, h, entry(t, root, arg))
		mustObserve(t, h, entry(t, root, arg))
	}
	buf := make([]byte, 4096)
	if n, err := unix.Read(fd, buf); err != unix.EAGAIN {
		t.Errorf("%d bytes of events and %v: something outside was opened", n, err)
	}
	_, err = os.ReadFile(filepath.Join(outside, "f"))
	must(t, err)
	if n, err := unix.Read(fd, buf); n <= 0 {
		t.Errorf("opening it shows no event (%v), so this proves nothing", err)
	}
}

// Files of /proc say that they are empty. What a file does not tell its size of cannot be told unchanged by it.
func TestFileThatDoesNotTellItsSizeIsHashedAndNotRemembered(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/kernel/ostype")
	if err != nil {
		t.Skipf("needs /proc/sys: %v", err)
	}
	copied, _ := planted(t, "f = "+string(text))
	want := mustFresh(t, NewHasher(Options{}), located(t, copied, "f"))
	h := NewHasher(Options{Now: later().now})
	loc := located(t, rooted(t, "/proc/sys/kernel"), "ostype")
	reader := h.NewReader(t.Context(), opened(t, rooted(t, "/proc/sys/kernel"), "ostype"))
	for _, got := range []Revision{mustObserve(t, h, loc), mustFresh(t, h, loc), reader.Revision()} {
		if got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if n := len(h.memo.entries); n != 0 {
		t.Errorf("%d digests remembered", n)
	}
}
