package repomap

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// Go files that are whole are read with the standard library's own parser, in a quarter of the time. queries/go.scm says
// what is captured; this is the same in Go, node by node, and a test compares the two on the standard library. A file
// with an error in it, as one that is being edited has, is left to the query.

// readGo reads a Go file that has no errors, or says that it is none.
func readGo(text string) (*Tags, bool) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, false
	}
	g := goReader{captured: captured{text: text, language: Go, of: f.Name.Name}, base: f.FileStart}
	for _, i := range f.Imports {
		alias := ""
		if i.Name != nil {
			alias = i.Name.Name
		}
		g.addImport(i.Path.Value, alias)
	}
	for _, d := range f.Decls {
		g.declaration(d, true)
	}
	return g.tags(), true
}

// goReader collects the names of one file.
type goReader struct {
	captured
	base token.Pos
}

func (g *goReader) at(id *ast.Ident) span {
	start := uint32(id.Pos() - g.base)
	return span{start, start + uint32(len(id.Name))}
}

func (g *goReader) define(id *ast.Ident, k Kind) {
	at := g.at(id)
	g.definitions = append(g.definitions, name{span: at, role: role{use: defines, kind: k}, whole: at.start})
}

func (g *goReader) bind(ids ...*ast.Ident) {
	for _, id := range ids {
		g.rest = append(g.rest, name{span: g.at(id), role: role{use: binds}})
	}
}

// refer notes a name that is used as a value, is called, or is a type.
func (g *goReader) refer(id *ast.Ident) {
	g.rest = append(g.rest, name{span: g.at(id), role: role{use: refers, boundary: true}, pattern: 1})
}

// take notes what is taken from something that goes by a name, which may be a package.
func (g *goReader) take(from, id *ast.Ident, r role) {
	g.rest = append(g.rest, name{span: g.at(id), role: r, from: g.at(from)})
}

func (g *goReader) declaration(d ast.Decl, top bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		k := FunctionKind
		if d.Recv != nil {
			k = MethodKind
			g.parameters(d.Recv)
		}
		g.define(d.Name, k)
		g.function(d.Type, d.Body)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			g.spec(s, top)
		}
	}
}

func (g *goReader) spec(s ast.Spec, top bool) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		g.define(s.Name, TypeKind)
		g.parameters(s.TypeParams)
		g.typ(s.Type)
	case *ast.ValueSpec:
		g.bind(s.Names...)
		for _, n := range s.Names {
			if top {
				g.define(n, ValueKind)
			}
		}
		g.typ(s.Type)
		g.values(s.Values)
	}
}

// function reads a function's type and, unless it is nil, its body.
func (g *goReader) function(t *ast.FuncType, body *ast.BlockStmt) {
	g.parameters(t.TypeParams)
	g.parameters(t.Params)
	g.parameters(t.Results)
	if body != nil {
		g.statements(body.List)
	}
}

func (g *goReader) parameters(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, p := range list.List {
		g.bind(p.Names...)
		g.typ(p.Type)
	}
}
