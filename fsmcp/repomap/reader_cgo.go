//go:build cgo

package repomap

/*
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
	// parseMemory is what one reading may hold, in bytes: six times what a megabyte of ordinary source takes. Two hostile
	// files read side by side then leave a gigabyte unreached.
	parseMemory = 256 << 20
	// maxBroken is how many children an unreadable file may have: what has so many is of another language.
	maxBroken = 5000
)

// errOvertime means that reading a file has been given up after a time. That says as much about the machine as about
// the file, so it is not remembered.
var errOvertime = errors.New("gave up in time")

// limits are how long the two steps of reading a file may take, by the wall clock; each is the usual one if zero.
type limits struct{ parse, query time.Duration }

// parsers are what a reader has in C, once there is something to parse.
type parsers struct {
	limits limits
	c      *C.lf_reader
}

// close gives it back. The reader is not used afterwards.
func (p *parsers) close() {
	if p.c != nil {
		C.lf_reader_delete(p.c)
		p.c = nil
	}
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
	list, err := r.find(l, q, text)
	if err != nil {
		return nil, err
	}
	return collect(l, q, text, list).tags(), nil
}

// find gives what a query captures in a text, which is not empty. It lies in C, until the next call.
func (p *parsers) find(l Language, q *query, text string) ([]C.lf_capture, error) {
	if p.c == nil {
		p.c = C.lf_reader_new()
	}
	limits := C.lf_limits{
		parse_micros: C.uint64_t(cmp.Or(p.limits.parse, parseTime).Microseconds()),
		query_micros: C.uint64_t(cmp.Or(p.limits.query, queryTime).Microseconds()),
		memory:       parseMemory,
		broken:       maxBroken,
	}
	found := C.lf_read(p.c, q.table, q.paths, chars(text), C.uint32_t(len(text)), &limits)
	switch found.end {
	case C.LF_PARSE_TIME, C.LF_QUERY_TIME:
		return nil, errOvertime
	case C.LF_MEMORY, C.LF_BROKEN:
		return nil, errSkipped
	case C.LF_VERSION:
		return nil, fmt.Errorf("the grammar of %s is of another version than the parser", l)
	}
	return unsafe.Slice(found.list, found.count), nil
}

// collect takes the captures over from C, match by match.
func collect(l Language, q *query, text string, list []C.lf_capture) *captured {
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
