//go:build unix

package confine

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestStepDirOutlivesTheVisit keeps directories, as whoever hands work to others does.
func TestStepDirOutlivesTheVisit(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		var entries []string
		for i := range 2 * maxOpenDirs {
			entries = append(entries, "root/"+strings.Repeat("d/", i)+"f")
		}
		plant(t, dir, entries...)
		kept := map[string]*Dir{}
		must(t, o.root(t, dir+"/root").dir.Walk(t.Context(), ByPath, func(s *Step) error {
			if s.Kind == Regular {
				kept[s.Path()] = s.Dir.Retain()
			}
			return s.Err
		}))
		if len(kept) != len(entries) {
			t.Errorf("got %d files, want %d", len(kept), len(entries))
		}
		for path, d := range kept {
			f, err := d.OpenSeen("f")
			if got := contentOf(t, dir, path, f, err); got != "root/"+path {
				t.Errorf("%s: got %s", path, got)
			}
			d.Close()
		}
	})
}

// deepen makes a chain of directories "d" below dir, by handles, for no path string would be that long. At every step
// levels there are also an "a" before the next and a "z" behind it.
func deepen(t *testing.T, dir string, levels, step int) {
	t.Helper()
	r, err := os.OpenRoot(dir)
	must(t, err)
	for i := range levels {
		if i%step == 0 {
			must(t, r.WriteFile("a", []byte("inside"), 0o666))
			must(t, r.WriteFile("z", []byte("inside"), 0o666))
		}
		must(t, r.Mkdir("d", 0o777))
		next, err := r.OpenRoot("d")
		must(t, err)
		must(t, r.Close())
		r = next
	}
	must(t, r.WriteFile("bottom", []byte("inside"), 0o666))
	must(t, r.Close())
}

// inMemory lets temporary directories be made where that is quick, for tests with thousands of entries.
func inMemory(t *testing.T) {
	t.Helper()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		t.Setenv("TMPDIR", "/dev/shm")
	}
}

// TestWalkDeepTree walks 3,000 levels, a path of 6,000 bytes: Linux takes 4,095. An os.Root takes a descriptor a level.
func TestWalkDeepTree(t *testing.T) {
	inMemory(t)
	onBoth(t, func(t *testing.T, dir string, o opener) {
		levels, step := 3000, 10
		if o.name == "os.Root" {
			levels = 200
		}
		deepen(t, dir+"/root", levels, step)
		d := o.root(t, dir+"/root").dir
		before, most := openDescriptors(t), 0
		visits, deepest := 0, 0
		must(t, d.Walk(t.Context(), ByPath, func(s *Step) error {
			visits++
			deepest = max(deepest, len(s.Prefix))
			if visits%100 == 0 || s.Name == "bottom" {
				most = max(most, openDescriptors(t)-before)
			}
			if s.Name == "z" {
				// On the way back, through directories that had been closed.
				f, err := s.Dir.OpenSeen("z")
				if got := contentOf(t, dir, "z", f, err); got != "inside" {
					return fmt.Errorf("read %s: %s", s.Path(), got)
				}
			}
			return s.Err
		}))
		if want := levels + 2*levels/step + 1; visits != want || deepest != 2*levels {
			t.Errorf("got %d visits and a prefix of %d bytes, want %d and %d", visits, deepest, want, 2*levels)
		}
		if o.name == "openat2" && (most > maxOpenDirs+1 || most < maxOpenDirs/2) {
			t.Errorf("got %d descriptors at once, want about %d", most, maxOpenDirs)
		}
		if after := openDescriptors(t); after != before {
			t.Errorf("got %d descriptors more than before", after-before)
		}
	})
}

func TestWalkTooDeep(t *testing.T) {
	inMemory(t)
	onBoth(t, func(t *testing.T, dir string, o opener) {
		if o.name != "openat2" {
			return // It would take a descriptor for each of the 10,000 levels.
		}
		deepen(t, dir+"/root", maxDepth, maxDepth)
		d := o.root(t, dir+"/root").dir
		deepest := 0
		err := d.Walk(t.Context(), FilesFirst, func(s *Step) error {
			deepest = max(deepest, len(s.Prefix)/2)
			return s.Err
		})
		if !errors.Is(err, ErrTooDeep) || deepest != maxDepth-1 {
			t.Errorf("got %v after %d levels, want %v after %d", err, deepest, ErrTooDeep, maxDepth-1)
		}
		if got, want := Explain("d", err).Error(), "'d': nested too deeply"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestWalkMovedOutside moves a directory out of the root while the walk is deep below it, and the directories above have
// been closed. From below, the way up now leads outside, where there are files of the same names.
func TestWalkMovedOutside(t *testing.T) {
	const levels, movedLevel = 100, 10
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "out2/d2", "out2/z")
		deepen(t, dir+"/root", levels, 1)
		var after []string
		bottom := false
		err := o.root(t, dir+"/root").dir.Walk(t.Context(), ByPath, func(s *Step) error {
			if s.Name == "bottom" {
				bottom = true
				must(t, os.Rename(dir+"/root"+strings.Repeat("/d", movedLevel), dir+"/out2/d"))
			}
			if s.Name == "z" && bottom {
				f, err := s.Dir.OpenFile("z")
				if got := contentOf(t, dir, "z", f, err); got != "inside" {
					t.Errorf("%s holds %q, which is outside", s.Path(), got)
				}
				after = append(after, s.Path())
			}
			return s.Err
		})
		_, closes := o.root(t, dir+"/root").dir.h.(upward)
		switch {
		case closes && (!errors.Is(err, errMoved) || len(after) != levels-movedLevel):
			t.Errorf("got %v after %d directories, want %v after %d", err, len(after), errMoved, levels-movedLevel)
		case !closes && (err != nil || len(after) != levels):
			// With every directory held open there is no way to lose.
			t.Errorf("got %v after %d directories, want %d", err, len(after), levels)
		case closes:
			if got, want := Explain("x", err).Error(), "'x': moved during the walk"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}
