package revision

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestLinkTokenShowsTheLinkAndWhatItNames(t *testing.T) {
	tree := []string{"f = old", "same = old", "d/f = old", "l => f", "dl => d", "far => near", "near => f"}
	tests := []struct {
		name, arg string
		change    func(t *testing.T, path func(string) string)
		shows     bool
	}{
		{"shows a retargeted link though the bytes are the same", "l", relink("l", "same"), true},
		{"shows changed bytes of the target", "l", func(t *testing.T, at func(string) string) { rewrite(t, at("f"), "new") }, true},
		{"shows changed bytes below a target directory", "dl", func(t *testing.T, at func(string) string) { rewrite(t, at("d/f"), "new") }, true},
		{"shows a removed target", "l", func(t *testing.T, at func(string) string) { must(t, os.Remove(at("f"))) }, true},
		{"shows changed bytes at the end of two links", "far", func(t *testing.T, at func(string) string) { rewrite(t, at("f"), "new") }, true},
		{"shows a second link that leads nowhere now", "far", relink("near", "gone"), true},
		{"shows a circle that closes", "far", relink("near", "far"), true},
		{"hides a change elsewhere", "l", func(t *testing.T, at func(string) string) { rewrite(t, at("same"), "new") }, false},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			root, dir := planted(t, tree...)
			h := NewHasher(Options{Now: later().now})
			before := mustObserve(t, h, entry(t, root, tt.arg))
			if through := mustFresh(t, h, located(t, root, tt.arg)); through != before {
				t.Errorf("%v for the link, %v through it", before, through)
			}
			tt.change(t, func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) })
			loc := entry(t, root, tt.arg)
			after := mustFresh(t, h, loc)
			if observed := mustObserve(t, h, loc); observed != after {
				t.Errorf("observed %v, fresh %v", observed, after)
			}
			if shown := after != before; shown != tt.shows || after.State != Symlink {
				t.Errorf("before %v, after %v", before, after)
			}
		})
	}
}

func relink(name, target string) func(*testing.T, func(string) string) {
	return func(t *testing.T, at func(string) string) {
		must(t, os.Remove(at(name)))
		must(t, os.Symlink(target, at(name)))
	}
}

// A token that depended on what is outside would tell a model which outside files exist.
func TestLinkTokenTellsNothingOfTheOutside(t *testing.T) {
	outsides := map[string][]string{
		"nothing":                {},
		"a file":                 {"x = secret"},
		"another file":           {"x = other"},
		"a directory":            {"x/f"},
		"a file on the way":      {"x"},
		"a link to an outside":   {"x => y"},
		"a link to itself":       {"x => x"},
		"a link that leads away": {"x => /"},
	}
	for _, target := range []string{"../x", "../x/deeper", "../../x"} {
		tokens := map[Revision]string{}
		trees := map[Revision]string{}
		for name, outside := range outsides {
			root, _ := planted(t, append(outside, "root/d/l => "+target, "root/l => "+target, "root/two => l")...)
			for _, arg := range []string{"l", "d/l"} {
				loc := entry(t, root, arg)
				h := NewHasher(Options{})
				rev := mustFresh(t, h, loc)
				if got := mustObserve(t, h, loc); got != rev {
					t.Errorf("%s, %s: observed %v, fresh %v", arg, name, got, rev)
				}
				if target != "../../x" && arg == "d/l" {
					continue // d/../x is inside, and absent
				}
				tokens[rev] = name
			}
			trees[mustFresh(t, NewHasher(Options{}), located(t, root, "."))] = name
		}
		if len(tokens) != 1 || len(trees) != 1 {
			t.Errorf("%s: %d tokens of the link and %d of the tree, want one each: %v %v", target, len(tokens), len(trees), tokens, trees)
		}
	}
}

// Where a link leads in a circle it has a token still, or it could not be deleted on a condition.
func TestLinkThatLeadsNowhereHasAToken(t *testing.T) {
	root, _ := planted(t, "f", "a => b", "b => a", "self => self", "below => f/x", "up => gone/../f")
	for _, arg := range []string{"a", "self", "below", "up"} {
		h := NewHasher(Options{})
		if got := mustFresh(t, h, entry(t, root, arg)); got.State != Symlink || got.Token == "" {
			t.Errorf("%s: got %v", arg, got)
		}
	}
}

func TestLinkBelowALinkedDirectory(t *testing.T) {
	root, _ := planted(t, "d/l => f", "d/f", "dl => d")
	h := NewHasher(Options{})
	want := mustFresh(t, h, entry(t, root, "d/l"))
	for _, arg := range []string{"d/l", "dl/l"} {
		if got := mustFresh(t, h, entry(t, root, arg)); got != want {
			t.Errorf("%s itself: got %v, want %v", arg, got, want)
		}
		if got := mustFresh(t, h, located(t, root, arg)); got != want {
			t.Errorf("through %s: got %v, want %v", arg, got, want)
		}
	}
	if got, want := mustFresh(t, h, located(t, root, "dl/f")), mustFresh(t, h, located(t, root, "d/f")); got != want {
		t.Errorf("a file below a linked directory: got %v, want %v", got, want)
	}
}

func TestSlashAfterALinkNamesItsDirectory(t *testing.T) {
	root, _ := planted(t, "d/f", "dl => d")
	h := NewHasher(Options{})
	want := mustFresh(t, h, located(t, root, "d"))
	if got := mustFresh(t, h, located(t, root, "dl/")); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if link := mustFresh(t, h, located(t, root, "dl")); link.State != Symlink {
		t.Errorf("without the slash: got %v", link)
	}
}

// What is remembered may stand for bytes here, as in every observation.
func TestNamedIsOfWhatALinkLeadsTo(t *testing.T) {
	root, _ := planted(t, "f", "d/f", "l => f", "dl => d", "to-gone => gone")
	h := NewHasher(Options{Now: later().now})
	for link, target := range map[string]string{"l": "f", "dl": "d", "to-gone": "gone", "f": "f"} {
		want := mustFresh(t, h, located(t, root, target))
		if got := h.Named(t.Context(), located(t, root, link)); got != want {
			t.Errorf("%s: got %v, want %v", link, got, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.Forget(located(t, root, "f").Info.ID)
	if got := h.Named(ctx, located(t, root, "l")); got != (Revision{State: Unknown}) {
		t.Errorf("cancelled: got %v", got)
	}
}

func TestThrough(t *testing.T) {
	root, dir := planted(t, "f = seen", "l => f")
	h := NewHasher(Options{})
	r := h.NewReader(t.Context(), opened(t, root, "l"))
	seen := r.Revision()
	loc := located(t, root, "l")
	if got, want := h.Through(loc, seen), mustFresh(t, h, loc); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	// It is of the bytes that were seen, whatever the file holds by now.
	want := h.Through(loc, seen)
	rewrite(t, filepath.Join(dir, "f"), "unseen")
	if got := h.Through(loc, seen); got != want || got == mustFresh(t, h, loc) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := h.Through(loc, Revision{State: Unknown}); got != (Revision{State: Unknown}) {
		t.Errorf("of an unknown revision: got %v", got)
	}
	must(t, os.Remove(filepath.Join(dir, "l")))
	if got := h.Through(loc, seen); got != (Revision{State: Unknown}) {
		t.Errorf("of a link that has gone: got %v", got)
	}
}
