//go:build cgo

package repomap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGoReadsAsTheQuery compares what the two readers of Go say of the standard library. In one file of 500 they differ
// by a name or two, where the grammar takes an element of an array for an instance of a generic type. GOREAD_DIRS names
// more directories.
func TestGoReadsAsTheQuery(t *testing.T) {
	r := &reader{grammars: newGrammars()}
	defer r.close()
	compared, differ := 0, 0
	for _, dir := range strings.Fields(os.Getenv("GOREAD_DIRS") + " go encoding") {
		err := filepath.WalkDir(filepath.Join(goTree(t, ".").Path(), dir), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) != ".go" || strings.Contains(name, "testdata") {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil || len(text) > maxFile {
				return err
			}
			got, ok := readGo(string(text))
			if !ok {
				return nil
			}
			want, err := r.parse(Go, string(text))
			if err != nil {
				return err
			}
			compared++
			if diff := cmp.Diff(want, got); diff != "" {
				differ++
				t.Logf("%s (-query +parser):\n%.1500s", name, diff)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if compared < 300 || differ > compared/200 {
		t.Errorf("%d files compared, %d differ", compared, differ)
	}
}

// Go's own parser lets pass what its type checker refuses.
func TestGoReadsWhatDoesNotCompile(t *testing.T) {
	r := &reader{grammars: newGrammars()}
	defer r.close()
	for _, body := range []string{"_ = new(int...)", "f(...)", "_ = []int(...)", "_ = make()", "_ = new(int..., 1)", "f[int](...)", "a.b(c...)"} {
		tags, err := r.read(Go, []byte("package p\nfunc f() { "+body+" }\n"))
		if err != nil || len(tags.Definitions) != 1 {
			t.Errorf("%s: %v, %v", body, tags, err)
		}
	}
}

// A fault of ours in reading one file is not the end of all. A reader without grammars has one.
func TestReadSurvivesAPanic(t *testing.T) {
	r := &reader{}
	if _, err := r.read(Python, []byte("x = 1\n")); !errors.Is(err, errPanicked) {
		t.Errorf("got %v", err)
	}
}
