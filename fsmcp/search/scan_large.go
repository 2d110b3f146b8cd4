package search

import (
	"bytes"
	"io"
	"unicode/utf8"

	"lookfirst/fsmcp/confine"
)

// A file that does not fit into the buffer is looked at for literals first, and then searched in pieces of whole lines.

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
	text, ok := c.cleaner.clean(raw)
	if ok {
		c.lines(text, 0)
	}
	return ok
}
