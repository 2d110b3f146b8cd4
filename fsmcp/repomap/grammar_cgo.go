//go:build cgo

package repomap

/*
#include "treesitter.h"
*/
import "C"

import (
	"embed"
	"fmt"
	"hash"
	"runtime"
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

// grammars are the queries of the languages, each compiled when its first file is read: that takes a tenth of a second
// for some. A compiled query does not change and serves all readers.
type grammars struct {
	of [languages]struct {
		once  sync.Once
		query *query
		err   error
	}
}

func newGrammars() *grammars {
	C.lf_allocator()
	return new(grammars)
}

// trim gives back to the system what parsing has left free.
func (*grammars) trim() { C.lf_trim() }

// query is a compiled query, and what each of its captures means.
type query struct {
	table *C.TSLanguage
	c     *C.TSQuery
	roles []role
}

func (g *grammars) query(l Language) (*query, error) {
	e := &g.of[l]
	e.once.Do(func() { e.query, e.err = compile(l) })
	return e.query, e.err
}

func compile(l Language) (*query, error) {
	var text []byte
	for _, name := range queriesOf(l) {
		part, err := queryFiles.ReadFile("queries/" + name + ".scm")
		if err != nil {
			return nil, err
		}
		text = append(append(text, part...), '\n')
	}
	q := &query{table: (*C.TSLanguage)(tableOf(l))}
	var offset C.uint32_t
	var kind C.int
	q.c = C.ts_query_new(q.table, (*C.char)(unsafe.Pointer(&text[0])), C.uint32_t(len(text)), &offset, &kind)
	if q.c == nil {
		rest := text[offset:]
		return nil, fmt.Errorf("query for %s: error %d at %q", l, kind, rest[:min(len(rest), 60)])
	}
	// The query is given back with the grammars that hold it; readers hold those.
	runtime.AddCleanup(q, func(c *C.TSQuery) { C.ts_query_delete(c) }, q.c)
	for i := range C.ts_query_capture_count(q.c) {
		var length C.uint32_t
		name := C.ts_query_capture_name_for_id(q.c, i, &length)
		r, err := roleOf(C.GoStringN(name, C.int(length)))
		if err != nil {
			return nil, fmt.Errorf("query for %s: %w", l, err)
		}
		q.roles = append(q.roles, r)
	}
	return q, nil
}
