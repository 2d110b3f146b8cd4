//go:build cgo

package repomap

/*
#include <stdlib.h>
#include "treesitter.h"
*/
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"time"
	"unsafe"
)

const (
	// parseTime and queryTime are by the wall clock, which is what tree-sitter has. On a busy machine a harmless file of
	// a megabyte has taken more than two seconds.
	parseTime = 5 * time.Second
	queryTime = 2 * time.Second
	// parseMemory is what one parse may hold, in bytes: six times what a megabyte of ordinary source takes. Two hostile
	// files parsed side by side then leave a gigabyte unreached.
	parseMemory = 256 << 20
	// maxBroken is how many children an unreadable file may have: a query takes their number squared.
	maxBroken = 5000
)

// errOvertime means that reading a file has been given up after a time. That says as much about the machine as about
// the file, so it is not remembered.
var errOvertime = errors.New("gave up in time")

// limits are how long the two steps of reading a file may take, by the wall clock; each is the usual one if zero.
type limits struct{ parse, query time.Duration }

// parsers are a reader's own objects in C.
type parsers struct {
	limits   limits
	of       [languages]*C.TSParser
	cursor   *C.TSQueryCursor
	captures C.lf_captures
}

// close gives the objects back. The reader is not used afterwards.
func (p *parsers) close() {
	for _, parser := range p.of {
		if parser != nil {
			C.ts_parser_delete(parser)
		}
	}
	if p.cursor != nil {
		C.ts_query_cursor_delete(p.cursor)
	}
	C.free(unsafe.Pointer(p.captures.list))
	*p = parsers{}
}

// parser is the one for a language, made at its first file.
func (p *parsers) parser(l Language, table *C.TSLanguage) (*C.TSParser, error) {
	if p.cursor == nil {
		p.cursor = C.ts_query_cursor_new()
	}
	if p.of[l] == nil {
		parser := C.ts_parser_new()
		if !C.ts_parser_set_language(parser, table) {
			C.ts_parser_delete(parser)
			return nil, fmt.Errorf("the grammar of %s is of another version than the parser", l)
		}
		p.of[l] = parser
	}
	return p.of[l], nil
}

// parse reads a text with the language's grammar.
func (r *reader) parse(l Language, text string) (*Tags, error) {
	if text == "" {
		return new(Tags), nil
	}
	q, err := r.grammars.query(l)
	if err != nil {
		return nil, err
	}
	parser, err := r.parser(l, q.table)
	if err != nil {
		return nil, err
	}
	limits := C.lf_limits{
		parse_micros: C.uint64_t(cmp.Or(r.limits.parse, parseTime).Microseconds()),
		query_micros: C.uint64_t(cmp.Or(r.limits.query, queryTime).Microseconds()),
		memory:       parseMemory,
		broken:       maxBroken,
	}
	// The parser keeps the pointer, and does not look at it again before it is given the next one.
	bytes := (*C.char)(unsafe.Pointer(unsafe.StringData(text)))
	switch C.lf_read(parser, r.cursor, q.c, bytes, C.uint32_t(len(text)), &limits, &r.captures) {
	case C.LF_PARSE_TIME, C.LF_QUERY_TIME:
		return nil, errOvertime
	case C.LF_MEMORY, C.LF_BROKEN:
		return nil, errSkipped
	}
	return r.collect(l, q, text).tags(), nil
}

// collect takes the captures over from C, match by match.
func (r *reader) collect(l Language, q *query, text string) *captured {
	list := unsafe.Slice(r.captures.list, r.captures.count)
	c := &captured{text: text, language: l}
	var roles []role
	var spans []span
	for i, one := range list {
		roles = append(roles, q.roles[one.name])
		spans = append(spans, span{uint32(one.start), uint32(one.end)})
		if i+1 == len(list) || list[i+1].match != one.match {
			c.add(uint16(one.pattern), roles, spans)
			roles, spans = roles[:0], spans[:0]
		}
	}
	return c
}
