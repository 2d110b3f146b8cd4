package console

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/harness"
)

func TestComplete(t *testing.T) {
	_, host, preview := place(t, tree())
	c := looking(t, preview)
	c.Provider = host
	for _, one := range []struct {
		name, line, head string
		words            []string
	}{
		{name: "completes the first word", line: "mk", words: []string{"mkdir "}},
		{name: "completes a whole name once its prefix is there", line: "fs_m", words: []string{"fs_map ", "fs_mkdir ", "fs_move "}},
		{name: "completes words of its own", line: "q", words: []string{"quit "}},
		{name: "completes commands", line: "/", words: []string{"/help ", "/quit "}},
		{name: "completes the tool of call", line: "call read", head: "call ", words: []string{"read_file "}},
		{name: "completes no arguments of call", line: "call read_file ", head: "call read_file "},
		{name: "completes flags", line: "delete --r", head: "delete ", words: []string{"--recursive "}},
		{name: "completes paths, and not the hidden ones", line: "list ", head: "list ", words: []string{"'my dir/'", "README.md ", "esc.txt ", "src/"}},
		{name: "completes hidden ones", line: "list .", head: "list ", words: []string{".hidden "}},
		{name: "completes below a directory", line: "read_file src/", head: "read_file ", words: []string{"src/price.go "}},
		{name: "completes a second path", line: "move x sr", head: "move x ", words: []string{"src/"}},
		{name: "completes what no flag has taken", line: "grep --pattern x s", head: "grep --pattern x ", words: []string{"src/"}},
		{name: "completes no path twice", line: "grep --path=x y s", head: "grep --path=x y "},
		{name: "completes no pattern", line: "grep s", head: "grep "},
		{name: "completes within an open quote", line: "read 'my dir/a", head: "read ", words: []string{"'my dir/a b.txt' "}},
		{name: "completes nothing outside", line: "list ../", head: "list "},
		{name: "completes nothing of an unknown tool", line: "nix s", head: "nix "},
		{name: "completes no text", line: "write a <<E", head: "write a <<E"},
	} {
		t.Run(one.name, func(t *testing.T) {
			head, words, tail := c.complete(t.Context(), one.line+"é", len(one.line))
			if head != one.head || tail != "é" {
				t.Errorf("got %q before and %q behind", head, tail)
			}
			if diff := cmp.Diff(one.words, words); diff != "" && len(words)+len(one.words) > 0 {
				t.Error(diff)
			}
		})
	}
	t.Run("completes no name that a terminal would obey", func(t *testing.T) {
		c.Preview = reading{&provider{func(context.Context, []harness.Call) []harness.Result {
			return []harness.Result{{Content: "a\x1b]0;b\a\nab"}}
		}}}
		c.Provider = c.Preview
		_, words, _ := c.complete(t.Context(), "read a", 6)
		if diff := cmp.Diff([]string{"ab "}, words); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("survives a provider that panics", func(t *testing.T) {
		c.Preview = reading{&provider{func(context.Context, []harness.Call) []harness.Result { panic("broken") }}}
		c.Provider = c.Preview
		if _, words, _ := c.complete(t.Context(), "read x", 6); words != nil {
			t.Errorf("got %q", words)
		}
	})
}
