package repomap

import (
	"fmt"
	"sort"
	"strings"
)

// drawing is a map before it is fitted into a number of characters.
//
// The budget is spent on whole files. When not everything fits, every file loses its least referenced definitions first,
// down to one each; then the lowest files go, as whole blocks, so that nothing looks complete that is not.
type drawing struct {
	files   []file
	graph   *graph
	ranks   []float64
	order   []int // of files, the highest rank first
	match   []bool
	names   *names
	skipped int    // files that were not mapped
	stopped string // after what the survey ended early; empty otherwise
}

// draw ranks the files of a graph.
func draw(files []file, names *names, g *graph, steer steering) *drawing {
	d := &drawing{files: files, names: names, graph: g, match: steer.matching(files, names)}
	weights, about := steer.weights(files, d.match)
	d.ranks = d.graph.rank(weights)
	d.order = ranked(d.ranks, about)
	return d
}

// render is the map in at most limit characters.
func (d *drawing) render(limit int) string {
	s := d.counts()
	s.limit = limit
	c := &chooser{drawing: d, inner: make([]uint32, len(d.names.of))}
	best, fit := c.fitting(s)
	if !fit {
		return d.write(best, s, 1)
	}
	blocks := make([]block, len(best))
	most := 0
	for i, b := range best {
		blocks[i] = c.full(b.file)
		most = max(most, len(blocks[i].best))
	}
	// The largest number of lines a file with which the map is short enough: the size only grows with it.
	k := sort.Search(most, func(i int) bool { return d.size(blocks, s, i+1) > limit })
	return d.write(blocks, s, k)
}

// fitting makes the blocks of the highest files with their best lines alone, and says whether the map of all of them fits.
// Else it gives as many as do, a prefix that never skips one, so that a larger limit never loses a file; and it keeps
// room for the longest summary, so that the choice does not depend on the summary that it leads to.
func (c *chooser) fitting(s summary) (blocks []block, fit bool) {
	longest := s
	longest.shown, longest.left = s.definitions, s.blocks
	room := s.limit - len(longest.longest())
	fitting, size := -1, 0
	for _, f := range c.order {
		if len(c.files[f].definitions) == 0 {
			continue
		}
		b := c.small(f)
		size += b.size(1)
		if size > room && fitting < 0 {
			fitting = len(blocks)
		}
		if size > s.limit {
			return blocks[:fitting], false
		}
		blocks = append(blocks, b)
	}
	if c.size(blocks, s, 1) > s.limit {
		return blocks[:max(fitting, 0)], false
	}
	return blocks, true
}

// write prints blocks with at most k lines each, and the summary, which counts the blocks that are missing.
func (d *drawing) write(blocks []block, s summary, k int) string {
	var out strings.Builder
	s.shown, s.left = shownIn(blocks, k), s.blocks-len(blocks)
	for i := range blocks {
		blocks[i].write(&out, k)
	}
	out.WriteString(s.String())
	return out.String()
}

// size is how many characters the blocks and their summary take with at most k lines each.
func (d *drawing) size(blocks []block, s summary, k int) int {
	s.shown = shownIn(blocks, k)
	size := len(s.String())
	for i := range blocks {
		size += blocks[i].size(k)
	}
	return size
}

func shownIn(blocks []block, k int) int {
	n := 0
	for i := range blocks {
		n += min(k, len(blocks[i].best))
	}
	return n
}

// summary is the last line of every map. It is ASCII.
type summary struct {
	files, skipped     int
	definitions, shown int
	blocks, left       int // files with definitions, and those of them that are not shown
	limit              int
	stopped            string
}

func (d *drawing) counts() summary {
	s := summary{files: len(d.files), skipped: d.skipped, stopped: d.stopped}
	for _, f := range d.files {
		s.definitions += f.printable
		if f.printable > 0 {
			s.blocks++
		}
	}
	return s
}

func (s summary) String() string {
	if s.shown == s.definitions {
		return s.with(plural(s.definitions, "definition"))
	}
	return s.longest()
}

// longest is the summary as it is when some definitions are not shown.
func (s summary) longest() string {
	return s.with(fmt.Sprintf("%d of %s", s.shown, plural(s.definitions, "definition")))
}

func (s summary) with(definitions string) string {
	var out strings.Builder
	out.WriteString("[mapped " + plural(s.files, "file"))
	if s.skipped > 0 {
		fmt.Fprintf(&out, " (%d skipped: unsupported/binary/too-large)", s.skipped)
	}
	out.WriteString(", " + definitions)
	if s.left > 0 {
		fmt.Fprintf(&out, "; %s left out to fit %d characters", plural(s.left, "file"), s.limit)
	}
	if s.stopped != "" {
		out.WriteString("; stopped after " + s.stopped)
	}
	if !hasGrammars {
		out.WriteString("; built without a C compiler, so only Go and Raku are read")
	}
	out.WriteString("; ranked by references]")
	return out.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
