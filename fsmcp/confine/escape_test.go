//go:build unix

package confine

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// world is a small tree with links in and around a root, and what is really inside: by identity, since names lie.
type world struct {
	dir    string
	inside map[ID]bool
	roots  []*Root // one for each kind of handle
}

// linkSpots are where a world has its links: the n-th target is that of the n-th.
func linkSpots() []string { return []string{"root/l", "root/d/l", "root/e/l", "root/m", "out/l", "l"} }

// newWorld plants the tree. A target that begins with "ROOT" is absolute, below the world's directory; what no link can
// have as its target is left out.
func newWorld(t *testing.T, targets []string) *world {
	t.Helper()
	w := &world{dir: physicalTemp(t), inside: map[ID]bool{}}
	plant(t, w.dir, "root/f", "root/d/f", "root/d/d/f", "root/e/", "out/secret", "out/d/f", "out/f", "root2/f", "f")
	for i, spot := range linkSpots() {
		if i < len(targets) {
			// An error is a target that the system refuses: empty, too long, with a NUL byte.
			os.Symlink(strings.Replace(targets[i], "ROOT", w.dir, 1), w.dir+"/"+spot)
		}
	}
	must(t, filepath.WalkDir(w.dir+"/root", func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			var id ID
			id, err = identify(path)
			w.inside[id] = true
		}
		return err
	}))
	for _, o := range openers(t) {
		w.roots = append(w.roots, o.root(t, w.dir+"/root"))
	}
	return w
}

// check looks arg up in each way and with each handle: nothing is outside, no text has a path of the host, and both say
// the same. What the operating system opens inside the root is opened.
func (w *world) check(t *testing.T, arg string) {
	t.Helper()
	var first [3]string
	for i, r := range w.roots {
		got := [3]string{w.open(t, r, arg), w.at(t, arg, r.Resolve), w.at(t, arg, r.ResolveEntry)}
		if i == 0 {
			first = got
		}
		if diff := cmp.Diff(first, got); diff != "" {
			t.Errorf("the handles disagree about %q:\n%s", arg, diff)
		}
	}
}

func (w *world) open(t *testing.T, r *Root, arg string) string {
	t.Helper()
	f, err := r.Open("path", arg)
	w.compare(t, arg, f, err)
	if err != nil {
		return refusal(t, w.dir, arg, err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	must(t, err)
	if !w.inside[f.Info().ID] || !strings.HasPrefix(string(b), "root/") {
		t.Errorf("%q opens a file outside, with %q", arg, b)
	}
	return string(b)
}

// compare asks the operating system where arg leads, if the rules about its text let it pass.
func (w *world) compare(t *testing.T, arg string, f *File, err error) {
	t.Helper()
	if _, _, refused := components(hostPlatform(), "path", arg); refused != nil {
		return
	}
	there, statErr := os.Stat(w.dir + "/root/" + arg)
	if statErr != nil {
		if err == nil {
			t.Errorf("%q is opened, but the system says %v", arg, statErr)
		}
		return
	}
	switch info := portableInfo(there); {
	case !w.inside[info.ID]:
		if !errors.Is(err, ErrOutside) {
			t.Errorf("%q leads outside: got %v", arg, err)
		}
	case info.Kind == Regular && (err != nil || f.Info().ID != info.ID):
		t.Errorf("%q leads to a file inside: got %v", arg, err)
	case info.Kind != Regular && !errors.Is(err, ErrNotRegular):
		t.Errorf("%q leads to a %s inside: got %v", arg, info.Kind, err)
	}
}

func (w *world) at(t *testing.T, arg string, resolve func(key, arg string) (*Location, error)) string {
	t.Helper()
	loc, err := resolve("path", arg)
	if err != nil {
		return refusal(t, w.dir, arg, err)
	}
	parent, err := loc.Parent().Stat(".")
	must(t, err)
	if !w.inside[parent.ID] || loc.Missing() == 0 && !w.inside[loc.Info.ID] {
		t.Errorf("%q is found outside, at %s", arg, loc.Rel())
	}
	if d, err := loc.OpenDir(); err == nil {
		info, err := d.Stat(".")
		must(t, err)
		if !w.inside[info.ID] {
			t.Errorf("%q opens a directory outside, at %s", arg, loc.Rel())
		}
		d.Close()
	}
	return located(t, w.dir, arg, loc, nil)
}

// pieces are what targets and arguments are made of.
func pieces() []string {
	return []string{"f", "d", "e", "l", "m", "l", ".", "new", "out", "root", "secret", "", "root2"}
}

func anyPath(random *rand.Rand, ups bool) string {
	var names []string
	for range 1 + random.IntN(5) {
		if ups && random.IntN(3) == 0 {
			names = append(names, "..")
		} else {
			names = append(names, pieces()[random.IntN(len(pieces()))])
		}
	}
	return strings.Join(names, "/")
}

// TestConfineProperties tries what a table does not think of, from a fixed seed.
func TestConfineProperties(t *testing.T) {
	inMemory(t)
	random := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		targets := make([]string, len(linkSpots()))
		for i := range targets {
			targets[i] = anyPath(random, true)
			if random.IntN(4) == 0 {
				targets[i] = "ROOT/" + targets[i]
			}
		}
		w := newWorld(t, targets)
		for range 60 {
			arg := anyPath(random, random.IntN(10) == 0)
			if w.check(t, arg); t.Failed() {
				t.Fatalf("%q with the links %q", arg, targets)
			}
		}
	}
}

// FuzzConfine takes an argument and the targets of a few links, one a line.
func FuzzConfine(f *testing.F) {
	for _, entries := range outsideTargets() {
		_, target, _ := strings.Cut(entries[0], " => ")
		f.Add("l", target)
		f.Add("l/f", target)
		f.Add("d/../l/", "d\n"+target)
	}
	for _, tt := range append(spellingCases(), linkCases()...) {
		f.Add(tt.arg, "d\nf\n../d/l\nROOT/root/d\nROOT/root\nroot/l")
	}
	f.Fuzz(func(t *testing.T, arg, targets string) {
		inMemory(t)
		newWorld(t, strings.Split(targets, "\n")).check(t, arg)
	})
}
