//go:build unix

package confine

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRename(t *testing.T) {
	tree := []string{
		"root/f", "root/g", "root/d/f", "root/e/", "root/full/x", "root/l => f", "root/dangling => nowhere",
		"root/o => ../out/secret", "root/od => ../out/dir",
	}
	tests := []struct {
		name, from, to string
		want           error // nil when it works
	}{
		{"moves a file", "f", "new", nil},
		{"moves a file elsewhere", "d/f", "e/new", nil},
		{"moves a file up", "d/f", "new", nil},
		{"moves a directory", "full", "e/new", nil},
		{"moves a link, not what it names", "l", "d/new", nil},
		{"moves a link to outside", "o", "d/new", nil},
		{"moves a dangling link", "dangling", "new", nil},
		{"replaces no file", "f", "g", fs.ErrExist},
		{"replaces no file elsewhere", "f", "d/f", fs.ErrExist},
		{"replaces no empty directory by a directory", "full", "e", fs.ErrExist},
		{"replaces no directory by a file", "f", "e", fs.ErrExist},
		{"replaces no file by a directory", "full", "f", fs.ErrExist},
		{"replaces no link", "g", "l", fs.ErrExist},
		{"replaces no dangling link", "g", "dangling", fs.ErrExist},
		{"replaces no link to outside", "g", "o", fs.ErrExist},
		{"replaces no link to a directory", "full", "od", fs.ErrExist},
		{"replaces no entry by itself", "f", "f", fs.ErrExist},
		{"finds nothing to move", "nothing", "new", fs.ErrNotExist},
		{"moves no directory into itself", "full", "full/new", syscall.EINVAL},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, dir string, o opener) {
				plant(t, dir, tree...)
				r := o.root(t, dir+"/root")
				before := snapshot(t, dir+"/root")
				from, to := entryOf(t, r, tt.from), entryOf(t, r, tt.to)
				if err := from.Parent().Rename(from.Name(), to.Parent(), to.Name()); !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				after := snapshot(t, dir+"/root")
				if tt.want != nil {
					if diff := cmp.Diff(before, after); diff != "" {
						t.Errorf("it has changed something:\n%s", diff)
					}
					return
				}
				if diff := cmp.Diff(renamed(before, "/"+tt.from, "/"+tt.to), after); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		})
	}
}

// renamed is a snapshot after from was renamed.
func renamed(before map[string]string, from, to string) map[string]string {
	after := map[string]string{}
	for path, text := range before {
		if path == from || strings.HasPrefix(path, from+"/") {
			path = to + strings.TrimPrefix(path, from)
		}
		after[path] = text
	}
	return after
}

func entryOf(t *testing.T, r *Root, arg string) *Location {
	t.Helper()
	loc, err := r.ResolveEntry("path", arg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { loc.Close() })
	return loc
}

// TestRenameAfterAMove moves the directories themselves between the look-up and the act. openat2's descriptors go along
// with them; an os.Root reaches them by name, and must notice. The trap has the same names.
func TestRenameAfterAMove(t *testing.T) {
	for _, name := range []string{"f", "sub"} {
		onBoth(t, func(t *testing.T, dir string, o opener) {
			plant(t, dir, "root/d/f", "root/d/sub/x", "root/e/", "root/trap/f", "root/trap/sub/y")
			r := o.root(t, dir+"/root")
			from, to := entryOf(t, r, "d/"+name), entryOf(t, r, "e/new")
			must(t, os.Rename(dir+"/root/d", dir+"/root/moved"))
			must(t, os.Rename(dir+"/root/trap", dir+"/root/d"))
			want := snapshot(t, dir+"/root")
			err := from.Parent().Rename(from.Name(), to.Parent(), to.Name())
			if err == nil {
				want = renamed(want, "/moved/"+name, "/e/new")
			}
			if diff := cmp.Diff(want, snapshot(t, dir+"/root")); diff != "" || o.name == "openat2" && err != nil {
				t.Errorf("%s, %v (-want +got):\n%s", name, err, diff)
			}
		})
	}
}

func TestRenameBetweenRoots(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/f", "other/")
		from := entryOf(t, o.root(t, dir+"/root"), "f")
		to := entryOf(t, o.root(t, dir+"/other"), "new")
		err := from.Parent().Rename(from.Name(), to.Parent(), to.Name())
		// A descriptor is as good as another; an os.Root knows only what is below it.
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
		here, there := exists(dir+"/root/f"), exists(dir+"/other/new")
		if here == there || here != (err != nil) {
			t.Errorf("%v: in the old place %v, in the new one %v", err, here, there)
		}
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
