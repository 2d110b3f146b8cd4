package search

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"

	"lookfirst/fsmcp/confine"
)

const (
	// firstRead is how many bytes of a file are read before it is known to be text, and the whole of nearly every file.
	// It fits into a processor's second cache.
	firstRead = 256 << 10
	// largestBuffer bounds the buffer of a worker, of which there are up to eight. A longer line is searched in parts.
	largestBuffer = 2 << 20
)

// scanner searches one file after the other, with buffers that it keeps. It is used by one goroutine.
type scanner struct {
	*search
	ctx       context.Context
	sizes     sizes
	stored    *seeker // nil if any file may match
	cleaned   *seeker // nil if any line may match
	automaton *automaton

	// Of the cleaned texts in which literals were looked for, and of the lines that had one in vain.
	searched, wasted int

	most int // matches that are still of use

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
	c := &scanner{search: s, ctx: ctx, sizes: s.sizes, most: s.Max, buf: make([]byte, s.sizes.first)}
	if s.pattern.stored != nil {
		c.stored = newSeeker(s.pattern.stored)
	}
	if s.pattern.cleaned != nil {
		c.cleaned = newSeeker(s.pattern.cleaned)
	}
	return c
}

// scanSeen searches a file that the walk has just seen. One that cannot be read has nothing to add.
func (c *scanner) scanSeen(dir *confine.Dir, name string) []Line {
	n, rest, err := dir.ReadSeen(name, c.buf[:c.sizes.first])
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
	text, ok := clean(raw)
	if !ok {
		return nil
	}
	if !c.pattern.same || len(text) != len(raw) || &text[0] != &raw[0] {
		from = 0
	}
	c.lines(text, from)
	return c.found.lines
}

// scanLarge searches a file of which the first n bytes fill the buffer. Most hold none of the literals, and are looked at
// for those alone.
func (c *scanner) scanLarge(n int, rest *confine.File) ([]Line, error) {
	c.begin(n)
	if c.binary {
		return nil, nil
	}
	if c.stored != nil || c.pattern.beyond {
		if found, isFirst, err := c.isCandidate(rest); err != nil || !found {
			return nil, err
		} else if !isFirst {
			if err := rest.Rewind(); err != nil {
				return nil, err
			}
			if n, err = io.ReadFull(rest, c.buf); err != nil && err != io.ErrUnexpectedEOF {
				return nil, err
			}
			c.begin(n)
		}
	}
	return c.scanPieces(rest)
}

// mayMatch says whether bytes of a file, in whatever normal form, can be of one that matches.
func (c *scanner) mayMatch(raw []byte) bool {
	if c.pattern.beyond {
		return !isASCII(raw)
	}
	return c.stored.in(raw)
}

// isCandidate looks in a file, of which the beginning is in the buffer, for what must be in one that matches. isFirst says
// that it is there already; else the buffer is overwritten.
func (c *scanner) isCandidate(rest io.Reader) (found, isFirst bool, err error) {
	if c.mayMatch(c.buf[:c.end]) {
		return true, true, nil
	}
	keep := 0 // What could be the beginning of a literal.
	if !c.pattern.beyond {
		c.resize(2 * c.stored.longest())
		keep = min(c.stored.longest()-1, c.end)
	}
	for {
		if err := c.ctx.Err(); err != nil {
			return false, false, err
		}
		copy(c.buf, c.buf[c.end-keep:c.end])
		n, err := io.ReadFull(rest, c.buf[keep:])
		c.end = keep + n
		switch {
		case n == 0:
			return false, false, ignoreEnd(err)
		case c.mayMatch(c.buf[:c.end]):
			return true, false, nil
		case err != nil:
			return false, false, ignoreEnd(err)
		}
	}
}

func ignoreEnd(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// resize makes the buffer at least so large, and keeps what is in it.
func (c *scanner) resize(size int) {
	if size > len(c.buf) {
		old := c.buf
		c.buf = make([]byte, size)
		copy(c.buf, old[:c.end])
	}
}

// scanPieces searches a file in pieces of whole lines. It gives up at what is not text: a file is text as a whole or not
// at all.
func (c *scanner) scanPieces(rest io.Reader) ([]Line, error) {
	for {
		known := c.end - c.start // Where no line ends.
		end, err := c.fill(rest)
		if err != nil || c.binary {
			return nil, err
		}
		if err := c.ctx.Err(); err != nil {
			return nil, err
		}
		size := c.end - c.start
		if !end {
			if size = bytes.LastIndexByte(c.buf[known:c.end], '\n') + 1; size > 0 {
				size += known
			}
		}
		switch {
		case size > 0 || end:
			if !c.piece(c.buf[c.start : c.start+size]) {
				return nil, nil
			}
			c.start += size
		case len(c.buf) >= c.sizes.largest:
			if ok, err := c.longLine(rest); !ok {
				return nil, err
			}
		}
		if end {
			return c.found.lines, nil
		}
	}
}

// fill reads until the buffer is full. Should it be so already, it becomes larger, up to its largest size.
func (c *scanner) fill(rest io.Reader) (end bool, err error) {
	size := len(c.buf)
	if c.end-c.start == size {
		size = min(2*size, c.sizes.largest)
	}
	old := c.buf
	if size > len(old) {
		c.buf = make([]byte, size)
	}
	c.end = copy(c.buf, old[c.start:c.end])
	c.start = 0
	for c.end < len(c.buf) {
		n, err := rest.Read(c.buf[c.end:])
		c.took(n)
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// piece searches some whole lines of a larger file. It reports whether they are text.
func (c *scanner) piece(raw []byte) bool {
	if c.found.isFull() {
		return utf8.Valid(raw)
	}
	text, ok := clean(raw)
	if ok {
		c.lines(text, 0)
	}
	return ok
}
