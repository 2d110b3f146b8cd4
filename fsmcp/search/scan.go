package search

import (
	"bytes"
	"context"
	"io"

	"lookfirst/fsmcp/confine"
)

const (
	// firstRead is how many bytes of a file are read before it is known to be text, and the whole of nearly every file.
	// It fits into a processor's second cache.
	firstRead = 256 << 10
	// largestBuffer bounds the buffer of a worker, and allBuffers those of all together, so that a search stays below 64 MB
	// with the normal forms of what is in them, eight automata, and the garbage. A line that does not fit is searched in
	// parts.
	largestBuffer, allBuffers = 2 << 20, 4 << 20
)

// scanner searches one file after the other, with buffers that it keeps. It is used by one goroutine.
type scanner struct {
	*search
	ctx       context.Context
	watch     *watch
	cleaner   cleaner
	sizes     sizes
	stored    *seeker // nil if any file may match
	cleaned   *seeker // of literals; nil if there are none, or they are not worth it any more
	shape     *shape  // what is looked for without them; nil in the same cases
	automaton *automaton

	// Bytes of the cleaned texts since what is looked for is what it is, and of those that were looked at in vain for it.
	searched, wasted int

	most int             // matches that are still of use
	turn <-chan struct{} // closed when what is found is waited for; nil if it is already
	held int             // bytes found in other files meanwhile

	// Of the file at hand:
	buf        []byte
	start, end int // what of buf is still to be searched
	seen       int // bytes of the file that were looked at for a NUL
	binary     bool
	number     int // of the line at start
	found      collector
}

// sizes are the sizes of buffers, in bytes. The answer does not depend on them.
type sizes struct{ first, largest int }

func newScanner(ctx context.Context, s *search) *scanner {
	w := &watch{ctx: ctx}
	c := &scanner{search: s, ctx: ctx, watch: w, cleaner: cleaner{watch: w}, sizes: s.sizes, most: s.Max}
	c.buf = make([]byte, s.sizes.first)
	if s.pattern.stored != nil {
		c.stored = newSeeker(s.pattern.stored, c.watch)
	}
	if s.pattern.cleaned != nil {
		c.cleaned = newSeeker(s.pattern.cleaned, c.watch)
	} else {
		c.shape = s.pattern.shape()
	}
	return c
}

// scanSeen searches a file that the walk has just seen. One that cannot be read has nothing to add.
func (c *scanner) scanSeen(dir *confine.Dir, name string) []Line {
	n, rest, err := dir.ReadSeen(name, c.buf[:c.sizes.first], &c.closings)
	switch {
	case err != nil:
		return nil
	case rest == nil:
		return c.scanWhole(n)
	}
	defer rest.Close()
	lines, err := c.scanLarge(n, rest)
	if err != nil {
		return nil
	}
	return lines
}

// scanOpen searches a file that has been opened.
func (c *scanner) scanOpen(f *confine.File) ([]Line, error) {
	n, err := io.ReadFull(f, c.buf[:c.sizes.first])
	switch err {
	case nil:
		return c.scanLarge(n, f)
	case io.EOF, io.ErrUnexpectedEOF:
		return c.scanWhole(n), nil
	}
	return nil, err
}

// begin starts on a file of which the first n bytes are in the buffer.
func (c *scanner) begin(n int) {
	c.start, c.end, c.seen, c.binary, c.number = 0, 0, 0, false, 1
	c.found.reset(c.Context, c.most)
	c.took(n)
	if bytes.HasPrefix(c.buf[:n], []byte(byteOrderMark)) {
		c.start = len(byteOrderMark)
	}
}

// took notes that n bytes more are in the buffer, and looks among the first of the file for a NUL.
func (c *scanner) took(n int) {
	if head := min(n, binaryHead-c.seen); head > 0 {
		c.binary = c.binary || bytes.IndexByte(c.buf[c.end:c.end+head], 0) >= 0
		c.seen += head
	}
	c.end += n
}

// scanWhole searches a file that is in the buffer as a whole. Most hold none of the literals and are done with then.
func (c *scanner) scanWhole(n int) []Line {
	c.begin(n)
	raw := c.buf[c.start:c.end]
	if c.binary || len(raw) == 0 {
		return nil
	}
	if c.pattern.beyond && isASCII(raw) {
		return nil
	}
	from := 0
	if c.stored != nil {
		c.stored.reset()
		if from, _ = c.stored.find(raw, 0); from < 0 {
			return nil
		}
	}
	text, ok := c.cleaner.clean(raw)
	if !ok {
		return nil
	}
	if !c.pattern.same || len(text) != len(raw) || &text[0] != &raw[0] {
		from = 0
	}
	c.lines(text, from)
	return c.found.lines
}
