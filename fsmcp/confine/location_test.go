//go:build unix

package confine

import (
	"io"
	"os"
	"strings"
	"testing"
)

// TestLocationOpens holds what is opened by a location to what is opened by its argument.
func TestLocationOpens(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/d/f", "root/l => d/f", "root/k => d", "root/o => ../out")
		r := o.root(t, dir+"/root")
		tests := []struct {
			arg, open, list string
			resolve         func(key, arg string) (*Location, error)
		}{
			{"d/f", "root/d/f", "'d/f' is not a directory", r.Resolve},
			{"l", "root/d/f (linked)", "'l' is not a directory", r.Resolve},
			{"d", "'d' is a directory", "f", r.Resolve},
			{"k", "'k' is a directory", "f", r.Resolve},
			{".", "'.' is a directory", "d k l o", r.Resolve},
			{"d/new", "'d/new' does not exist", "'d/new' does not exist", r.Resolve},
			{"new/new", "'new/new' does not exist", "'new/new' does not exist", r.Resolve},
			{"l", "'l' is not a regular file (symbolic link)", "'l' is not a directory", r.ResolveEntry},
			{"o", "'o' is not a regular file (symbolic link)", "'o' is not a directory", r.ResolveEntry},
		}
		for _, tt := range tests {
			loc, err := tt.resolve("path", tt.arg)
			if err != nil {
				t.Fatal(err)
			}
			defer loc.Close()
			f, err := loc.Open()
			if got := contentOf(t, dir, tt.arg, f, err); got != tt.open {
				t.Errorf("open %s: got %s, want %s", tt.arg, got, tt.open)
			}
			d, err := loc.OpenDir()
			if got := namesOf(t, dir, tt.arg, d, err); got != tt.list {
				t.Errorf("list %s: got %s, want %s", tt.arg, got, tt.list)
			}
		}
	})
}

func contentOf(t *testing.T, dir, arg string, f *File, err error) string {
	t.Helper()
	if err != nil {
		return refusal(t, dir, arg, err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if f.Linked {
		return string(b) + " (linked)"
	}
	return string(b)
}

func namesOf(t *testing.T, dir, arg string, d *Dir, err error) string {
	t.Helper()
	if err != nil {
		return refusal(t, dir, arg, err)
	}
	defer d.Close()
	list, err := d.Entries()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(sortedNames(list), " ")
}

// TestLocationSwapped puts a link to outside in the place of what was found.
func TestLocationSwapped(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/f", "root/d/f", "root/e/f")
		r := o.root(t, dir+"/root")
		var at [3]*Location
		for i, arg := range []string{"f", "d", "e/f"} {
			loc, err := r.Resolve("path", arg)
			if err != nil {
				t.Fatal(err)
			}
			defer loc.Close()
			at[i] = loc
		}
		for name, target := range map[string]string{"f": "secret", "d": "dir", "e": "dir"} {
			must(t, os.Rename(dir+"/root/"+name, dir+"/root/old-"+name))
			must(t, os.Symlink("../out/"+target, dir+"/root/"+name))
		}
		want := "'f' was changed while it was being looked up; try again"
		f, err := at[0].Open()
		if got := contentOf(t, dir, "f", f, err); got != want {
			t.Errorf("a file: got %s, want %s", got, want)
		}
		want = "'d' was changed while it was being looked up; try again"
		d, err := at[1].OpenDir()
		if got := namesOf(t, dir, "d", d, err); got != want {
			t.Errorf("a directory: got %s, want %s", got, want)
		}
		// The directory that was opened is still the one that is meant, whatever its name leads to now.
		f, err = at[2].Open()
		if got := contentOf(t, dir, "e/f", f, err); got != "root/e/f" {
			t.Errorf("a file in a directory: got %s", got)
		}
		if got, want := opened(t, r, dir, "e/secret"), "'e/secret' leads outside the root"; got != want {
			t.Errorf("looked up again: got %s, want %s", got, want)
		}
	})
}

// TestNamesThatNoArgumentHas covers names that cannot arrive in JSON, but can be on the disk.
func TestNamesThatNoArgumentHas(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		name := "bad\xff\xfename"
		if err := os.WriteFile(dir+"/root/"+name, []byte("bytes"), 0o666); err != nil {
			t.Skipf("this file system takes no name that is not UTF-8: %v", err)
		}
		must(t, os.Symlink(name, dir+"/root/l"))
		must(t, os.Symlink("../out/\xff", dir+"/root/o"))
		r := o.root(t, dir+"/root")
		d, err := r.dir.Retain(), error(nil)
		if got := namesOf(t, dir, ".", d, err); got != name+" l o" {
			t.Errorf("list: got %q", got)
		}
		if got := opened(t, r, dir, name); got != "bytes" {
			t.Errorf("open: got %q", got)
		}
		if got := opened(t, r, dir, "l"); got != "bytes (linked)" {
			t.Errorf("open by a link: got %q", got)
		}
		if got, want := opened(t, r, dir, "missing\xff\n"), `'missing\xff\n' does not exist`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := opened(t, r, dir, "o"), "'o' leads outside the root"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
