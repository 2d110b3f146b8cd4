package confine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// raceBudget is how long each kind of handle is attacked: LOOKFIRST_RACE=10s makes it longer.
func raceBudget(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("LOOKFIRST_RACE")
	if text == "" {
		return 400 * time.Millisecond
	}
	budget, err := time.ParseDuration(text)
	must(t, err)
	return budget
}

const (
	// raceSuccesses is how often each act must have worked before the attack ends: one that never works proves nothing.
	raceSuccesses = 20
	// raceLimit ends an attack in which some act does not get that far.
	raceLimit = time.Minute
)

// raceTree has, for each name that an act uses, one of the same names outside, behind a link that is exchanged for it.
func raceTree(t *testing.T, dir string) {
	t.Helper()
	plant(
		t, dir, "root/d/f", "root/d/a", "root/d/s/f", "root/x", "root/e/", "root/l => ../far/d", "root/y => ../far/x",
		"far/d/f", "far/d/a", "far/d/s/f", "far/d/only-outside/f", "far/x",
	)
}

// racePairs are the names that are exchanged.
func racePairs() [][2]string { return [][2]string{{"d", "l"}, {"x", "y"}} }

// swap exchanges two names in one step, as an attacker inside the root can, until ctx ends.
func swap(ctx context.Context, count *atomic.Int64, a, b string) error {
	for ctx.Err() == nil {
		if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
			return fmt.Errorf("exchange %s and %s: %w", a, b, err)
		}
		count.Add(1)
	}
	return nil
}

// act is one thing done under attack. It says whether it worked; an error is a leak.
type act struct {
	name   string
	do     func(r *Root, n int) (worked bool, leak error)
	worked atomic.Int64
	tried  atomic.Int64
}

func raceActs() []*act {
	return []*act{
		{name: "open below", do: openUnder("d/f")},
		{name: "open further below", do: openUnder("d/s/f")},
		{name: "open the file", do: openUnder("x")},
		{name: "resolve, open", do: resolveUnder("d/f")},
		{name: "resolve the file, open", do: resolveUnder("x")},
		{name: "list", do: listUnder},
		{name: "walk", do: walkUnder},
		{name: "mkdir, remove", do: mkdirUnder},
		{name: "rename, there and back", do: renameUnder},
	}
}

// readsInside reads a file, whose content says where it is.
func readsInside(f *File, err error) (bool, error) {
	if err != nil {
		return false, nil
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err == nil && !strings.HasPrefix(string(b), "root/") {
		return false, fmt.Errorf("read %q", b)
	}
	return err == nil, nil
}

func openUnder(arg string) func(*Root, int) (bool, error) {
	return func(r *Root, _ int) (bool, error) { return readsInside(r.Open("path", arg)) }
}

func resolveUnder(arg string) func(*Root, int) (bool, error) {
	return func(r *Root, _ int) (bool, error) {
		loc, err := r.Resolve("path", arg)
		if err != nil {
			return false, nil
		}
		defer loc.Close()
		return readsInside(loc.Open())
	}
}

var errSeenOutside = errors.New("a name that is only outside was seen")

func listUnder(r *Root, _ int) (bool, error) {
	loc, err := r.Resolve("path", "d")
	if err != nil {
		return false, nil
	}
	defer loc.Close()
	d, err := loc.OpenDir()
	if err != nil {
		return false, nil
	}
	defer d.Close()
	list, err := d.Entries()
	for _, e := range list {
		if e.Name == "only-outside" {
			return false, errSeenOutside
		}
	}
	return err == nil, nil
}

// walkUnder works when it has got into the directory that is being swapped.
func walkUnder(r *Root, _ int) (worked bool, leak error) {
	top, err := r.current()
	if err != nil {
		return false, nil
	}
	defer top.Close()
	top.Walk(context.Background(), ByPath, func(s *Step) error {
		if s.Name == "only-outside" {
			leak = errSeenOutside
		}
		if s.Kind == Regular && leak == nil {
			var read bool
			read, leak = readsInside(s.Dir.OpenSeen(s.Name))
			worked = worked || read && s.Name == "f"
		}
		return leak
	})
	return worked, leak
}

func mkdirUnder(r *Root, n int) (bool, error) {
	loc, err := r.Resolve("path", fmt.Sprintf("d/made-%d", n))
	if err != nil {
		return false, nil
	}
	defer loc.Close()
	if loc.Missing() != 1 || loc.Parent().Mkdir(loc.Name()) != nil {
		return false, nil
	}
	return loc.Parent().Remove(loc.Name(), Directory) == nil, nil
}

func renameUnder(r *Root, n int) (bool, error) {
	from, err := r.ResolveEntry("from", "d/a")
	if err != nil {
		return false, nil
	}
	defer from.Close()
	to, err := r.ResolveEntry("to", fmt.Sprintf("e/moved-%d", n))
	if err != nil {
		return false, nil
	}
	defer to.Close()
	if from.Parent().Rename(from.Name(), to.Parent(), to.Name()) != nil {
		return false, nil
	}
	// An os.Root goes by the path of the directory: while a link is in its place, there is no way back.
	for to.Parent().Rename(to.Name(), from.Parent(), from.Name()) != nil {
		if _, err := to.Parent().Stat(to.Name()); err != nil {
			return false, fmt.Errorf("the file that was moved: %w", err)
		}
	}
	return true, nil
}

// attack does each act over and over in two goroutines, while others exchange pairs of names in dir. It ends
// with the first leak, or when the budget is spent and every act has worked.
func attack(t *testing.T, dir string, r *Root, acts []*act, pairs ...[2]string) (swaps int64, leak error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), raceLimit)
	defer cancel()
	var count atomic.Int64
	var swappers, workers sync.WaitGroup
	swapping, stop := context.WithCancel(context.WithoutCancel(ctx))
	for _, pair := range pairs {
		swappers.Go(func() {
			if err := swap(swapping, &count, dir+"/"+pair[0], dir+"/"+pair[1]); err != nil {
				t.Error(err)
				cancel()
			}
		})
	}
	leaks := make(chan error, 2)
	end := time.Now().Add(raceBudget(t))
	for half := range 2 {
		workers.Go(func() {
			for n := 0; ctx.Err() == nil && (time.Now().Before(end) || !allWorked(acts)); n++ {
				for i, a := range acts {
					if i%2 != half {
						continue
					}
					a.tried.Add(1)
					worked, leak := a.do(r, n)
					if leak != nil {
						leaks <- fmt.Errorf("%s: %w", a.name, leak)
						cancel()
						return
					}
					if worked {
						a.worked.Add(1)
					}
				}
			}
		})
	}
	workers.Wait()
	stop()
	swappers.Wait()
	close(leaks)
	return count.Load(), <-leaks
}

