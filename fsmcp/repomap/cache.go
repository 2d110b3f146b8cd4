package repomap

import (
	"slices"
	"strings"
)

// cache holds what has been parsed, by path. An entry is good for as long as the file's size and modification time are
// what they were. It is not bounded, but loses what has vanished: see [cache.prune].
type cache struct {
	names  *names
	files  map[string]*entry
	roomy  int // from how many names on it is worth looking for those that nobody uses
	unkept int // bytes of source parsed and not yet in the store
}

// entry is what is known of one version of a file.
type entry struct {
	modTime int64 // nanoseconds since 1970
	size    int64 // bytes
	key     key
	skipped bool // the file is left out, for what is in it
	parsed  bool // the file has been parsed, and was not found in the store

	definitions []definition // in the order of the file
	references  []reference  // in the order of their first appearance
	modules     []nameID     // that a Raku file uses
	of          nameID       // the package that the file belongs to
	text        string       // the lines of the definitions
	printable   int          // how many different lines define something
}

// definition is a [Definition] in sixteen bytes.
type definition struct {
	name nameID
	line uint32
	at   uint32 // of the line in the entry's text
	size uint16 // of the line, in bytes: at most four for each of maxLine characters, and an ellipsis
	kind Kind
	own  bool
}

// reference is a [Reference] in twelve.
type reference struct {
	name  nameID
	from  nameID // the package; the empty name if that is not known
	count uint32
}

// line is what a definition's line says.
func (e *entry) line(d definition) string { return e.text[d.at:][:d.size] }

// minRoomy is how many names are never worth numbering anew.
const minRoomy = 1 << 16

func newCache() *cache {
	return &cache{names: newNames(), files: map[string]*entry{}, roomy: minRoomy}
}

// lookup is the entry of a file as it is now, or nil.
func (c *cache) lookup(s source) *entry {
	e := c.files[s.path]
	if e == nil || e.modTime != s.info.ModTime || e.size != s.info.Size {
		return nil
	}
	return e
}

// put remembers what a file says; without tags it is left out of maps.
func (c *cache) put(path string, modTime, size int64, k key, t *Tags) *entry {
	e := &entry{modTime: modTime, size: size, key: k, skipped: t == nil}
	if t != nil {
		c.fill(e, t)
	}
	c.files[path] = e
	return e
}

func (c *cache) fill(e *entry, t *Tags) {
	e.definitions = make([]definition, 0, len(t.Definitions))
	highest := 0
	size := 0
	for i, d := range t.Definitions {
		if i == 0 || t.Definitions[i-1].Text != d.Text {
			size += len(d.Text)
		}
	}
	var text strings.Builder
	text.Grow(size)
	for i, d := range t.Definitions {
		at := text.Len()
		if i > 0 && t.Definitions[i-1].Text == d.Text {
			at -= len(d.Text)
		} else {
			text.WriteString(d.Text)
		}
		// Lines go up, but for definitions that begin above their names.
		if d.Line > highest || !slices.ContainsFunc(t.Definitions[:i], func(o Definition) bool { return o.Line == d.Line }) {
			e.printable++
		}
		highest = max(highest, d.Line)
		e.definitions = append(e.definitions, definition{
			name: c.names.id(d.Name), line: uint32(d.Line), at: uint32(at), size: uint16(len(d.Text)), kind: d.Kind, own: d.Own,
		})
	}
	e.text = text.String()
	e.references = make([]reference, 0, len(t.References))
	for _, r := range t.References {
		e.references = append(e.references, reference{c.names.id(r.Name), c.names.id(r.Package), uint32(r.Count)})
	}
	e.of = c.names.id(t.Package)
	for _, m := range t.Modules {
		e.modules = append(e.modules, c.names.id(m))
	}
}

// tags is what put was given.
func (c *cache) tags(e *entry) *Tags {
	if e.skipped {
		return nil
	}
	t := &Tags{Package: c.names.of[e.of]}
	for _, d := range e.definitions {
		t.Definitions = append(t.Definitions, Definition{
			Name: c.names.of[d.name], Line: int(d.line), Kind: d.kind, Own: d.own, Text: e.line(d),
		})
	}
	for _, r := range e.references {
		t.References = append(t.References, Reference{c.names.of[r.name], c.names.of[r.from], int(r.count)})
	}
	for _, m := range e.modules {
		t.Modules = append(t.Modules, c.names.of[m])
	}
	return t
}

// prune drops the entries of files that are no longer there, within a survey that has seen everything: else a long
// session would keep every name that a file ever had. One that has not seen everything prunes only a cache that has
// grown far beyond what one map takes.
func (c *cache) prune(s survey) {
	if s.stopped != "" && len(c.files) < 4*maxFiles {
		return
	}
	if len(c.files) > len(s.sources) || s.stopped != "" {
		for path := range c.files {
			if strings.HasPrefix(path, s.within) && !s.has(path) {
				delete(c.files, path)
			}
		}
	}
	c.renumber()
}

func (s *survey) has(path string) bool {
	_, ok := slices.BinarySearchFunc(s.sources, path, func(f source, path string) int { return strings.Compare(f.path, path) })
	return ok
}

// renumber gives up the names that no entry uses any more, once in a while.
func (c *cache) renumber() {
	if len(c.names.of) < c.roomy {
		return
	}
	was := c.names.of
	c.names = newNames()
	moved := make([]nameID, len(was))
	for i := range moved {
		moved[i] = ^nameID(0)
	}
	move := func(id *nameID) {
		if moved[*id] == ^nameID(0) {
			moved[*id] = c.names.id(was[*id])
		}
		*id = moved[*id]
	}
	for _, e := range c.files {
		for i := range e.definitions {
			move(&e.definitions[i].name)
		}
		for i := range e.references {
			move(&e.references[i].name)
			move(&e.references[i].from)
		}
		for i := range e.modules {
			move(&e.modules[i])
		}
		move(&e.of)
	}
	c.roomy = max(minRoomy, 2*len(c.names.of))
}
