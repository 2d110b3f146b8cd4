package repomap

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// parsed counts the files that a map reads.
func parsed(t *testing.T, m *Mapper, req Request) int64 {
	t.Helper()
	n := int64(0)
	if _, err := m.Map(withProgress(t.Context(), func(done int64) { n = done }), req); err != nil {
		t.Fatal(err)
	}
	return n
}

// touch sets a file's modification time, in seconds.
func touch(t *testing.T, name string, second int64) {
	t.Helper()
	if err := os.Chtimes(name, time.Unix(second, 0), time.Unix(second, 0)); err != nil {
		t.Fatal(err)
	}
}

func TestCacheReadsWhatChanged(t *testing.T) {
	root, dir := tree(t, map[string]string{"a.raku": "sub a { }\n", "b.raku": "sub b { }\n", "sub/c.raku": "sub c { }\n"})
	m := mapper(t, root)
	steps := []struct {
		name string
		do   func()
		path string
		want int64
	}{
		{"it reads everything at first", func() {}, ".", 3},
		{"it reads nothing the second time", func() {}, ".", 0},
		{"it reads nothing for a part of it", func() {}, "sub", 0},
		{"it reads a file of another size", func() { writeFile(t, filepath.Join(dir, "a.raku"), "sub longer { }\n") }, ".", 1},
		{"it reads a file of another time", func() { touch(t, filepath.Join(dir, "b.raku"), 1000) }, ".", 1},
		{"it reads a file of another size and the same time", func() {
			writeFile(t, filepath.Join(dir, "b.raku"), "sub longer2 { }\n")
			touch(t, filepath.Join(dir, "b.raku"), 1000)
		}, ".", 1},
		{"it reads nothing when one is deleted", func() { os.Remove(filepath.Join(dir, "sub", "c.raku")) }, ".", 0},
		{"it reads one that is back", func() { writeFile(t, filepath.Join(dir, "sub", "c.raku"), "sub c { }\n") }, ".", 1},
	}
	for _, s := range steps {
		s.do()
		if got := parsed(t, m, Request{Path: s.path}); got != s.want {
			t.Errorf("%s: it has read %d", s.name, got)
		}
	}
	if text := drawn(t, m, Request{Path: "."}); !strings.Contains(text, "sub longer") || strings.Contains(text, "sub a ") {
		t.Errorf("after an edit:\n%s", text)
	}
}

func TestCacheDropsWhatIsGone(t *testing.T) {
	root, dir := tree(t, map[string]string{"stay.raku": "sub stay { }\n", "sub/stay.raku": "sub stay { }\n"})
	m := mapper(t, root)
	m.cache.roomy = 64
	for i := range 60 {
		name := filepath.Join(dir, fmt.Sprintf("gone%d.raku", i))
		writeFile(t, name, fmt.Sprintf("sub gone%d { }\n", i))
		drawn(t, m, Request{Path: "."})
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	drawn(t, m, Request{Path: "sub"})
	if n := len(m.cache.files); n != 3 {
		t.Errorf("after a map of a part, %d entries are kept, want 3: the last file that went was not part of it", n)
	}
	before := drawn(t, m, Request{Path: "."})
	if n := len(m.cache.files); n != 2 {
		t.Errorf("%d entries are kept, want 2", n)
	}
	if n := len(m.cache.names.of); n > 64 {
		t.Errorf("%d names are kept, though only 1 is in use", n)
	}
	m.cache.roomy = 0
	m.cache.renumber()
	if diff := cmp.Diff(before, drawn(t, m, Request{Path: "."})); diff != "" {
		t.Errorf("after numbering names anew the map differs (-before +after):\n%s", diff)
	}
}

func TestCacheGivesBackTags(t *testing.T) {
	want := &Tags{
		Package:     "core",
		Definitions: []Definition{{"A", 1, TypeKind, false, "type A = B"}, {"B", 1, TypeKind, true, "type A = B"}, {"c", 3, ValueKind, false, ""}},
		References:  []Reference{{"A", "", 3}, {"A", "errors", 1}},
		Modules:     []string{"Foo::Bar"},
	}
	c := newCache()
	if diff := cmp.Diff(want, c.tags(c.put("x", 1, 2, key{}, want))); diff != "" {
		t.Errorf("tags from the cache (-put +got):\n%s", diff)
	}
	if c.tags(c.put("y", 1, 2, key{}, nil)) != nil {
		t.Error("a file that is left out has tags")
	}
}

// TestCacheIsSmall holds a cached file to 8 KB of memory, on the standard library's own sources.
func TestCacheIsSmall(t *testing.T) {
	if !hasGrammars {
		t.Skip("no cgo, so no Go files are read")
	}
	m := mapper(t, goTree(t, "net"))
	drawn(t, m, Request{Path: "."})
	var with, without runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&with)
	files := uint64(len(m.cache.files))
	m.cache = nil
	runtime.GC()
	runtime.ReadMemStats(&without)
	if got := (with.HeapAlloc - without.HeapAlloc) / files; got > 8<<10 {
		t.Errorf("%d files take %d bytes each", files, got)
	} else {
		t.Logf("%d files take %d bytes each", files, got)
	}
}
