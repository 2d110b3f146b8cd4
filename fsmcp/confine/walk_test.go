//go:build unix

package confine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// walked is the paths that a walk visits, in its order, directories with a slash at the end.
func walked(t *testing.T, d *Dir, order Order) []string {
	t.Helper()
	var paths []string
	err := d.Walk(t.Context(), order, func(s *Step) error {
		paths = append(paths, shown(s))
		return s.Err
	})
	must(t, err)
	return paths
}

func shown(s *Step) string {
	if s.Kind == Directory {
		return s.Path() + "/"
	}
	return s.Path()
}

func TestWalkOrder(t *testing.T) {
	tests := []struct {
		name  string
		order Order
		want  string
	}{
		{"visits in the order of paths", ByPath, "A a/ a-/ a-/x a.txt a/b/ a/b/x a/c a0 b b.d/ b.d/x l"},
		{"visits files first", FilesFirst, "A a.txt a0 b l a/ a/c a/b/ a/b/x a-/ a-/x b.d/ b.d/x"},
		{"visits from inside", Inside, "A a/b/x a/b/ a/c a/ a-/x a-/ a.txt a0 b b.d/x b.d/ l"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, dir string, o opener) {
				plant(t, dir, "root/a/b/x", "root/a/c", "root/a-/x", "root/a.txt", "root/a0", "root/A", "root/b", "root/b.d/x", "root/l => a")
				got := walked(t, o.root(t, dir+"/root").dir, tt.order)
				if diff := cmp.Diff(strings.Fields(tt.want), got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		})
	}
}

// oracle is a walk by the definition of its order, for which it sorts whole paths.
func oracle(t *testing.T, dir string, order Order) []string {
	t.Helper()
	if order == ByPath {
		var paths []string
		must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if path != dir {
				paths = append(paths, path[len(dir)+1:])
			}
			return err
		}))
		slices.Sort(paths)
		for i, path := range paths {
			if info, err := os.Lstat(dir + "/" + path); err == nil && info.IsDir() {
				paths[i] += "/"
			}
		}
		return paths
	}
	return oracleBelow(t, dir, "", order)
}

func oracleBelow(t *testing.T, dir, prefix string, order Order) []string {
	t.Helper()
	list, err := os.ReadDir(dir) // In the order of names.
	must(t, err)
	var paths, later []string
	for _, e := range list {
		path := prefix + e.Name()
		if !e.IsDir() {
			paths = append(paths, path)
			continue
		}
		below := oracleBelow(t, dir+"/"+e.Name(), path+"/", order)
		if order == Inside {
			paths = append(append(paths, below...), path+"/")
		} else {
			later = append(append(later, path+"/"), below...)
		}
	}
	return append(paths, later...)
}

// TestWalkOnRandomTrees has names in which '-', '.' and a line break sort before '/', and one that is another's beginning.
func TestWalkOnRandomTrees(t *testing.T) {
	names := []string{"a", "a-", "a.b", "a b", "aa", "a\n", "b", "-", "0", "é", "a\x01"}
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 6 {
		onBoth(t, func(t *testing.T, dir string, o opener) {
			var entries []string
			for range 25 {
				path := "root"
				for range 1 + random.IntN(4) {
					path += "/" + names[random.IntN(len(names))]
				}
				entries = append(entries, path+[]string{"/", "/f", "/l => .."}[random.IntN(3)])
			}
			plant(t, dir, dedup(entries)...)
			d := o.root(t, dir+"/root").dir
			for _, order := range []Order{ByPath, FilesFirst, Inside} {
				if diff := cmp.Diff(oracle(t, dir+"/root", order), walked(t, d, order)); diff != "" {
					t.Errorf("tree %d, order %d (-want +got):\n%s", i, order, diff)
				}
			}
		})
	}
}

// dedup drops entries that are there already, since a link cannot be planted twice.
func dedup(entries []string) []string {
	slices.Sort(entries)
	return slices.Compact(entries)
}

