package main

import (
	"strings"
	"testing"
)

func TestInstructions(t *testing.T) {
	instructions := func(args ...string) string {
		c, err := parse(t, args)
		if err != nil {
			t.Fatal(err)
		}
		return c.instructions
	}
	cases := []struct {
		name      string
		args      []string
		says, not []string
	}{
		{"it names both vocabularies of ROOT", []string{"/a"}, []string{"two vocabularies", "fs_read", "read_file", "fs_map", "Read a file before"}, nil},
		{"it does not name tools that are left out", []string{"/a", "--vocabulary=file-tools"}, []string{"Read a file before"}, []string{"fs_", "read_file", "vocabularies"}},
		{"it says nothing of changes where none can be made", []string{"/a", "--read-only"}, []string{"fs_grep"}, []string{"edit"}},
		{"it goes by the prefix", []string{`--tool=FileSystem={"root":"/a","prefix":"notes"}`}, []string{"notes_map", "notes_glob"}, []string{"fs_", "vocabularies"}},
		{"it goes by bare names", []string{`--tool=FileSystem={"root":"/a","prefix":""}`}, []string{"Paths of read ", "ask map "}, []string{"_"}},
		{"it does not take two directories for one", []string{`--tool=FileSystem={"root":"/a"}`, `--tool=FileTools={"root":"/b"}`}, nil, []string{"vocabularies"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := instructions(c.args...)
			for _, s := range c.says {
				if !strings.Contains(got, s) {
					t.Errorf("%q is missing in %q", s, got)
				}
			}
			for _, s := range c.not {
				if strings.Contains(got, s) {
					t.Errorf("%q is in %q", s, got)
				}
			}
			if n := strings.Count(got, ". ") + 1; n > 6 {
				t.Errorf("%d sentences: %s", n, got)
			}
		})
	}
}
