//go:build cgo

package repomap

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// captures are what a query captures in a text, as "name text".
func captures(l Language, query, text string) ([]string, error) {
	q, err := compileQuery(l, query)
	if err != nil {
		return nil, err
	}
	r := &reader{}
	defer r.close()
	found, err := r.find(l, q, text)
	if err != nil {
		return nil, err
	}
	var got []string
	for _, c := range found {
		got = append(got, q.names[c.name]+" "+text[c.start:c.end])
	}
	slices.Sort(got)
	return got, nil
}

func TestPatterns(t *testing.T) {
	text := "class A(B, x.C):\n  def f(self, g=q): return h(i, j)\nk = lambda: l(m)\n"
	tests := []struct {
		name, query string
		want        []string
	}{
		{"it finds a node anywhere", "(class_definition) @d.type", []string{"d.type " + text[:strings.Index(text, "\nk")]}},
		{"it finds a child by its field", "(call function: (identifier) @r.call)", []string{"r.call h", "r.call l"}},
		{"it finds a child without a field", "(argument_list (identifier) @r.value)", []string{"r.value B", "r.value i", "r.value j", "r.value m"}},
		{"it goes up as far as the pattern", "(lambda body: (call function: (identifier) @r.call))", []string{"r.call l"}},
		{"it goes no further than the root", "(module (module (identifier) @l))", nil},
		{"it takes any of several", "(call function: [(attribute) (identifier)] @r.call)", []string{"r.call h", "r.call l"}},
		{"it takes a token", `(lambda "lambda" @l)`, []string{"l lambda"}},
		{"it takes the first child", "(argument_list . (identifier) @l)", []string{"l B", "l i", "l m"}},
		{"it takes the last child", "(argument_list (identifier) @l .)", []string{"l j", "l m"}},
		{"it wants a branch to be there", "(assignment left: (identifier) @l right: (lambda))", []string{"l k"}},
		{"it takes any node for a branch", "(assignment left: (identifier) @l right: (_))", []string{"l k"}},
		{"it finds nothing without the branch", "(assignment left: (identifier) @l right: (call))", nil},
		{"it wants a branch not to be there", "(assignment left: (identifier) @l !type)", []string{"l k"}},
		{"it finds nothing with that branch", "(assignment left: (identifier) @l !right)", nil},
		{"it follows a branch", "(assignment left: (identifier) @l right: (lambda body: (call function: (identifier) @r.call)))", []string{"l k", "r.call l"}},
		{"it keeps the path and a branch apart", "(default_parameter name: (identifier) (identifier) @l)", []string{"l q"}},
		{"it goes by the field", "(default_parameter name: (identifier) @l)", []string{"l g"}},
		{"it leaves comments out", "; (identifier) @l\n(lambda) @l ; more", []string{"l lambda: l(m)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := captures(Python, tt.query, text)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestQueryRefuses(t *testing.T) {
	tests := []struct{ name, query, want string }{
		{"it knows all symbols", "(identifer) @l", `no symbol "identifer"`},
		{"it knows no errors", "(ERROR) @l", `no symbol "ERROR"`},
		{"it knows no beginnings of errors", `(call "E" @l)`, `no symbol "E"`},
		{"it has room for one dot", "(argument_list . (identifier) @l .)", "(identifier) has a dot on either side"},
		{"it finds branches wherever they are", "(call . function: (_) (identifier) @l)", "a branch (_) has a dot beside it"},
		{"it knows all fields", "(call fonction: (identifier) @l)", `no field "fonction"`},
		{"it knows all roles", "(identifier) @x", `a capture named "x"`},
		{"it finds branches by their fields", "(call (argument_list) (identifier) @l)", "a branch (argument_list) has no field"},
		{"it does not go through any node", "(call (_ (identifier) @l))", "a path goes through any node"},
		{"it captures a node once", "(identifier) @l @r.call", "(identifier) has 2 names"},
		{"it needs a node", "identifier @l", `a query has "identifier" where a node begins`},
		{"it needs the end", "(call (identifier) @l", "a query ends within (call"},
		{
			"it has room for four branches",
			"(for_statement left: (_) right: (_) body: (_) alternative: (_) left: (_) right: (identifier) @l)",
			"a pattern has more than 4 branches",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := compileQuery(Python, tt.query); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