func TestWalkSkips(t *testing.T) {
	tests := []struct {
		order Order
		want  string
	}{
		{ByPath, "a/ a-/ a.txt b/ b/x c"}, // What is skipped is still to come, behind other names.
		{FilesFirst, "a.txt c a/ a-/ b/ b/x"},
		{Inside, "a/x a/ a-/x a-/ a.txt b/x b/ c"}, // Too late for what is inside.
	}
	for _, tt := range tests {
		onBoth(t, func(t *testing.T, dir string, o opener) {
			plant(t, dir, "root/a/x", "root/a-/x", "root/a.txt", "root/b/x", "root/c")
			var got []string
			err := o.root(t, dir+"/root").dir.Walk(t.Context(), tt.order, func(s *Step) error {
				got = append(got, shown(s))
				if strings.HasPrefix(s.Name, "a") {
					return SkipDir // Of a.txt it means nothing.
				}
				return nil
			})
			must(t, err)
			if diff := cmp.Diff(strings.Fields(tt.want), got); diff != "" {
				t.Errorf("order %d (-want +got):\n%s", tt.order, diff)
			}
		})
	}
}

func TestWalkEnds(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/a/x", "root/b/x", "root/c")
		d := o.root(t, dir+"/root").dir
		mine := errors.New("mine")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		tests := []struct {
			name  string
			ctx   context.Context
			visit func(*Step) error
			want  error
		}{
			{"with the error of a visit", t.Context(), func(*Step) error { return mine }, mine},
			{"when it is cancelled", ctx, func(*Step) error { cancel(); return nil }, context.Canceled},
			{"before it begins", ctx, func(*Step) error { return nil }, context.Canceled},
		}
		for i, tt := range tests {
			visits := 0
			err := d.Walk(tt.ctx, ByPath, func(s *Step) error {
				visits++
				return tt.visit(s)
			})
			if !errors.Is(err, tt.want) || visits > 1 || visits == 0 && i < 2 {
				t.Errorf("it ends %s: got %v after %d visits, want %v", tt.name, err, visits, tt.want)
			}
		}
	})
}

// TestWalkMeetsChanges changes the tree inside a visit, when the walk has the names and not yet what is behind them.
func TestWalkMeetsChanges(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/a", "root/gone/x", "root/linked/x", "root/replaced/x", "root/z/x")
		var got []string
		err := o.root(t, dir+"/root").dir.Walk(t.Context(), ByPath, func(s *Step) error {
			text := shown(s)
			if s.Err != nil {
				text += " failed"
				// What is behind it now, be it outside, is not opened.
				if !errors.Is(s.Err, errLink) && !errors.Is(s.Err, fs.ErrNotExist) && Explain("x", s.Err).Error() != "'x' is not a directory" {
					t.Errorf("%s: got %v", s.Path(), s.Err)
				}
			}
			got = append(got, text)
			if s.Name == "a" {
				must(t, os.RemoveAll(dir+"/root/gone"))
				must(t, os.Rename(dir+"/root/linked", dir+"/linked"))
				must(t, os.Symlink("../out", dir+"/root/linked"))
				must(t, os.RemoveAll(dir+"/root/replaced"))
				plant(t, dir, "root/replaced")
			}
			return nil
		})
		must(t, err)
		want := []string{"a", "gone/", "linked/", "linked/ failed", "replaced/", "replaced/ failed", "z/", "z/x"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestWalkNamesUnreadableDirectories also shows that SkipDir, said of one, ends nothing.
func TestWalkNamesUnreadableDirectories(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/a/x", "root/shut/x", "root/z/x")
		must(t, os.Chmod(dir+"/root/shut", 0o711))
		d := o.root(t, dir+"/root").dir
		for _, answer := range []error{nil, SkipDir} {
			for order, want := range map[Order]string{
				ByPath: "a/ a/x shut/ shut/! z/ z/x",
				Inside: "a/x a/ shut/! shut/ z/x z/",
			} {
				var got []string
				var err error
				asPlainUser(t, func() {
					err = d.Walk(context.Background(), order, func(s *Step) error {
						if s.Err == nil {
							got = append(got, shown(s))
							return nil
						}
						got = append(got, shown(s)+"!")
						if !errors.Is(s.Err, fs.ErrPermission) {
							t.Errorf("got %v", s.Err)
						}
						return answer
					})
				})
				must(t, err)
				if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
					t.Errorf("order %d, %v (-want +got):\n%s", order, answer, diff)
				}
			}
		}
	})
}

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
