//go:build unix

package confine

import (
	"context"
	"errors"
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
