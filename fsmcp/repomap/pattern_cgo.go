//go:build cgo

package repomap

import (
	"fmt"
	"slices"
	"strings"
)

// The queries are written in a part of the language that tree-sitter has for that, and matched by a walk of our own
// (walk.c). A pattern is a node with some of its children:
//
//	(symbol field: child child !field) @name    "token"    [child child]    (_)
//
// A dot before the first child, or after the last, binds that to its end of the parent's named children. Of the children
// of a node but one may have no field: the pattern has to be a path, with branches that are found by their fields.

// pattern is a node of a query.
type pattern struct {
	symbol   string // "_" for any that is named
	token    bool   // the symbol is a text, as "static"
	field    string // of its parent
	names    []string
	first    bool
	last     bool
	absent   bool // there is no such field
	children []*pattern
	choices  []*pattern // any of them, in place of a symbol
}

// parsePatterns reads the text of a query.
func parsePatterns(text string) ([]*pattern, error) {
	p := patternParser{words: patternWords(text)}
	var all []*pattern
	for len(p.words) > 0 {
		one, err := p.node()
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// patternWords splits a query into its words; each bracket is one. Comments reach from a semicolon to the line's end.
func patternWords(text string) []string {
	var spaced strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, ";")
		for _, r := range line {
			if strings.ContainsRune("()[]", r) {
				spaced.WriteString(" " + string(r) + " ")
			} else {
				spaced.WriteRune(r)
			}
		}
		spaced.WriteByte('\n')
	}
	return strings.Fields(spaced.String())
}

type patternParser struct{ words []string }

func (p *patternParser) next() string {
	if len(p.words) == 0 {
		return ""
	}
	word := p.words[0]
	p.words = p.words[1:]
	return word
}

// node reads a node, and the names that stand after it.
func (p *patternParser) node() (*pattern, error) {
	n := new(pattern)
	var err error
	switch word := p.next(); {
	case word == "(":
		n.symbol = p.next()
		err = p.children(n, ")", &n.children)
	case word == "[":
		err = p.children(n, "]", &n.choices)
	case len(word) > 2 && word[0] == '"':
		n.symbol, n.token = strings.Trim(word, `"`), true
	default:
		return nil, fmt.Errorf("a query has %q where a node begins", word)
	}
	for err == nil && len(p.words) > 0 && p.words[0][0] == '@' {
		n.names = append(n.names, p.next()[1:])
	}
	return n, err
}

// children reads nodes up to a bracket.
func (p *patternParser) children(of *pattern, end string, into *[]*pattern) error {
	first, field := false, ""
	for len(p.words) > 0 {
		switch word := p.words[0]; {
		case word == end:
			p.next()
			return nil
		case word == ".":
			p.next()
			if first = len(*into) == 0; !first {
				(*into)[len(*into)-1].last = true
			}
		case word[0] == '!':
			*into = append(*into, &pattern{field: p.next()[1:], absent: true})
		case strings.HasSuffix(word, ":"):
			field = strings.TrimSuffix(p.next(), ":")
		default:
			child, err := p.node()
			if err != nil {
				return err
			}
			child.field, child.first = field, first
			first, field = false, ""
			*into = append(*into, child)
		}
	}
	return fmt.Errorf("a query ends within (%s", of.symbol)
}

// expand gives the patterns that a pattern with choices stands for.
func (p *pattern) expand() []*pattern {
	if p.choices != nil {
		var all []*pattern
		for _, c := range p.choices {
			for _, one := range c.expand() {
				one.field, one.first, one.last = p.field, p.first, p.last
				one.names = slices.Concat(one.names, p.names)
				all = append(all, one)
			}
		}
		return all
	}
	plain := *p
	plain.children = nil
	all := []*pattern{&plain}
	for _, child := range p.children {
		var more []*pattern
		for _, c := range child.expand() {
			for _, one := range all {
				with := *one
				with.children = append(slices.Clone(one.children), c)
				more = append(more, &with)
			}
		}
		all = more
	}
	return all
}

// trunk is the child through which the path goes: the one that names something for which the pattern is there, else the
// last.
func (p *pattern) trunk() *pattern {
	var trunk *pattern
	for _, c := range p.children {
		if c.absent {
			continue
		}
		if trunk = c; c.hasRole() {
			break
		}
	}
	return trunk
}

// hasRole says whether a definition, a reference or a local name is captured.
func (p *pattern) hasRole() bool {
	return slices.ContainsFunc(p.names, func(n string) bool { return n == "l" || strings.HasPrefix(n, "d.") || strings.HasPrefix(n, "r.") }) ||
		slices.ContainsFunc(p.children, (*pattern).hasRole)
}
