package search

import (
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A line that does not fit into the largest buffer is searched in parts by the automaton, which needs no more of a line
// than the next byte. What is kept of it is what can be shown.

// longLine is the one that is being searched.
type longLine struct {
	state    uint32
	length   int    // characters so far; no more are counted when they are too many to be shown
	head     []byte // its first characters, as many as can be shown
	before   []byte // its last characters, half as many, while nothing has matched
	window   []byte // what is shown when it has matched
	space    int    // characters that are still to come into it
	matched  bool
	hasFront bool // something is left out before the window
	hasRest  bool // and after it
}

// longLine searches the line at the beginning of the buffer, which is full and holds no line break. It gives up at what is
// not text, and when the context has ended.
func (c *scanner) longLine(rest io.Reader) (ok bool, err error) {
	l := longLine{state: c.theAutomaton().begin}
	for end := false; ; {
		raw := c.buf[c.start:c.end]
		size := bytes.IndexByte(raw, '\n') + 1
		isLast := size > 0 || end
		switch {
		case size == 0 && end:
			size = len(raw)
		case size == 0:
			size = safeEnd(raw)
		}
		text, ok := c.cleaner.clean(raw[:size])
		if !ok {
			return false, c.ctx.Err()
		}
		c.start += size
		c.feed(&l, bytes.TrimSuffix(text, []byte{'\n'}))
		if err := c.ctx.Err(); err != nil {
			return false, err
		}
		if isLast {
			c.finish(&l)
			return true, nil
		}
		if end, err = c.fill(rest); err != nil || c.binary {
			return false, err
		}
	}
}

// safeEnd returns a place in b, not its beginning, at which it can be cut and both parts cleaned on their own: before an
// ASCII character, which joins nothing before it (but a \r may join what comes), or else where the normal form of what
// comes before is settled. In a part without any, as nobody writes, it is the last character.
func safeEnd(b []byte) int {
	for i := len(b) - 1; i > 0; i-- {
		if b[i] < utf8.RuneSelf {
			return i
		}
	}
	if i := norm.NFC.LastBoundary(b); i > 0 {
		return i
	}
	for i := len(b) - 1; i > 0; i-- {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	return len(b)
}

// feed searches the next part of a line.
func (c *scanner) feed(l *longLine, text []byte) {
	if l.length <= maxShown {
		l.head = append(l.head, text[:forward(text, 0, maxShown-l.length)]...)
		l.length += utf8.RuneCount(text[:forward(text, 0, maxShown+1-l.length)])
	}
	if l.matched {
		l.show(text)
		return
	}
	if l.state == stopped {
		return
	}
	var end int
	if l.state, end = c.runPart(l.state, text); end < 0 {
		l.remember(text)
		return
	}
	l.remember(text[:end])
	l.open()
	l.show(text[end:])
}

// remember keeps the last characters.
func (l *longLine) remember(text []byte) {
	from := back(text, len(text), maxShown/2)
	l.before = append(l.before, text[from:]...)
	cut := back(l.before, len(l.before), maxShown/2)
	l.hasFront = l.hasFront || from > 0 || cut > 0
	l.before = append(l.before[:0], l.before[cut:]...)
}

// open begins the window, at the end of a match.
func (l *longLine) open() {
	l.matched, l.window = true, l.before
	l.space = maxShown - utf8.RuneCount(l.before)
}

// show takes what still fits into the window.
func (l *longLine) show(text []byte) {
	n := forward(text, 0, l.space)
	l.space -= utf8.RuneCount(text[:n])
	l.window = append(l.window, text[:n]...)
	l.hasRest = l.hasRest || n < len(text)
}

// finish ends a line.
func (c *scanner) finish(l *longLine) {
	if !l.matched && l.state != stopped && c.theAutomaton().matchesAtEnd(l.state) {
		l.open()
	}
	line := Line{Number: c.number, Text: cut(l.head, false, l.length > maxShown), Match: l.matched}
	if l.matched && l.length > maxShown {
		line.Text = cut(l.window, l.hasFront, l.hasRest)
	}
	c.number++
	c.found.take(line)
	c.waitForTurn()
}