func allWorked(acts []*act) bool {
	for _, a := range acts {
		if a.worked.Load() < raceSuccesses {
			return false
		}
	}
	return true
}

// TestRace exchanges a directory and a file for links to outside, some ten thousand times a second, under every act.
func TestRace(t *testing.T) {
	inMemory(t)
	onBoth(t, func(t *testing.T, dir string, o opener) {
		raceTree(t, dir)
		before := snapshot(t, dir+"/far")
		acts := raceActs()
		swaps, leak := attack(t, dir+"/root", o.root(t, dir+"/root"), acts, racePairs()...)
		if leak != nil {
			t.Errorf("it leaks: %v", leak)
		}
		if diff := cmp.Diff(before, snapshot(t, dir+"/far")); diff != "" {
			t.Errorf("what is outside has changed:\n%s", diff)
		}
		for _, a := range acts {
			t.Logf("%-24s worked %d of %d times", a.name, a.worked.Load(), a.tried.Load())
			if a.worked.Load() < raceSuccesses {
				t.Errorf("%s worked %d of %d times: that proves nothing", a.name, a.worked.Load(), a.tried.Load())
			}
		}
		t.Logf("%d swaps", swaps)
		// Nothing has got lost inside either, wherever the directory is now.
		if n := len(snapshot(t, dir+"/root")); n != 10 {
			t.Errorf("got %d entries inside, want 10", n)
		}
	})
}

// isNot fails when what was opened is what a link leads to.
func isNot(linked ID, stat func(name string) (Info, error)) (bool, error) {
	info, err := stat(".")
	if err == nil && info.ID == linked {
		return false, errors.New("a link was followed")
	}
	return err == nil, nil
}

// TestRaceFollowsNoLinkInside exchanges names for links that stay inside. An os.Root would follow those, but then a name
// that was judged is not the one that is opened: a handle says errLink.
func TestRaceFollowsNoLinkInside(t *testing.T) {
	inMemory(t)
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/d/", "root/f", "root/other/", "root/g", "root/d-link => other", "root/f-link => g")
		h := o.root(t, dir+"/root").dir.h
		other, err := h.stat("other")
		must(t, err)
		g, err := h.stat("g")
		must(t, err)
		acts := []*act{
			{name: "open a directory", do: func(*Root, int) (bool, error) {
				d, err := h.openDir("d", anyMount)
				if err != nil {
					return false, nil
				}
				defer d.close()
				return isNot(other.ID, d.stat)
			}},
			{name: "open a file", do: func(*Root, int) (bool, error) {
				f, err := h.openFile("f")
				if err != nil {
					return false, nil
				}
				defer f.Close()
				return isNot(g.ID, func(string) (Info, error) { return f.stat() })
			}},
		}
		swaps, leak := attack(t, dir+"/root", nil, acts, [2]string{"d", "d-link"}, [2]string{"f", "f-link"})
		if leak != nil {
			t.Errorf("after %d swaps: %v", swaps, leak)
		}
		if !allWorked(acts) {
			t.Error("some act has not worked often enough: that proves nothing")
		}
	})
}

// TestRaceFindsALeak attacks what this package is there to avoid: the path is checked, and then opened by its text.
func TestRaceFindsALeak(t *testing.T) {
	inMemory(t)
	dir := physicalTemp(t)
	raceTree(t, dir)
	checked := func(arg string) func(*Root, int) (bool, error) {
		return func(r *Root, _ int) (bool, error) {
			path := r.Path() + "/" + arg
			physical, err := PhysicalPath(path, 0)
			if err != nil || !r.holds(physical) {
				return false, nil
			}
			b, err := os.ReadFile(path)
			if err == nil && strings.HasPrefix(string(b), "far/") {
				return false, fmt.Errorf("read %q", b)
			}
			return false, nil // So that the attack goes on until there is a leak.
		}
	}
	acts := []*act{{name: "check, open below", do: checked("d/f")}, {name: "check, open the file", do: checked("x")}}
	swaps, leak := attack(t, dir+"/root", openers(t)[0].root(t, dir+"/root"), acts, racePairs()...)
	if leak == nil {
		t.Fatalf("no leak in %d swaps: this attack would find none in the real thing either", swaps)
	}
	t.Logf("%v, after %d and %d tries and %d swaps", leak, acts[0].tried.Load(), acts[1].tried.Load(), swaps)
}
