package fsmcp

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTools(t *testing.T) {
	tests := []struct {
		name     string
		readOnly bool
		want     []string
	}{
		{"it has eleven tools, sorted", false, []string{"delete", "edit", "glob", "grep", "list", "map", "mkdir", "move", "read", "stat", "write"}},
		{"it has those that read, for reading", true, []string{"glob", "grep", "list", "map", "read", "stat"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := New(Options{Root: t.TempDir(), ReadOnly: tt.readOnly})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var got []string
			for _, tool := range f.Tools() {
				got = append(got, tool.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name string
		opt  Options
		want string
	}{
		{"it refuses no root", Options{}, "a root directory is required"},
		{"it refuses an unknown syntax", Options{Root: dir, RegexSyntax: "pcre"}, `regex-syntax is "pcre"; it must be "re2" or "raku"`},
		{"it refuses an unknown cache", Options{Root: dir, MapCache: "tape"}, `map-cache is "tape"; it must be "disk" or "memory"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New(tt.opt); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
