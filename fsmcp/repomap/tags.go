package repomap

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Kind is the sort of a definition. The smaller comes first where nothing else decides.
type Kind uint8

// The kinds of definition.
const (
	TypeKind Kind = iota
	FunctionKind
	MethodKind
	ValueKind
)

// Definition is a name that a file defines.
type Definition struct {
	Name string
	Line int // from 1
	Kind Kind
	Own  bool   // no other file can refer to it, unless it includes this one
	Text string // the line as a map shows it
}

// Reference is a name that a file refers to, and how often.
type Reference struct {
	Name    string
	Package string // that the name is taken from, if that is known
	Count   int
}

// Tags are what a file says to the rest of the tree. They depend on nothing but its language and its bytes.
type Tags struct {
	Definitions []Definition // in the order of the file
	References  []Reference  // in the order of their first appearance
	Modules     []string     // that a Raku file uses
	Package     string       // that a Go file belongs to
}

// role is what a capture stands for.
type role struct {
	use  use
	kind Kind // of a definition
	// boundary says that the name, used like this, may be a local one, and then refers to nothing outside.
	boundary bool
	// capital says that it counts only when it begins with a capital letter: a field access is no reference, but
	// pkg.Name may be.
	capital bool
	// sent says that the name is a method's.
	sent bool
}

// use is what is made of a captured node.
type use uint8

const (
	defines use = iota
	refers
	binds
	isBody
	isMembers
	isOwn
	isWhole
	isRequire
	isPackage
	isImportPath
	isImportName
	isFrom
)

// span is a captured node: the bytes from start up to end.
type span struct{ start, end uint32 }

func (s span) of(text string) string { return text[s.start:s.end] }

// name is a captured name.
type name struct {
	span
	role
	pattern uint16
	whole   uint32 // where the definition begins
	from    span   // what the reference is taken from; empty if from nothing
}

// captured is all that the query has found in one file.
type captured struct {
	text               string
	language           Language
	definitions, rest  []name
	body, members, own []span
	of                 string            // the package
	imports            map[string]string // the packages' own names by those that they go by
}

// addImport notes an imported package by the name that it goes by in the file.
func (c *captured) addImport(path, alias string) {
	if c.imports == nil {
		c.imports = map[string]string{}
	}
	own := packageName(strings.Trim(path, "`\""))
	switch {
	case alias == "":
		c.imports[own] = own
	case alias != "_" && alias != ".":
		c.imports[alias] = own
	}
}

// packageName guesses what a Go package calls itself from its import path: the last element that is no major version,
// without what is customary around it.
func packageName(path string) string {
	dir, base, _ := lastCut(path, "/")
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" && dir != "" {
		_, base, _ = lastCut(dir, "/")
	}
	base, _, _ = strings.Cut(base, ".v")
	return strings.TrimSuffix(strings.TrimPrefix(base, "go-"), "-go")
}

// lastCut is [strings.Cut] at the last place; without one, before is empty.
func lastCut(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

// tags reads the captures.
func (c *captured) tags() *Tags {
	t := new(Tags)
	c.settleDefinitions()
	lines := lineReader{text: c.text}
	for _, d := range c.definitions {
		line, text := lines.at(d.span, d.whole)
		t.Definitions = append(t.Definitions, Definition{
			Name: norm.NFC.String(d.of(c.text)),
			Line: line,
			Kind: d.kind,
			Own:  c.isOwn(d.start),
			Text: text,
		})
	}
	t.References, t.Package = c.references(), c.of
	return t
}

// settleDefinitions leaves one definition a node, that of the first pattern, in the order of the file, and drops what is
// none: see [captured.isNone].
func (c *captured) settleDefinitions() {
	c.body, c.members, c.own = outermost(c.body), outermost(c.members), outermost(c.own)
	slices.SortFunc(c.definitions, func(a, b name) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.pattern, b.pattern))
	})
	c.definitions = slices.CompactFunc(c.definitions, func(a, b name) bool { return a.start == b.start })
	kept := c.definitions[:0]
	for _, d := range c.definitions {
		switch {
		case d.kind == FunctionKind && within(c.body, d.start):
			d.role = role{use: binds} // oftener a variable than a function: "Timer t(p);"
			c.rest = append(c.rest, d)
		case !c.isNone(d):
			kept = append(kept, d)
		}
	}
	c.definitions = kept
}

