package search

import (
	"regexp/syntax"
	"unicode/utf8"
)

// A line with a required literal is shown to the automaton as a whole, which in a bundle of a megabyte is much for a word.
// Where a match can be no longer than so many bytes, and holds the literal, it is enough to look around each of these.

const (
	// longCandidate is how long a line has to be for that, in bytes: finding the literals costs something too.
	longCandidate = 1 << 10
	// widest bounds how far around is looked, in bytes. Beyond it, a line is hardly spared.
	widest = 256
	// anyWidth says that there is no such bound.
	anyWidth = -1
)

// width is the most bytes that a match of a simplified expression has, or anyWidth.
func width(re *syntax.Regexp) int {
	n := 0
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune) * utf8.UTFMax
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		n = utf8.UTFMax
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		return anyWidth
	}
	for _, sub := range re.Sub {
		w := width(sub)
		switch {
		case w == anyWidth:
			return anyWidth
		case re.Op == syntax.OpAlternate:
			n = max(n, w)
		default:
			n += w
		}
	}
	if n > widest {
		return anyWidth
	}
	return n
}

// looksAround says whether it is enough to look around the required literals.
func (c *scanner) looksAround() bool {
	return c.pattern.width != anyWidth && c.cleaned != nil && c.cleaned.isOne()
}

// matchCandidate is [scanner.matchLine] for a line in which the first required literal stands at a place. It also returns
// how many bytes the automaton was shown.
func (c *scanner) matchCandidate(line []byte, at int) (end, shown int) {
	if len(line) < longCandidate || !c.looksAround() {
		return c.matchLine(line), len(line)
	}
	l := c.lookAround(c.theAutomaton().begin, line)
	end = l.literals(at)
	if end < 0 && l.pos == len(line) && l.matchesAtEnd(l.state) {
		end = len(line)
	}
	return end, l.shown
}

// runPart runs the automaton over a part of a line, as far as the first match. Where it can, it looks at the edges of the
// part, which a match may cross, and around the literals.
func (c *scanner) runPart(s uint32, text []byte) (to uint32, end int) {
	if !c.looksAround() {
		return c.theAutomaton().run(s, text, 0)
	}
	l := c.lookAround(s, text)
	if end = l.show(0, l.around); end >= 0 {
		return l.state, end
	}
	if end = l.literals(0); end >= 0 {
		return l.state, end
	}
	end = l.show(len(text)-l.around, len(text))
	return l.state, end
}

// look shows an automaton some places of a text, in their order.
type look struct {
	*automaton
	literal *strand
	around  int // bytes to show before a literal, and behind where it begins
	text    []byte
	pos     int // where the automaton is
	state   uint32
	shown   int // bytes
}

func (c *scanner) lookAround(s uint32, text []byte) *look {
	// That a word has ended shows in the character after it.
	return &look{automaton: c.theAutomaton(), literal: &c.cleaned.strands[0], around: c.pattern.width + utf8.UTFMax, text: text, state: s}
}

// literals shows what is around each literal at or after a place. It returns where a match ends, or -1.
func (l *look) literals(from int) (end int) {
	for {
		at := l.literal.place(l.text, from, l.watch).start
		if at < 0 {
			return -1
		}
		if end := l.show(at-l.around, at+l.around); end >= 0 || l.state == stopped {
			return end
		}
		from = at + 1
	}
}

// show shows what of a range has not been shown yet.
func (l *look) show(from, to int) (end int) {
	if to = min(to, len(l.text)); to <= l.pos || l.state == stopped {
		return -1
	}
	if from > l.pos {
		l.state, l.pos = l.idle, from // No match begins here: what a word is to the left of it does not matter.
	}
	l.shown += to - l.pos
	l.state, end = l.run(l.state, l.text[:to], l.pos)
	l.pos = to
	if l.state == stopped {
		return -1
	}
	return end
}

// isOne says whether there is one literal, whose places come in their order.
func (k *seeker) isOne() bool { return len(k.strands) == 1 && len(k.strands[0].ends) == 1 }
