package search

import "bytes"

// collector gathers what one file adds to an answer, line by line.
type collector struct {
	context int // lines to show before and after a match
	most    int // matches to collect; of one more, there is a line
	lines   []Line
	matches int
	matched int    // the number of the last line that matched
	size    int    // of all text, in bytes
	before  []Line // the last lines before the text at hand, for the context of a match in it
}

func (c *collector) reset(context, most int) {
	*c = collector{context: context, most: most, before: c.before[:0]}
}

// isFull says whether no further line can be of interest.
func (c *collector) isFull() bool { return c.matches > c.most || c.size > maxAnswer }

// last is the number of the last line collected.
func (c *collector) last() int {
	if len(c.lines) == 0 {
		return 0
	}
	return c.lines[len(c.lines)-1].Number
}

// wantsAfter says whether a line is context of the match before it.
func (c *collector) wantsAfter(number int) bool {
	return c.matched > 0 && number <= c.matched+c.context && !c.isFull()
}

func (c *collector) add(l Line) {
	c.lines = append(c.lines, l)
	c.size += len(l.Text)
}

// match takes a matching line of a text, which stands at text[start:end] and whose match ends at at. The lines of the text
// before it have been offered to passed.
func (c *collector) match(text []byte, start, end, at, number int) {
	if c.isOneMore() {
		c.add(Line{Number: number, Match: true})
		return
	}
	c.lead(text[:start], number)
	c.add(Line{Number: number, Text: shown(text[start:end], at-start), Match: true})
	c.matched = number
}

// isOneMore counts a match and says whether it is the one that is noted and not shown.
func (c *collector) isOneMore() bool {
	c.matches++
	return c.isFull()
}

// take takes a line that is not part of a larger text.
func (c *collector) take(l Line) {
	switch {
	case l.Match && c.isOneMore():
		c.add(l)
	case l.Match:
		c.lead(nil, l.Number)
		c.add(l)
		c.matched = l.Number
	case c.wantsAfter(l.Number):
		c.add(l)
	}
	if c.context > 0 {
		c.keepLines([]Line{{Number: l.Number, Text: l.Text}})
	}
}

// lead adds the context before a match in line number, where text is what precedes it.
func (c *collector) lead(text []byte, number int) {
	first := max(number-c.context, c.last()+1, 1)
	want := number - first
	if want <= 0 {
		return
	}
	list := lastLines(text, want, number)
	for _, l := range c.before {
		if l.Number >= first {
			c.add(l)
		}
	}
	for _, l := range list {
		c.add(l)
	}
}

// passed takes lines of text that do not match, of which the first has the given number: some may be context of the
// match before them.
func (c *collector) passed(text []byte, number int) {
	for len(text) > 0 && c.wantsAfter(number) {
		end := indexFrom(text, 0, '\n')
		c.add(Line{Number: number, Text: shown(text[:end], 0)})
		text = text[min(end+1, len(text)):]
		number++
	}
}

// keep remembers the end of a text that is about to go, as the context of what comes. number is the line after it.
func (c *collector) keep(text []byte, number int) {
	if c.context == 0 || c.isFull() {
		return
	}
	c.keepLines(lastLines(text, c.context, number))
}

func (c *collector) keepLines(list []Line) {
	c.before = append(c.before, list...)
	if over := len(c.before) - c.context; over > 0 {
		c.before = append(c.before[:0], c.before[over:]...)
	}
}

// lastLines returns up to n lines at the end of a text of whole lines, before the line with the given number.
func lastLines(text []byte, n, number int) []Line {
	list := make([]Line, 0, n)
	for len(text) > 0 && len(list) < n {
		end := len(text)
		if text[end-1] == '\n' {
			end--
		}
		start := bytes.LastIndexByte(text[:end], '\n') + 1
		number--
		list = append(list, Line{Number: number, Text: shown(text[start:end], 0)})
		text = text[:start]
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// indexFrom is where c stands next, or the length of b.
func indexFrom(b []byte, i int, c byte) int {
	if j := bytes.IndexByte(b[i:], c); j >= 0 {
		return i + j
	}
	return len(b)
}
