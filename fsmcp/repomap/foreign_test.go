//go:build cgo

package repomap

import (
	"testing"

	sitter "github.com/tree-sitter/go-tree-sitter"
)

// A program may use tree-sitter itself, before the first map is drawn and after: the runtime has one allocator for all.
func TestReadLeavesOthersUsingTreeSitterAlone(t *testing.T) {
	language := sitter.NewLanguage(tableOf(Python))
	parse := func(p *sitter.Parser, text string) *sitter.Tree {
		if err := p.SetLanguage(language); err != nil {
			t.Fatal(err)
		}
		return p.Parse([]byte(text), nil)
	}
	before := sitter.NewParser()
	defer before.Close()
	first := parse(before, "def f(a):\n  return g(a)\n")
	defer first.Close()
	r := &reader{grammars: newGrammars()}
	defer r.close()
	if tags, err := r.read(Python, []byte("class A: pass\n")); err != nil || len(tags.Definitions) != 1 {
		t.Fatalf("read %v, %v", tags, err)
	}
	after := sitter.NewParser()
	defer after.Close()
	for _, p := range []*sitter.Parser{before, after} {
		tree := parse(p, "class B(C):\n  def m(self): return [self, 'x']\n")
		const want = "(module (class_definition"
		if got := tree.RootNode().ToSexp(); len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("got %s", got)
		}
		tree.Close()
	}
}
