package compat

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"
)

// A window is some lines of a file that may be far larger than memory. The file is read once, in pieces, and to its end,
// since what was shown counts as read only with the token of the whole; no more is kept than may be shown.

const (
	// maxLine is how many characters of a line are shown.
	maxLine = 2000
	// maxTokens bounds an answer, a token counted as four bytes.
	maxTokens = 25_000
	// defaultLines is how many lines are shown when nothing else is said.
	defaultLines = 2000
	// binaryHead is how many bytes at the start of a file must be free of NUL for it to be text.
	binaryHead = 8192
	// piece is how many bytes are read at a time.
	piece = 64 << 10
)

// window collects the lines from first to last, counted from 1.
type window struct {
	first, last int64
	line        int64 // that the next byte belongs to
	current     []byte
	chars       int // in current, at most one more than maxLine

	any  bool   // the file has a byte
	out  []byte // the lines that are shown, with their numbers
	size int64  // bytes of the lines without their numbers, with the line ends between them
}

func newWindow(first, limit int64) *window {
	first = max(first, 1)
	last := first + limit - 1
	if last < first {
		last = int64(^uint64(0) >> 1) // The sum is too large for an integer.
	}
	return &window{first: first, last: last, line: 1}
}

// read reads all of r, the bytes of a file behind its byte order mark, as UTF-8. It fails with [errNotText], or as r does.
func (w *window) read(r io.Reader) error {
	buf := make([]byte, piece)
	kept := 0 // bytes of an unfinished character, at the start of buf
	for {
		n, err := r.Read(buf[kept:])
		b := buf[:kept+n]
		whole := len(b) - unfinished(b)
		if err != nil {
			whole = len(b)
		}
		if !utf8.Valid(b[:whole]) {
			return errNotText
		}
		w.add(b[:whole])
		switch {
		case errors.Is(err, io.EOF):
			w.end(nil)
			return nil
		case err != nil:
			return err
		}
		kept = copy(buf, b[whole:])
	}
}

// unfinished is how many bytes at the end of b are the beginning of a character.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// add takes in the next whole characters.
func (w *window) add(b []byte) {
	w.any = w.any || len(b) > 0
	for len(b) > 0 {
		switch {
		case w.line > w.last:
			w.line += int64(bytes.Count(b, []byte("\n")))
			return
		case w.line < w.first:
			b = w.skip(b)
			continue
		}
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			w.keep(b)
			return
		}
		w.keep(b[:i])
		w.end([]byte("\r"))
		w.line++
		b = b[i+1:]
	}
}

// skip passes over lines before the window.
func (w *window) skip(b []byte) []byte {
	if n := int64(bytes.Count(b, []byte("\n"))); w.line+n < w.first {
		w.line += n
		return nil
	}
	for w.line < w.first {
		b = b[bytes.IndexByte(b, '\n')+1:]
		w.line++
	}
	return b
}

// keep appends to the current line as much as can be shown, and one character more: it may be the \r of the line's end.
func (w *window) keep(b []byte) {
	for len(b) > 0 && w.chars <= maxLine {
		_, n := utf8.DecodeRune(b)
		w.current = append(w.current, b[:n]...)
		w.chars++
		b = b[n:]
	}
}

// end ends the current line, if it is of the window. Tail is taken off it when it ends so.
func (w *window) end(tail []byte) {
	if w.line < w.first || w.line > w.last {
		return
	}
	line := w.current
	if len(tail) > 0 && bytes.HasSuffix(line, tail) {
		line = line[:len(line)-len(tail)]
		w.chars--
	}
	if w.chars > maxLine {
		_, n := utf8.DecodeLastRune(line)
		line = line[:len(line)-n]
	}
	if w.line > w.first {
		w.size++
	}
	w.size += int64(len(line))
	if w.tokens() <= maxTokens {
		if w.line > w.first {
			w.out = append(w.out, '\n')
		}
		w.out = strconv.AppendInt(w.out, w.line, 10)
		w.out = append(append(w.out, '\t'), line...)
	}
	w.current, w.chars = w.current[:0], 0
}

// tokens counts those of what is shown.
func (w *window) tokens() int64 { return (w.size + 3) / 4 }
