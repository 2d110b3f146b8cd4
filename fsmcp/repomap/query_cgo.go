//go:build cgo

package repomap

/*
#include <stdlib.h>
#include "treesitter.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"
)

// query is a compiled query, and what each of its captures means.
type query struct {
	table *C.TSLanguage
	paths *C.lf_paths
	names []string // of captures
	roles []role
}

// compile compiles the query of a language.
func compile(l Language) (*query, error) {
	text, err := queryText(l)
	if err != nil {
		return nil, err
	}
	return compileQuery(l, text)
}

// compileQuery makes the paths of a query's patterns.
func compileQuery(l Language, text string) (*query, error) {
	patterns, err := parsePatterns(text)
	if err != nil {
		return nil, fmt.Errorf("query for %s: %w", l, err)
	}
	c := compiler{table: (*C.TSLanguage)(tableOf(l))}
	for i, p := range patterns {
		for _, one := range p.expand() {
			if err := c.add(one, i); err != nil {
				return nil, fmt.Errorf("query for %s: %w", l, err)
			}
		}
	}
	q := &query{table: c.table, names: c.names}
	for _, name := range c.names {
		r, err := roleOf(name)
		if err != nil {
			return nil, fmt.Errorf("query for %s: %w", l, err)
		}
		q.roles = append(q.roles, r)
	}
	q.paths = C.lf_paths_new(c.table, unsafe.SliceData(c.steps), C.uint32_t(len(c.steps)),
		unsafe.SliceData(c.branches), C.uint32_t(len(c.branches)), unsafe.SliceData(c.paths), C.uint32_t(len(c.paths)))
	// The paths are given back with the grammars that hold them; readers hold those.
	runtime.AddCleanup(q, func(p *C.lf_paths) { C.free(unsafe.Pointer(p)) }, q.paths)
	return q, nil
}

// compiler collects the paths of one language.
type compiler struct {
	table    *C.TSLanguage
	steps    []C.lf_step
	branches []C.lf_branch
	paths    []C.lf_path
	names    []string
}

// add adds the path of a pattern without choices. Its steps go from the inside out.
func (c *compiler) add(p *pattern, number int) error {
	var trunk []*pattern
	for n := p; n != nil; n = n.trunk() {
		trunk = append(trunk, n)
	}
	slices.Reverse(trunk)
	path := C.lf_path{
		step: C.uint16_t(len(c.steps)), steps: C.uint16_t(len(trunk)), branch: C.uint16_t(len(c.branches)), pattern: C.uint16_t(number),
	}
	for i, n := range trunk {
		step := C.lf_step{place: C.LF_ANYWHERE}
		var err error
		if step.symbol, step.field, step.name, err = c.numbers(n); err != nil {
			return err
		}
		switch {
		case step.symbol == 0:
			return fmt.Errorf("a path goes through any node")
		case n.first && n.last:
			return fmt.Errorf("(%s) has a dot on either side", n.symbol)
		case n.first:
			step.place = C.LF_FIRST
		case n.last:
			step.place = C.LF_LAST
		}
		c.steps = append(c.steps, step)
		for _, child := range n.children {
			if i == 0 || child != trunk[i-1] {
				if err := c.branch(child, i, int(path.branch)); err != nil {
					return err
				}
			}
		}
	}
	path.branches = C.uint16_t(len(c.branches)) - path.branch
	if path.branches > C.LF_BRANCHES {
		return fmt.Errorf("a pattern has more than %d branches", C.LF_BRANCHES)
	}
	c.paths = append(c.paths, path)
	return nil
}

// branch adds a branch of a step, or of an earlier branch if of is negative, and its own.
func (c *compiler) branch(p *pattern, of, first int) error {
	if p.field == "" {
		return fmt.Errorf("a branch (%s) has no field", p.symbol)
	}
	if p.first || p.last {
		return fmt.Errorf("a branch (%s) has a dot beside it", p.symbol)
	}
	b := C.lf_branch{of: C.int16_t(of)}
	var err error
	if b.symbol, b.field, b.name, err = c.numbers(p); err != nil {
		return err
	}
	c.branches = append(c.branches, b)
	number := len(c.branches) - 1 - first
	for _, child := range p.children {
		if err := c.branch(child, ^number, first); err != nil {
			return err
		}
	}
	return nil
}

// numbers are those of a node's symbol, of its field, and of the name that it is captured by.
func (c *compiler) numbers(p *pattern) (symbol, field, name C.uint16_t, err error) {
	name = C.LF_NONE
	switch {
	case p.absent:
		symbol = C.LF_NONE
	case p.symbol != "_":
		if symbol = C.ts_language_symbol_for_name(c.table, chars(p.symbol), C.uint32_t(len(p.symbol)), C.bool(!p.token)); symbol == 0 || symbol == C.LF_NONE { // the number of an error, too
			return 0, 0, 0, fmt.Errorf("no symbol %q", p.symbol)
		}
	}
	if p.field != "" {
		if field = C.ts_language_field_id_for_name(c.table, chars(p.field), C.uint32_t(len(p.field))); field == 0 {
			return 0, 0, 0, fmt.Errorf("no field %q", p.field)
		}
	}
	if len(p.names) > 1 {
		return 0, 0, 0, fmt.Errorf("(%s) has %d names", p.symbol, len(p.names))
	}
	for _, n := range p.names {
		i := slices.Index(c.names, n)
		if i < 0 {
			i = len(c.names)
			c.names = append(c.names, n)
		}
		name = C.uint16_t(i)
	}
	return symbol, field, name, nil
}

// chars lends the bytes of a string to C.
func chars(s string) *C.char { return (*C.char)(unsafe.Pointer(unsafe.StringData(s))) }
