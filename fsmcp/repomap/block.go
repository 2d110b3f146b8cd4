package repomap

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// gap stands between two printed lines that are not neighbours in the file.
const gap = "⋮"

// block is a file on the map: its path, and the lines of its best definitions.
type block struct {
	file  int
	title string
	best  []printed // the best definition first, one a line of the file
	sizes []int     // of the block with its best 1, 2, … lines, in characters
}

// printed is a line of a definition.
type printed struct {
	line int
	text string
}

// candidate is a definition with what decides about its place.
type candidate struct {
	definition
	queried bool
	score   float64 // rounded
	inner   uint32  // references within the file itself
}

// better orders definitions: those that the query names, then by what other files' references are worth, by references
// within the file, by kind (so that a class stands for a file that nobody refers to), and by line.
func better(a, b candidate) int {
	if a.queried != b.queried {
		if a.queried {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(b.score, a.score),
		cmp.Compare(b.inner, a.inner),
		cmp.Compare(a.kind, b.kind),
		cmp.Compare(a.line, b.line),
		cmp.Compare(a.at, b.at),
	)
}

// chooser finds the best definitions of files. Its lists serve one file after the other.
type chooser struct {
	*drawing
	inner []uint32 // references within a file, a number a name, all zero between two files
	list  []candidate
}

// candidates are a file's definitions, in the order of the file. They are good until the next call.
func (c *chooser) candidates(f int) []candidate {
	e := c.files[f].entry
	for _, r := range e.references {
		if c.graph.canMean(r, int32(f)) {
			c.inner[r.name] += r.count
		}
	}
	c.list = c.list[:0]
	for _, def := range e.definitions {
		one := candidate{definition: def, inner: c.inner[def.name], queried: c.match != nil && c.match[def.name]}
		if !def.own || isHeader(c.files[f].path) {
			// What differs by less is noise of adding.
			one.score = math.Round(c.graph.scoreOf(f, def.name) * 1e9)
		}
		c.list = append(c.list, one)
	}
	for _, r := range e.references {
		c.inner[r.name] = 0
	}
	return c.list
}

// best is the best of a file's definitions.
func (c *chooser) best(f int) definition {
	definitions := c.files[f].definitions
	known := &c.graph.best[f]
	if c.match == nil && *known > 0 {
		return definitions[*known-1]
	}
	list := c.candidates(f)
	best := 0
	for i := range list {
		if better(list[i], list[best]) < 0 {
			best = i
		}
	}
	if c.match == nil {
		*known = int32(best) + 1
	}
	return definitions[best]
}

// small makes the block of a file with its best line alone.
func (c *chooser) small(f int) block {
	d := c.best(f)
	b := block{file: f, title: title(c.files[f].path), best: []printed{{int(d.line), c.files[f].line(d)}}}
	b.measure()
	return b
}

// full makes the block of a file with all its lines.
func (c *chooser) full(f int) block {
	list := c.candidates(f)
	slices.SortFunc(list, better)
	b := block{file: f, title: title(c.files[f].path), best: make([]printed, 0, len(list))}
	seen := make(map[uint32]bool, len(list))
	for _, d := range list {
		if !seen[d.line] {
			seen[d.line] = true
			b.best = append(b.best, printed{int(d.line), c.files[f].line(d.definition)})
		}
	}
	b.measure()
	return b
}

// title is a path as a map shows it: one that would not stay on its line is quoted and escaped.
func title(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
	}) {
		return strconv.Quote(path)
	}
	return path
}

// measure works out how long the block is with each number of lines. Each line adds itself, and a gap unless it closes
// up with a neighbour.
func (b *block) measure() {
	size := utf8.RuneCountInString(b.title) + len(":\n") + len("\n")
	in := make(map[int]bool, len(b.best))
	b.sizes = make([]int, len(b.best))
	for i, p := range b.best {
		size += len(number(p.line)) + utf8.RuneCountInString(p.text) + len("\n")
		gaps := 1
		if i == 0 {
			gaps = 0
		}
		if in[p.line-1] {
			gaps--
		}
		if in[p.line+1] {
			gaps--
		}
		in[p.line] = true
		size += gaps * len("x\n")
		b.sizes[i] = size
	}
}

// size is the length of the block with its best k lines, or all if there are fewer, in characters.
func (b *block) size(k int) int { return b.sizes[min(k, len(b.sizes))-1] }

// write prints the block with its best k lines.
func (b *block) write(out *strings.Builder, k int) {
	out.WriteString(b.title)
	out.WriteString(":\n")
	lines := slices.Clone(b.best[:min(k, len(b.best))])
	slices.SortFunc(lines, func(a, b printed) int { return cmp.Compare(a.line, b.line) })
	for i, p := range lines {
		if i > 0 && p.line != lines[i-1].line+1 {
			out.WriteString(gap + "\n")
		}
		out.WriteString(number(p.line))
		out.WriteString(p.text)
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
}

// number is a line's number as it stands before the line.
func number(line int) string {
	n := strconv.Itoa(line)
	return strings.Repeat(" ", max(0, 4-len(n))) + n + ": "
}
