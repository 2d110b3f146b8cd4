package search

import (
	"bytes"
	"slices"
)

// Literals are looked for by their rarest byte. bytes.Index keys on a literal's first byte, which in "spin_lock" is every
// thirtieth byte of a text; keyed on the rarest one, a search is as quick as memory is read, because IndexByte uses the
// processor's vectors.

// literal is text to look for.
type literal struct {
	text string // not empty
	fold bool   // ASCII letters match in both cases; then text is in lower case
}

// strand is a byte to look for, with the literals that are there when it is. A literal whose rarest byte is a letter, of
// which both cases count, is in two strands: there is no IndexByte that is blind to case.
type strand struct {
	key   byte
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
		key := l.text[e.at]
		list = hang(list, key, e)
		if l.fold && isLetter(key) {
			list = hang(list, key^0x20, e)
		}
	}
	return list
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
	i := slices.IndexFunc(list, func(s strand) bool { return s.key == key })
	if i < 0 {
		i = len(list)
		list = append(list, strand{key: key})
	}
	list[i].ends = append(list[i].ends, e)
	list[i].steps += 1 + len(e.text)/8
	return list
}

// count is how many of a million bytes of a text can be expected to match the byte at i.
func (l literal) count(i int) float64 {
	c := l.text[i]
	if l.fold && isLetter(c) {
		return expected(c) + expected(c^0x20)
	}
	return expected(c)
}

// cost is how many of a million bytes of a text will be stopped at in vain, or not.
func cost(set []strand) float64 {
	sum := 0.0
	for _, s := range set {
		sum += expected(s.key)
	}
	return sum
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// find returns where the key of a literal stands that is in b at or after from, with the literal; or the length of b, also
// when the search has been cancelled.
func (s *strand) find(b []byte, from int, w *watch) (at int, found *end) {
	for i := from; i < len(b); i++ {
		j := bytes.IndexByte(b[i:], s.key)
		if j < 0 || w.mustStop(s.steps) {
			break
		}
		i += j
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
