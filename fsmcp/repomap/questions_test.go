//go:build cgo

package repomap

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the maps of testdata/questions as they are now")

// firstBlocks is how many blocks of a map a reader without any other clue will look at before opening a file.
const firstBlocks = 5

// TestQuestions asks about a repository that its reader does not know: the whole of golang.org/x/text, some 400 files.
// Each scenario holds a question, the call that a model would make of its words, the map that it gets, and the two files
// that answer the question, with the reason. The map has to name both at its top.
func TestQuestions(t *testing.T) {
	root := served(t, moduleDir(t, "golang.org/x/text"))
	m := New(Options{Root: root})
	names, err := filepath.Glob("testdata/questions/*.txt")
	if err != nil || len(names) < 3 {
		t.Fatalf("found %q: %v", names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			scenario, err := txtar.ParseFile(name)
			if err != nil || len(scenario.Files) != 1 {
				t.Fatalf("a scenario with %d maps: %v", len(scenario.Files), err)
			}
			said := map[string]string{}
			for line := range strings.Lines(string(scenario.Comment)) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
				said[key] = value
			}
			limit, err := strconv.Atoi(said["max-chars"])
			if err != nil {
				t.Fatal(err)
			}
			got := drawn(t, m, Request{Path: ".", Query: said["query"], MaxChars: limit}) + "\n"
			if *update {
				scenario.Files[0].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(scenario), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(scenario.Files[0].Data), got); diff != "" {
				t.Errorf("the map (-want +got):\n%s", diff)
			}
			read, first := strings.Fields(said["read"]), blocksOf(got)[:firstBlocks]
			if len(read) != 2 {
				t.Errorf("%d files are to be read, want two", len(read))
			}
			for _, file := range read {
				if !slices.Contains(first, file) {
					t.Errorf("%s is not among the first files: %s", file, first)
				}
			}
		})
	}
}

// blocksOf is the paths of a map's blocks.
func blocksOf(text string) []string {
	var paths []string
	for _, block := range strings.Split(text, "\n\n") {
		path, _, _ := strings.Cut(block, ":\n")
		paths = append(paths, path)
	}
	return paths
}
