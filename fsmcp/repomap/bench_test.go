package repomap

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"lookfirst/fsmcp/confine"
)

// BenchmarkMapCold measures a first map: survey, reading and parsing every file, graph, rank and render, with the files in
// the page cache and nothing in ours. Bytes are those of the sources.
func BenchmarkMapCold(b *testing.B) {
	for _, dir := range []string{"net", "encoding"} {
		b.Run(dir, func(b *testing.B) {
			root := goTree(b, dir)
			b.SetBytes(sourceBytes(b, root))
			b.ReportAllocs()
			for b.Loop() {
				drawOnce(b, New(Options{Root: root}))
			}
		})
	}
}

// BenchmarkMapWarm measures a map of a tree in which nothing has changed since the last one: everything but parsing.
func BenchmarkMapWarm(b *testing.B) {
	for _, dir := range []string{"net", "encoding"} {
		b.Run(dir, func(b *testing.B) {
			m := New(Options{Root: goTree(b, dir)})
			drawOnce(b, m)
			b.ReportAllocs()
			for b.Loop() {
				drawOnce(b, m)
			}
		})
	}
}

// BenchmarkWalk measures the floor of a warm map: a walk of the same tree that asks after every file.
func BenchmarkWalk(b *testing.B) {
	root := goTree(b, "net")
	for b.Loop() {
		sourceBytes(b, root)
	}
}

// BenchmarkMapStored measures the first map of a process that finds everything in the store.
func BenchmarkMapStored(b *testing.B) {
	root, cacheDir := goTree(b, "net"), b.TempDir()
	m := New(Options{Root: root, CacheDir: cacheDir})
	drawOnce(b, m)
	if err := m.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		drawOnce(b, New(Options{Root: root, CacheDir: cacheDir}))
	}
}

// BenchmarkParse measures the reading of one file, and what it takes to look at it first.
func BenchmarkParse(b *testing.B) {
	root := goTree(b, "net/http")
	text, err := os.ReadFile(filepath.Join(root.Path(), "server.go"))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("go", func(b *testing.B) {
		r := &reader{grammars: newGrammars()}
		defer r.close()
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.read(Go, text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("raku", func(b *testing.B) {
		text := bytes.Repeat([]byte("method fill($x) { other($x); $!depth = 'a string'; }\n"), 1000)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			scanRaku(string(text))
		}
	})
	b.Run("guards", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if !isText(text) || isTooNested(text) {
				b.Fatal("server.go is left out")
			}
		}
	})
}

func drawOnce(b *testing.B, m *Mapper) {
	b.Helper()
	if _, err := m.Map(b.Context(), Request{Path: "."}); err != nil {
		b.Fatal(err)
	}
}

// sourceBytes walks the tree and adds up the sizes of what a map reads.
func sourceBytes(b *testing.B, root *confine.Root) int64 {
	b.Helper()
	loc, err := root.Resolve("path", ".")
	if err != nil {
		b.Fatal(err)
	}
	defer loc.Close()
	dir, err := loc.OpenDir()
	if err != nil {
		b.Fatal(err)
	}
	defer dir.Close()
	sum := int64(0)
	err = dir.Walk(b.Context(), confine.FilesFirst, func(s *confine.Step) error {
		if s.Kind != confine.Regular || languageOf(s.Name) == None {
			return nil
		}
		info, err := s.Dir.Stat(s.Name)
		sum += info.Size
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return sum
}
