//go:build unix

package confine

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFileClosedTwice matters because the number of a descriptor goes to whatever is opened next.
func TestFileClosedTwice(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/f", "root/g")
		r := o.root(t, dir+"/root")
		f, err := r.Open("path", "f")
		must(t, err)
		must(t, f.Close())
		g, err := r.Open("path", "g")
		if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("got %v, want it closed already", err)
		}
		if got := contentOf(t, dir, "g", g, err); got != "root/g" {
			t.Errorf("the file that was opened next: got %s", got)
		}
	})
}

func TestRemove(t *testing.T) {
	tests := []struct {
		name, arg string
		kind      Kind
		want      error
	}{
		{"removes a file", "f", Regular, nil},
		{"removes an empty directory", "e", Directory, nil},
		{"removes a link, not what it names", "l", Link, nil},
		{"removes a link to a directory", "k", Link, nil},
		{"removes a link to outside", "o", Link, nil},
		{"removes a dangling link", "dangling", Link, nil},
		{"keeps a directory that is not empty", "d", Directory, syscall.ENOTEMPTY},
		{"keeps a directory that was a file", "e", Regular, syscall.EISDIR},
		{"keeps a file that was a directory", "f", Directory, syscall.ENOTDIR},
		{"keeps a link that was a directory", "k", Directory, syscall.ENOTDIR},
		{"finds nothing", "nothing", Regular, fs.ErrNotExist},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, dir string, o opener) {
				plant(t, dir, "root/f", "root/e/", "root/d/f", "root/l => f", "root/k => e", "root/dangling => nowhere", "root/o => ../out/dir")
				loc := entryOf(t, o.root(t, dir+"/root"), tt.arg)
				want := snapshot(t, dir+"/root")
				if err := loc.Parent().Remove(loc.Name(), tt.kind); !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				if tt.want == nil {
					delete(want, "/"+tt.arg)
				}
				if diff := cmp.Diff(want, snapshot(t, dir+"/root")); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		})
	}
}

func TestMkdir(t *testing.T) {
	tests := []struct {
		name, arg string
		want      error
	}{
		{"makes a directory", "new", nil},
		{"makes one in a directory", "d/new", nil},
		{"makes one through a link to inside", "k/new", nil},
		{"finds a file", "f", fs.ErrExist},
		{"finds a directory", "d", fs.ErrExist},
		{"finds a link", "k", fs.ErrExist},
		{"makes nothing through a dangling link", "dangling", fs.ErrExist},
		{"makes nothing through a link to outside", "o", fs.ErrExist},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, dir string, o opener) {
				plant(t, dir, "root/f", "root/d/", "root/k => d", "root/dangling => nowhere", "root/o => ../out/new")
				loc := entryOf(t, o.root(t, dir+"/root"), tt.arg)
				if err := loc.Parent().Mkdir(loc.Name()); !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				if made := exists(dir + "/root/" + loc.Rel()); !made || exists(dir+"/root/nowhere") {
					t.Errorf("made: %v, something else: %v", made, exists(dir+"/root/nowhere"))
				}
			})
		})
	}
}

// TestDirTakesSingleNames holds every method against a caller's mistake, each shown to work with the name alone.
func TestDirTakesSingleNames(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/d/f", "root/d/l => f", "root/d/e/", "root/d/f2")
		loc := entryOf(t, o.root(t, dir+"/root"), "d/f")
		d := loc.Parent()
		closing := func(c io.Closer, err error) error {
			if err == nil {
				c.Close()
			}
			return err
		}
		acts := []struct {
			what, name string
			act        func(name string) error
		}{
			{"Stat", "f", func(name string) error { _, err := d.Stat(name); return err }},
			{"ReadLink", "l", func(name string) error { _, err := d.ReadLink(name); return err }},
			{"OpenDir", "e", func(name string) error { c, err := d.OpenDir(name); return closing(c, err) }},
			{"OpenDirSameMount", "e", func(name string) error { c, err := d.OpenDirSameMount(name); return closing(c, err) }},
			{"OpenFile", "f", func(name string) error { c, err := d.OpenFile(name); return closing(c, err) }},
			{"OpenSeen", "f", func(name string) error { c, err := d.OpenSeen(name); return closing(c, err) }},
			{"Mkdir", "new", func(name string) error { return d.Mkdir(name) }},
			{"Rename from", "f", func(name string) error { return d.Rename(name, d, "f3") }},
			{"Rename to", "f4", func(name string) error { return d.Rename("f2", d, name) }},
			{"Remove", "e", func(name string) error { return d.Remove(name, Directory) }},
		}
		bad := []string{"", "..", "../out/secret", "../../out/dir", "/", dir + "/out/secret", "e/../f", "./f", "f\x00"}
		for _, a := range acts {
			for _, name := range bad {
				if err := a.act(name); !errors.Is(err, ErrName) {
					t.Errorf("%s takes %q: %v", a.what, name, err)
				}
			}
			if err := a.act(a.name); err != nil {
				t.Errorf("%s refuses %q: %v", a.what, a.name, err)
			}
		}
	})
}

func sortedNames(list []Entry) []string {
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name
	}
	slices.Sort(names)
	return names
}
