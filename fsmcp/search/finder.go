package search

import (
	"bytes"
	"slices"
)

// Literals are looked for by their rarest byte. bytes.Index keys on a literal's first byte, which in "spin_lock" is every
// thirtieth byte of a text; keyed on the rarest one, a search is as quick as memory is read, because IndexByte uses the
// processor's vectors. Where the rarest one is not rare, the two rarest are looked for together (sieve.go).

// literal is text to look for.
type literal struct {
	text string // not empty
	fold bool   // ASCII letters match in both cases; then text is in lower case
}

// strand is a byte to look for, with the literals that are there when it is. A literal whose rarest byte is a letter, of
// which both cases count, is in two strands: there is no IndexByte that is blind to case.
type strand struct {
	key   byte
	pair  *sieve  // if not nil, what is looked for instead, at the place of its first byte
	stops float64 // what the stops in a million bytes can be expected to cost, in stops of IndexByte
	ends  []end
	steps int // that it takes at most to see whether one of the ends is there
}

// end is a literal as it hangs on its strand.
type end struct {
	literal
	at     int // of the key in text
	second int // of the byte to compare first
}

// strands makes what a seeker looks for out of some literals.
func strands(set []literal) []strand {
	var list []strand
	for _, l := range set {
		e := l.end()
		keys := []byte{l.text[e.at]}
		if l.fold && isLetter(keys[0]) {
			keys = append(keys, keys[0]^0x20)
		}
		if s, ok := e.pair(passOfIndex * float64(len(keys))); ok {
			list = append(list, s)
			continue
		}
		for _, key := range keys {
			list = hang(list, key, e)
		}
	}
	return list
}

// pair makes a strand of a literal that is looked for by two bytes, if that is quicker than by one in some passes.
func (e end) pair(passes float64) (s strand, ok bool) {
	if len(e.text) == 1 {
		return strand{}, false
	}
	pair, stops := newSieve(e)
	if stops+passOfSieve >= e.count(e.at)+passes {
		return strand{}, false
	}
	e.at, e.second = min(e.at, e.second), max(e.at, e.second)
	return strand{pair: pair, stops: stops, ends: []end{e}, steps: e.steps()}, true
}

// end finds the two rarest bytes of a literal.
func (l literal) end() end {
	e := end{literal: l}
	for i := range len(l.text) {
		if l.count(i) < l.count(e.at) {
			e.at = i
		}
	}
	e.second = (e.at + 1) % len(l.text)
	for i := range len(l.text) {
		if i != e.at && l.count(i) < l.count(e.second) {
			e.second = i
		}
	}
	return e
}

func hang(list []strand, key byte, e end) []strand {
	i := slices.IndexFunc(list, func(s strand) bool { return s.pair == nil && s.key == key })
	if i < 0 {
		i = len(list)
		list = append(list, strand{key: key, stops: expected(key)})
	}
	list[i].ends = append(list[i].ends, e)
	list[i].steps += e.steps()
	return list
}

// steps is how many it takes at most to see whether the literal is there.
func (e *end) steps() int { return 1 + len(e.text)/8 }

// count is how many of a million bytes of a text can be expected to match the byte at i.
func (l literal) count(i int) float64 {
	c := l.text[i]
	if l.fold && isLetter(c) {
		return expected(c) + expected(c^0x20)
	}
	return expected(c)
}

// cost is what the stops in a million bytes of a text will cost, in vain or not, in stops of IndexByte.
func cost(set []strand) float64 {
	sum := 0.0
	for _, s := range set {
		sum += s.stops
	}
	return sum
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// find returns where the key of a literal stands that is in b at or after from, with the literal; or the length of b, also
// when the search has been cancelled.
func (s *strand) find(b []byte, from int, w *watch) (at int, found *end) {
	for i := from; i < len(b); i++ {
		if i = s.next(b, i); i < 0 || w.mustStop(s.steps) {
			break
		}
		for k := range s.ends {
			// Most stops are in vain, and end at the second byte that is looked at.
			e := &s.ends[k]
			start := i - e.at
			if start < from || start+len(e.text) > len(b) || !e.fold && b[start+e.second] != e.text[e.second] {
				continue
			}
			if e.stands(b[start : start+len(e.text)]) {
				return i, e
			}
		}
	}
	return len(b), nil
}

// next returns the next place at or after i at which a literal may be, or -1.
func (s *strand) next(b []byte, i int) int {
	if s.pair != nil {
		return s.pair.next(b, i)
	}
	if j := bytes.IndexByte(b[i:], s.key); j >= 0 {
		return i + j
	}
	return -1
}

// stands says whether b, which is as long, is the literal.
func (e *end) stands(b []byte) bool {
	if !e.fold {
		return string(b) == e.text
	}
	for i, c := range b {
		if c != e.text[i] && (c|0x20 != e.text[i] || !isLetter(c)) {
			return false
		}
	}
	return true
}

// seeker finds some literals in one text after the other. It remembers where each comes next, so that a rare one among
// frequent ones is looked for once. It is used by one goroutine.
type seeker struct {
	watch   *watch
	strands []strand
	next    []place // of each strand, if that is not before what is asked about
}

// place is where a literal is: its key, and where it starts and ends.
type place struct{ key, start, end int }

func newSeeker(set []strand, w *watch) *seeker {
	return &seeker{watch: w, strands: set, next: make([]place, len(set))}
}

// reset begins a new text.
func (k *seeker) reset() {
	for i := range k.next {
		k.next[i] = place{-1, -1, -1}
	}
}

// find returns where an occurrence at or after from starts and ends, or -1: one in the first line that holds any, and if
// there is only one literal, the first. Since reset, b must be the same and from must not fall.
func (k *seeker) find(b []byte, from int) (start, end int) {
	first := place{len(b), -1, -1}
	for i := range k.strands {
		if p := &k.next[i]; p.start < from && p.key < len(b) {
			*p = k.strands[i].place(b, from, k.watch)
		}
		if k.next[i].key < first.key {
			first = k.next[i]
		}
	}
	return first.start, first.end
}

func (s *strand) place(b []byte, from int, w *watch) place {
	at, e := s.find(b, from, w)
	if e == nil {
		return place{at, -1, -1}
	}
	return place{at, at - e.at, at - e.at + len(e.text)}
}

// in says whether one of the literals is in b.
func (k *seeker) in(b []byte) bool {
	for i := range k.strands {
		if _, e := k.strands[i].find(b, 0, k.watch); e != nil {
			return true
		}
	}
	return false
}

// longest is the length of the longest literal.
func (k *seeker) longest() int {
	n := 0
	for _, s := range k.strands {
		for _, e := range s.ends {
			n = max(n, len(e.text))
		}
	}
	return n
}
