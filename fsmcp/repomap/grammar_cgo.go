//go:build cgo

package repomap

import (
	"embed"
	"hash"
	"strings"
	"sync"
	"unsafe"

	_ "github.com/tree-sitter/go-tree-sitter" // links the runtime that treesitter.c calls
	c "github.com/tree-sitter/tree-sitter-c/bindings/go"
	cpp "github.com/tree-sitter/tree-sitter-cpp/bindings/go"
	golang "github.com/tree-sitter/tree-sitter-go/bindings/go"
	java "github.com/tree-sitter/tree-sitter-java/bindings/go"
	javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	python "github.com/tree-sitter/tree-sitter-python/bindings/go"
	rust "github.com/tree-sitter/tree-sitter-rust/bindings/go"
	typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"
)

// hasGrammars says that this build has tree-sitter.
const hasGrammars = true

//go:embed queries/*.scm
var queryFiles embed.FS

// queriesOf names the files whose texts, one after the other, are a language's query. What stands first wins where two
// patterns take one name for a definition.
func queriesOf(l Language) []string {
	switch l {
	case C:
		return []string{"c"}
	case CPP:
		return []string{"cpp", "c"}
	case Go:
		return []string{"go"}
	case Java:
		return []string{"java"}
	case JavaScript:
		return []string{"javascript", "ecmascript"}
	case Python:
		return []string{"python"}
	case Rust:
		return []string{"rust"}
	case TypeScript:
		return []string{"typescript", "ecmascript"}
	case TSX:
		return []string{"tsx", "typescript", "ecmascript"}
	}
	return nil
}

// hashQueries adds all queries to a hash.
func hashQueries(h hash.Hash) {
	for l := range Language(languages) {
		for _, name := range queriesOf(l) {
			text, _ := queryFiles.ReadFile("queries/" + name + ".scm") // embedded, so it is there, or no file can be read
			h.Write(text)
		}
	}
}

// tableOf is the parse table of a language.
func tableOf(l Language) unsafe.Pointer {
	switch l {
	case C:
		return c.Language()
	case CPP:
		return cpp.Language()
	case Go:
		return golang.Language()
	case Java:
		return java.Language()
	case JavaScript:
		return javascript.Language()
	case Python:
		return python.Language()
	case Rust:
		return rust.Language()
	case TypeScript:
		return typescript.LanguageTypescript()
	case TSX:
		return typescript.LanguageTSX()
	}
	return nil
}

// grammars are the queries of the languages, each compiled when its first file is read: no tree has all nine, and each
// takes about a millisecond. A compiled query does not change and serves all readers.
type grammars struct {
	of [languages]struct {
		once  sync.Once
		query *query
		err   error
	}
}

func newGrammars() *grammars { return new(grammars) }

func (g *grammars) query(l Language) (*query, error) {
	e := &g.of[l]
	e.once.Do(func() { e.query, e.err = compile(l) })
	return e.query, e.err
}

// queryText is the text of a language's query.
func queryText(l Language) (string, error) {
	var text strings.Builder
	for _, name := range queriesOf(l) {
		part, err := queryFiles.ReadFile("queries/" + name + ".scm")
		if err != nil {
			return "", err
		}
		text.Write(part)
	}
	return text.String(), nil
}
