package revision

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lookfirst/fsmcp/confine"
)

// plant makes a tree: "d/" is a directory, "f" a file that holds its own path, "f = text" one that holds text, "a => b"
// a link. What is above an entry is made with it.
func plant(t testing.TB, dir string, tree ...string) {
	t.Helper()
	for _, line := range tree {
		name, target, isLink := strings.Cut(line, " => ")
		name, text, hasText := strings.Cut(name, " = ")
		if !hasText {
			text = name
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch {
		case isLink:
			if err := os.Symlink(filepath.FromSlash(target), path); err != nil {
				t.Skipf("this system lets the test make no symbolic link: %v", err)
			}
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(path, 0o755))
		default:
			must(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// planted is a root that holds the tree. With "root/" in it, that is the root and the rest lies around it.
func planted(t testing.TB, tree ...string) (root *confine.Root, dir string) {
	t.Helper()
	dir = t.TempDir()
	plant(t, dir, tree...)
	if _, err := os.Stat(filepath.Join(dir, "root")); err == nil {
		dir = filepath.Join(dir, "root")
	}
	return rooted(t, dir), dir
}

func rooted(t testing.TB, dir string) *confine.Root {
	t.Helper()
	root, err := confine.OpenRoot(dir)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	return root
}

// located resolves a path with a link at its end followed, entry without.
func located(t testing.TB, root *confine.Root, arg string) *confine.Location {
	t.Helper()
	loc, err := root.Resolve("path", arg)
	must(t, err)
	t.Cleanup(func() { loc.Close() })
	return loc
}

func entry(t testing.TB, root *confine.Root, arg string) *confine.Location {
	t.Helper()
	loc, err := root.ResolveEntry("path", arg)
	must(t, err)
	t.Cleanup(func() { loc.Close() })
	return loc
}

func opened(t testing.TB, root *confine.Root, arg string) *confine.File {
	t.Helper()
	f, err := root.Open("path", arg)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func mustFresh(t testing.TB, h *Hasher, loc *confine.Location) Revision {
	t.Helper()
	rev, err := h.Fresh(context.Background(), loc)
	must(t, err)
	return rev
}

func mustObserve(t testing.TB, h *Hasher, loc *confine.Location) Revision {
	t.Helper()
	rev := h.Observe(context.Background(), loc)
	if rev.State == Unknown {
		t.Fatalf("the revision of %q is unknown", loc.Arg)
	}
	return rev
}

// clock is one that the test sets. At each reading it can do something first.
type clock struct {
	mu    sync.Mutex // guards at
	at    time.Time
	onNow func()
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.onNow != nil {
		c.onNow()
	}
	return c.at
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = t
}

// later is a clock at which the times of all that the test has written have settled.
func later() *clock { return &clock{at: time.Now().Add(time.Hour)} }

// poison makes every remembered digest a wrong one, so that a token shows whether any was used.
func poison(h *Hasher) {
	for i := range h.memo.entries {
		h.memo.entries[i].digest = digest{'w', 'r', 'o', 'n', 'g'}
	}
}

// hookedContext does something whenever it is asked whether it is done, which is before every read of a file.
type hookedContext struct {
	context.Context
	onAsked func()
}

func (c hookedContext) Err() error {
	c.onAsked()
	return c.Context.Err()
}

// at calls do when it has been called n times.
func at(n int, do func()) func() {
	calls := 0
	return func() {
		if calls++; calls == n {
			do()
		}
	}
}

// randomTree is the lines of a tree whose names sort in every way around the slash.
func randomTree(r *rand.Rand) []string {
	names := []string{"a", "a.", "a-", "a!", "a0", "a b", "a\x01", "ab", "A", "b", "é", "z", ".git", "node_modules", ".precomp", "~"}
	sizes := []int{0, 1, 500, bufferSize - 1, bufferSize, bufferSize + 1, 3*bufferSize + 7}
	var tree []string
	var fill func(prefix string, depth int)
	fill = func(prefix string, depth int) {
		for _, name := range names {
			switch kind := r.IntN(10); {
			case kind < 2 && depth < 3:
				tree = append(tree, prefix+name+"/")
				fill(prefix+name+"/", depth+1)
			case kind == 3:
				tree = append(tree, prefix+name+" => "+names[r.IntN(len(names))]+"/../x")
			case kind < 7:
				size := sizes[min(r.IntN(len(sizes)), r.IntN(len(sizes)), r.IntN(len(sizes)))]
				tree = append(tree, prefix+name+" = "+strings.Repeat(string(rune('a'+r.IntN(26))), size))
			}
		}
	}
	fill("", 1)
	return tree
}
