package search

import "bytes"

// lines searches a cleaned text, of which nothing before from matches.
func (c *scanner) lines(text []byte, from int) {
	c.searched += len(text)
	if c.cleaned != nil {
		c.cleaned.reset()
	}
	at, number := 0, c.number // what comes before at has been passed on
	for from < len(text) && !c.found.isFull() {
		start, end, matchEnd := c.next(text, from)
		if start < 0 {
			break
		}
		c.found.passed(text[at:start], number)
		number += bytes.Count(text[at:start], []byte{'\n'})
		c.found.match(text, start, end, matchEnd, number)
		c.waitForTurn()
		number++
		at = min(end+1, len(text))
		from = at
	}
	c.found.passed(text[at:], number)
	c.number = number + bytes.Count(text[at:], []byte{'\n'})
	c.found.keep(text, c.number)
}

// next returns where the first matching line at or after from starts and ends, and where its match ends; or -1. When it
// is called again for the same text, from is higher. It need not be where a line starts.
func (c *scanner) next(text []byte, from int) (start, end, matchEnd int) {
	for (c.cleaned != nil || c.shape != nil) && from < len(text) {
		at, after, ok := c.hint(text, from)
		switch {
		case !ok:
			from = after
			c.drop(len(text) - from)
			continue
		case at < 0:
			return -1, -1, -1
		}
		start, end = lineStart(text, at), indexFrom(text, after, '\n')
		if c.pattern.exact {
			return start, end, after
		}
		n, shown := c.matchCandidate(text[start:end], at-start)
		if n >= 0 {
			return start, end, start + n
		}
		from = min(end+1, len(text))
		if c.wasted += shown + aLook; c.patience() < 0 {
			c.drop(len(text) - from)
		}
	}
	if from >= len(text) {
		return -1, -1, -1
	}
	return c.nextByAutomaton(text, lineStart(text, from))
}

// hint returns where the first required literal or shape starts and ends that is in a line of text[from:], or -1. It is not ok
// if it has cost too much to look as far as end, before whose line there was none.
func (c *scanner) hint(text []byte, from int) (start, end int, ok bool) {
	if c.cleaned != nil {
		start, end = c.cleaned.find(text, from)
		return start, end, true
	}
	patience := c.patience()
	// from may be where a literal stands, and a shape may begin before it.
	start, end, spent := c.shape.find(text, lineStart(text, from), patience)
	c.wasted += spent
	return start, end, spent <= patience
}

const (
	// aLook is what a line costs apart from its bytes, in bytes.
	aLook = 64
	// enoughLines and enoughLooks are how many bytes may be wasted on lines that hold a literal, and on looking for a shape, before
	// it is judged. The second costs less, and a single table of numbers is no reason to do without it.
	enoughLines, enoughLooks = 64 << 10, 1 << 20
)

// patience is how many bytes more may be looked at in vain: a quarter of all.
func (c *scanner) patience() int {
	enough := enoughLooks
	if c.cleaned != nil {
		enough = enoughLines
	}
	return max(enough, c.searched/4) - c.wasted
}

// drop gives up looking for literals, for good, and for the shape after them: going over every byte is quicker than stopping
// at most lines. rest is what is left of the text.
func (c *scanner) drop(rest int) {
	if c.cleaned != nil {
		c.shape = c.pattern.shape()
	} else {
		c.shape = nil
	}
	c.cleaned, c.wasted, c.searched = nil, 0, rest
}

// matchLine returns where the first match of a line ends, or -1.
func (c *scanner) matchLine(line []byte) int {
	a := c.theAutomaton()
	s, end := a.run(a.begin, line, 0)
	if end < 0 && a.matchesAtEnd(s) {
		return len(line)
	}
	if s == stopped {
		return -1
	}
	return end
}

// nextByAutomaton is next without literals, from the start of a line.
func (c *scanner) nextByAutomaton(text []byte, from int) (start, end, matchEnd int) {
	a := c.theAutomaton()
	s, matchEnd := a.run(a.begin, text, from)
	switch {
	case s == stopped:
		return -1, -1, -1
	case matchEnd < 0 && text[len(text)-1] != '\n' && a.matchesAtEnd(s):
		matchEnd = len(text)
	case matchEnd < 0:
		return -1, -1, -1
	}
	return lineStart(text, matchEnd), indexFrom(text, matchEnd, '\n'), matchEnd
}

func (c *scanner) theAutomaton() *automaton {
	if c.automaton == nil {
		c.automaton = newAutomaton(c.pattern.program, c.watch)
	}
	return c.automaton
}

func lineStart(b []byte, at int) int { return bytes.LastIndexByte(b[:at], '\n') + 1 }
