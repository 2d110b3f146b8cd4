package fsmcp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/search"
)

// TestGlobSaysThatItStopped gives a search one match more than an answer has room for, in number or in bytes.
func TestGlobSaysThatItStopped(t *testing.T) {
	for _, test := range []struct {
		name     string
		matches  int
		path     string // a format
		kept     int
		stopped  bool
		lastKept string
	}{
		{"it says nothing when all paths are shown", maxGlob, "f%06d", maxGlob, false, "f099999"},
		{"it says that there are more paths", maxGlob + 1, "f%06d", maxGlob, true, "f099999"},
		{"it says so when the text is full", 40_000, strings.Repeat("d", 240) + "%06d", 33_961, true, strings.Repeat("d", 240) + "033960"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := globbing{pattern: search.ParseGlob("*")}
			var err error
			for i := 0; i < test.matches && err == nil; i++ {
				err = g.visit(&confine.Step{Entry: confine.Entry{Name: fmt.Sprintf(test.path, i), Kind: confine.Regular}})
			}
			text, notice, _ := strings.Cut(g.answer("*", "."), "\n\n")
			got := fmt.Sprint(strings.Count(text, "\n")+1, " ", text[strings.LastIndexByte(text, '\n')+1:], " ", notice)
			want := fmt.Sprint(test.kept, " ", test.lastKept, " ")
			if test.stopped {
				want += fmt.Sprintf("[stopped at %d paths; there are more: send a narrower pattern, or search below a sub-directory]", test.kept)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNotesOfTheStore are part of a sentence, of which they must stand apart.
func TestNotesOfTheStore(t *testing.T) {
	dir := t.TempDir()
	one := filepath.Join(dir, "one")
	if err := os.WriteFile(one, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := New(Options{Root: dir, NoSync: true, LockDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, test := range []struct{ tool, arguments, want string }{
		{"write", `{"path":"one","content":"new\n"}`, "Wrote 4 bytes to 'one' (it had 2 hard links; the others keep the old text)"},
		{"edit", `{"path":"one","old-string":"new","new-string":"newer"}`, "Replaced 1 occurrence in 'one'; wrote 6 bytes (it had 2 hard links; the others keep the old text)"},
	} {
		t.Run("it tells of other links after "+test.tool, func(t *testing.T) {
			if err := os.Link(one, filepath.Join(dir, "other to "+test.tool)); err != nil {
				t.Skip("the file system has no hard links")
			}
			for _, tool := range f.Tools() {
				if tool.Name != test.tool {
					continue
				}
				if diff := cmp.Diff(test.want, tool.Call(t.Context(), json.RawMessage(test.arguments)).Text); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}