// isNone tells what only looks like a definition: a constructor, whose name is its class's, and a name that all share.
func (c *captured) isNone(d name) bool {
	switch n := d.of(c.text); {
	case n == "_", n == "constructor" && d.kind == MethodKind:
		return true
	case d.kind == FunctionKind:
		return within(c.members, d.start)
	case d.kind == MethodKind:
		return strings.HasSuffix(c.text[:d.start], n+"::")
	}
	return false
}

// isOwn says whether a definition begins in what is marked own. What a class marks so is shared by its objects, and not
// hidden from other files.
func (c *captured) isOwn(at uint32) bool { return within(c.own, at) && !within(c.members, at) }

// references counts the names that are referred to. A node counts once, however many patterns it matches.
func (c *captured) references() []Reference {
	local := c.locals()
	slices.SortFunc(c.rest, func(a, b name) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.pattern, b.pattern)) })
	type place struct{ name, from string }
	at := make(map[place]int, len(c.rest)/4)
	var found []Reference
	next, counted := 0, ^uint32(0)
	for _, r := range c.rest {
		for next < len(c.definitions) && c.definitions[next].start < r.start {
			next++
		}
		isDefinition := next < len(c.definitions) && c.definitions[next].start == r.start
		if r.use != refers || r.start == counted || isDefinition {
			continue
		}
		from, ok := c.refersTo(r, local)
		if !ok {
			continue
		}
		counted = r.start
		p := place{r.of(c.text), from}
		i, ok := at[p]
		if !ok {
			i = len(found)
			at[p] = i
			found = append(found, Reference{Name: norm.NFC.String(p.name), Package: from})
		}
		found[i].Count++
	}
	return found
}

// refersTo says whether a name refers to something outside the language and the function it stands in, and to what
// package if that is known. A name that the file binds locally, wherever in the file, does not: that is crude, and takes
// the i, err and self of this world off the map.
func (c *captured) refersTo(r name, local map[string]struct{}) (from string, ok bool) {
	if r.from != (span{}) {
		if pkg := c.imports[r.from.of(c.text)]; pkg != "" {
			return pkg, true
		}
	}
	n := r.of(c.text)
	if n == "_" {
		return "", false
	}
	if r.capital && !beginsWithCapital(n) || isBuiltIn(c.language, n) || r.sent && isBuiltInMethod(c.language, n) {
		return "", false
	}
	_, bound := local[n]
	return "", !bound || !r.boundary
}

// locals are the names that the file binds where they are no definitions.
func (c *captured) locals() map[string]struct{} {
	local := map[string]struct{}{}
	for _, b := range c.rest {
		if b.use == binds && !c.defines(b.start) {
			local[b.of(c.text)] = struct{}{}
		}
	}
	return local
}

func (c *captured) defines(at uint32) bool {
	_, ok := slices.BinarySearchFunc(c.definitions, at, func(d name, at uint32) int { return cmp.Compare(d.start, at) })
	return ok
}

// outermost are the spans that lie in no other, in the order of the file. Nodes of a tree are disjoint or nested.
func outermost(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	out := spans[:0]
	for _, s := range spans {
		if len(out) == 0 || s.start >= out[len(out)-1].end {
			out = append(out, s)
		}
	}
	return out
}

// within says whether a byte lies in one of the spans, which are disjoint and in order.
func within(spans []span, at uint32) bool {
	i, _ := slices.BinarySearchFunc(spans, at, func(s span, at uint32) int { return cmp.Compare(s.end, at+1) })
	return i < len(spans) && spans[i].start <= at
}

func beginsWithCapital(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}
