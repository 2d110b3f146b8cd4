//go:build unix

package confine

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

func TestRootGivenThroughALink(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/f", "root/l => ROOT/alias/f", "alias => root", "above => ROOT", "root/k => ../above/root/f")
		for _, given := range []string{"/alias", "/alias/", "/above/alias", "/root/../root"} {
			r := o.root(t, dir+given)
			if r.Path() != dir+"/root" {
				t.Errorf("%s: got %s", given, r.Path())
			}
			for arg, want := range map[string]string{"f": "root/f", "l": "root/f (linked)", "k": "root/f (linked)"} {
				if got := opened(t, r, dir, arg); got != want {
					t.Errorf("%s: %s: got %s, want %s", given, arg, got, want)
				}
			}
		}
	})
}

func TestRootThatIsNone(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "f", "cycle => cycle", "dangling => nowhere")
		for _, path := range []string{"f", "f/", "cycle", "dangling", "nowhere"} {
			if r, err := openRootWith(dir+"/"+path, o.open); err == nil {
				r.Close()
				t.Errorf("%s is a root", path)
			}
		}
	})
}

func TestRootReplacedOrGone(t *testing.T) {
	gone := "the root directory has gone"
	tests := []struct {
		name     string
		act      []string // "from => to" of renames in the directory that holds the root
		plant    []string
		want     string // of f
		wantThen string // when it is back
	}{
		{name: "opens the root that has taken its place", act: []string{"root => old"}, plant: []string{"root/f"}, want: "root/f", wantThen: "in/root/f"},
		{name: "says that it has gone", act: []string{"root => old"}, want: gone, wantThen: "in/root/f"},
		{name: "follows no link in its place", act: []string{"root => old"}, plant: []string{"root => ../out"}, want: gone, wantThen: "in/root/f"},
		{name: "follows no link to itself", act: []string{"root => old"}, plant: []string{"root => old"}, want: gone, wantThen: "in/root/f"},
		{name: "takes no file", act: []string{"root => old"}, plant: []string{"root"}, want: gone, wantThen: "in/root/f"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, dir string, o opener) {
				in := dir + "/in"
				plant(t, dir, "in/root/f", "in/root/l => f")
				r := o.root(t, in+"/root")
				id := r.ID()
				for _, act := range tt.act {
					from, to, _ := strings.Cut(act, " => ")
					must(t, os.Rename(in+"/"+from, in+"/"+to))
				}
				plant(t, in, tt.plant...)
				for range 2 {
					if got := opened(t, r, dir, "f"); got != tt.want {
						t.Errorf("replaced: got %s, want %s", got, tt.want)
					}
				}
				loc, err := r.Resolve("path", "f")
				if got := located(t, dir, "f", loc, err); tt.want == gone && got != gone {
					t.Errorf("resolved: got %s, want %s", got, gone)
				}
				must(t, os.RemoveAll(in+"/root"))
				must(t, os.Rename(in+"/old", in+"/root"))
				if got := opened(t, r, dir, "f"); got != tt.wantThen || r.ID() != id {
					t.Errorf("back: got %s, want %s", got, tt.wantThen)
				}
			})
		})
	}
}

// TestRootBehindASwappedParent puts a link to outside above the root: what is there has a directory of the root's name.
func TestRootBehindASwappedParent(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "in/dir/f", "in/dir/l => f")
		r := o.root(t, dir+"/in/dir")
		must(t, os.Rename(dir+"/in", dir+"/old"))
		must(t, os.Symlink("out", dir+"/in")) // out/dir/secret is there.
		for _, arg := range []string{"f", "secret", "l"} {
			if got, want := opened(t, r, dir, arg), "the root directory has gone"; got != want {
				t.Errorf("%s: got %s, want %s", arg, got, want)
			}
		}
		must(t, os.Remove(dir+"/in"))
		must(t, os.Symlink("old", dir+"/in")) // The root itself, as it was opened.
		if got := opened(t, r, dir, "f"); got != "in/dir/f" {
			t.Errorf("through a link to the same directory: got %s", got)
		}
	})
}

func TestRootClosed(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/f")
		r := o.root(t, dir+"/root")
		loc, err := r.Resolve("path", "f")
		if err != nil {
			t.Fatal(err)
		}
		defer loc.Close()
		must(t, r.Close())
		must(t, r.Close())
		if _, err := r.Open("path", "f"); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("got %v, want it closed", err)
		}
		f, err := loc.Open()
		if got := contentOf(t, dir, "f", f, err); got != "root/f" {
			t.Errorf("a location from before: got %s", got)
		}
	})
}
