package search

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Where a pattern has no literal of use, what it matches may still have a shape: seven digits, or five capitals, an
// underscore and four digits. A shape of n bytes is looked for by the byte at its end (Horspool's way): one that cannot stand
// in it spares the next n, so that most bytes of a text are never looked at.

const (
	// longestShape bounds a shape, in bytes. A longer one is no rarer, and spares little more.
	longestShape = 16
	// leastSkip is how many bytes a look has to spare on the average: one takes about as long as two bytes take the automaton.
	leastSkip = 3
)

// row is some bytes one after the other: for each place, which can stand there.
type row []byteSet

// byteSet is a set of bytes.
type byteSet struct {
	bits  [256 / 64]uint64
	share float64 // of the bytes of a text, as expected
}

func (s *byteSet) add(c byte) {
	if !s.has(c) {
		s.bits[c/64] |= 1 << (c % 64)
		s.share += expected(c) / 1e6
	}
}

func (s *byteSet) has(c byte) bool { return s.bits[c/64]>>(c%64)&1 != 0 }

// outline is what is known of the bytes of all that an expression matches.
type outline struct {
	whole       bool // all of them are first, and last
	first, last row  // with what they begin, and end
	run         bool // they are one kind of byte, as often as you like; last is that
	best        row  // the one within to look for
}

// shapeOf returns the shape of a simplified expression, or nil when there is none of use. It is for text in its normal form.
func shapeOf(re *syntax.Regexp) *shape {
	s := newShape(outlineOf(re).best)
	if s.skips < leastSkip {
		return nil
	}
	return s
}

func outlineOf(re *syntax.Regexp) outline {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return whole(nil)
	case syntax.OpLiteral:
		all := whole(nil)
		for _, r := range re.Rune {
			all = all.then(outlineOfRune(r, re.Flags&syntax.FoldCase != 0))
		}
		return all
	case syntax.OpCharClass:
		return outlineOfClass(re.Rune)
	case syntax.OpCapture:
		return outlineOf(re.Sub[0])
	case syntax.OpPlus:
		o := outlineOf(re.Sub[0])
		o.run = o.whole && len(o.last) == 1
		o.whole = false
		return o
	case syntax.OpConcat:
		all := whole(nil)
		for _, sub := range re.Sub {
			all = all.then(outlineOf(sub))
		}
		return all
	}
	return outline{}
}

func whole(r row) outline { return outline{whole: true, first: r, last: r, best: r} }

// outlineOfRune is the outline of a character: its bytes, or both cases of a letter that has no other form.
func outlineOfRune(r rune, fold bool) outline {
	if fold && unicode.SimpleFold(r) != r {
		return outlineOfClass(taken(&syntax.Inst{Op: syntax.InstRune, Rune: []rune{r}, Arg: uint32(syntax.FoldCase)}))
	}
	var all row
	for _, c := range []byte(string(r)) {
		var s byteSet
		s.add(c)
		all = append(all, s)
	}
	return whole(all)
}

// outlineOfClass is the outline of a class of ASCII characters. Others have more bytes than one.
func outlineOfClass(ranges []rune) outline {
	var s byteSet
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1] >= utf8.RuneSelf {
			return outline{}
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if r != '\n' { // No line holds one.
				s.add(byte(r))
			}
		}
	}
	return whole(row{s})
}

// then is the outline of what o is of with what p is of behind it.
func (o outline) then(p outline) outline {
	joint := slices.Concat(o.last, p.first)
	all := outline{whole: o.whole && p.whole && len(joint) <= longestShape, first: o.first, last: p.last}
	if o.whole {
		all.first = joint[:min(len(joint), longestShape)]
	}
	switch {
	case p.whole:
		all.last = joint.end()
	case p.run:
		n := len(o.last)
		for n > 0 && o.last[n-1] == p.last[0] {
			n--
		}
		all.last = append(slices.Clone(o.last[n:]), p.last...).end() // "AAA" and "A+" end with "AAAA".
	}
	all.best = better(better(o.best, p.best), joint.end())
	return all
}

func (r row) end() row { return r[max(0, len(r)-longestShape):] }

// better is the one of two rows of which a look can be expected to spare more.
func better(a, b row) row {
	if b.skips() > a.skips() {
		return b
	}
	return a
}

// skips is about how many bytes a look spares: for each number, how likely it is that the byte stands in none of so many
// places at the row's end.
func (r row) skips() float64 {
	sum, free := 0.0, 1.0
	for i := len(r) - 1; i >= 0 && free > 0; i-- {
		if i == len(r)-1 || r[i] != r[i+1] {
			free -= r[i].share
		}
		sum += max(0, free)
	}
	return sum
}

// shape is a row that can be looked for. It does not change, and may be used from several goroutines.
type shape struct {
	row   row
	skip  [256]uint8 // how far to go on from a byte at the row's end; 0 if it can stand there
	again [256]uint8 // the same from one that can stand there, when others do not
	skips float64    // what a look at a byte spares on the average
}

func newShape(r row) *shape {
	s := &shape{row: r}
	for c := range 256 {
		n := len(r)
		for i := range r {
			if i < len(r)-1 && r[i].has(byte(c)) {
				n = len(r) - 1 - i
			}
		}
		s.skip[c], s.again[c] = uint8(n), uint8(n)
		if len(r) > 0 && r[len(r)-1].has(byte(c)) {
			s.skip[c] = 0
		}
		s.skips += float64(s.skip[c]) * expected(byte(c)) / 1e6
	}
	return s
}

// find returns where the row starts and ends that stands first in b at or after from, or -1; and about how many bytes it has
// looked at in vain. It gives up where that is more than patience, and returns the place as end: in a text of digits, any may
// be the last of a row of which the rest is never there.
func (s *shape) find(b []byte, from, patience int) (start, end, spent int) {
	for i := from + len(s.row) - 1; i < len(b); {
		if n := s.skip[b[i]]; n > 0 {
			i += int(n)
			continue
		}
		start := i + 1 - len(s.row)
		bad := s.mismatch(b[start:i])
		if bad < 0 {
			return start, i + 1, spent
		}
		if spent += (i + 2 - start - bad) / 2; spent > patience { // A byte takes half as long as in the automaton.
			return -1, i, spent
		}
		// Past the byte that does not fit, as far as where it does.
		past := bad - len(s.row) + 1 + int(s.skip[b[start+bad]])
		i += max(past, int(s.again[b[i]]))
	}
	return -1, -1, spent
}

// mismatch returns the last place at which b cannot be the row, whose own last place it is without; or -1.
func (s *shape) mismatch(b []byte) int {
	i := len(b) - 1
	for i >= 0 && s.row[i].has(b[i]) {
		i--
	}
	return i
}
