package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

// A window is some lines of a file that may be far larger than memory: the file is read once, in pieces, and no more is
// kept than the window and one piece.
//
// A line ends at \n or \r\n, which are not shown. A \r elsewhere is a character of its line, so that the numbers are
// those of grep and of editors. What follows the last line end is a line if it is not empty.

// MaxAnswer is the most text, in bytes, that a window has before its footer. // D27
const MaxAnswer = 8 << 20

// piece is how many bytes are read at a time. It must hold binaryHead.
const piece = 64 << 10

// Window is some neighbouring lines of a file, numbered from 1.
type Window struct {
	First, Last int64 // the lines that it holds; Last is below First when First is past the end
	Total       int64 // the lines of the whole file
	Next        int64 // the first line left out because the window was full, else 0
	text        []byte
}

// LongLineError says that the first line of a window is, alone, longer than [MaxAnswer].
type LongLineError struct {
	Line int64
}

func (e *LongLineError) Error() string {
	return fmt.Sprintf("line %d is too long to show; the limit is %d bytes", e.Line, MaxAnswer)
}

// ReadWindow reads r, the bytes of a file, to its end and returns the lines from offset on, limit of them or, if limit
// is 0, all. An offset below 1 is 1. Errors are r's own; one that is [ErrNotText], for the same reasons as in [Decode]
// wherever in the file they are; or a [*LongLineError], after which r has not been read to its end.
func ReadWindow(r io.Reader, offset, limit int64) (Window, error) {
	s := newLineScan(max(offset, 1), limit)
	buf := make([]byte, piece)
	kept, base := 0, int64(0) // bytes at the start of buf that were read before, and where in the file buf starts
	for end := false; !end; {
		n, err := fill(r, buf[kept:])
		if err != nil && !errors.Is(err, io.EOF) {
			return Window{}, fmt.Errorf("read a window: %w", err)
		}
		end = err != nil
		b := buf[:kept+n]
		if !end {
			b = b[:len(b)-unfinished(b)]
		}
		if err := s.piece(b, base); err != nil {
			return Window{}, err
		}
		base += int64(len(b))
		kept = copy(buf, buf[len(b):kept+n])
	}
	if err := s.end(); err != nil {
		return Window{}, err
	}
	return s.window, nil
}

// Answer is the window as a caller reads it: each line after its number and a tab, then a footer that says where the
// window is; or, past the end, one sentence. The name is the file's, as the caller wrote it.
func (w Window) Answer(name string) string {
	if w.Last < w.First {
		lines := "lines"
		if w.Total == 1 {
			lines = "line"
		}
		return fmt.Sprintf("'%s' has %d %s; offset %d is past the end", name, w.Total, lines, w.First)
	}
	rest := ""
	if w.Next > 0 {
		rest = fmt.Sprintf("; the answer is full, continue at offset %d", w.Next)
	}
	return fmt.Sprintf("%s\n[lines %d-%d of %d total%s]", w.text, w.First, w.Last, w.Total, rest)
}

// fill reads until b is full or r has no more. Unlike io.ReadFull it leaves the end of the file apart from an error
// that only looks like one, such as that of an archive cut short.
func fill(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = r.Read(b[n:])
		n += m
	}
	return n, err
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

// lineScan counts the lines of a file that comes in pieces, and keeps those of its window.
type lineScan struct {
	window  Window
	last    int64  // the last line that the window may have
	line    int64  // the line that the next byte belongs to
	begun   bool   // that line has a byte
	partial []byte // that line as far as it is known, if it is of the window
}

func newLineScan(offset, limit int64) *lineScan {
	last := int64(math.MaxInt64)
	if limit > 0 && limit <= last-offset {
		last = offset + limit - 1
	}
	return &lineScan{window: Window{First: offset, Last: offset - 1}, last: last, line: 1}
}

// piece takes in the next bytes of the file, whole characters that stand at offset base.
func (s *lineScan) piece(b []byte, base int64) error {
	if base == 0 {
		if err := checkHead(b); err != nil {
			return err
		}
	}
	if err := checkUTF8(b, base); err != nil {
		return err
	}
	if base == 0 {
		b = b[markLength(b):]
	}
	for len(b) > 0 {
		if s.line > s.last || s.window.Next > 0 {
			s.line += int64(bytes.Count(b, []byte("\n")))
			s.begun = b[len(b)-1] != '\n'
			return nil
		}
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		if err := s.add(line, ended); err != nil {
			return err
		}
		b = rest
	}
	return nil
}

// add takes in bytes of the current line, the last of them if ended.
func (s *lineScan) add(b []byte, ended bool) error {
	if s.line >= s.window.First {
		if len(s.partial)+len(b) > MaxAnswer {
			if err := s.full(); err != nil {
				return err
			}
		} else {
			s.partial = append(s.partial, b...)
		}
	}
	s.begun = true
	if !ended {
		return nil
	}
	s.partial = bytes.TrimSuffix(s.partial, []byte("\r"))
	return s.finish()
}

// finish ends the current line and puts it into the window if it belongs there.
func (s *lineScan) finish() error {
	err := s.keep()
	s.line++
	s.begun = false
	return err
}

func (s *lineScan) keep() error {
	if s.line < s.window.First || s.line > s.last || s.window.Next > 0 {
		return nil
	}
	line, _ := normalize(s.partial)
	s.partial = s.partial[:0]
	number := strconv.FormatInt(s.line, 10)
	if len(s.window.text)+len(number)+len("\t")+len(line)+len("\n") > MaxAnswer {
		return s.full()
	}
	s.window.text = append(s.window.text, number...)
	s.window.text = append(s.window.text, '\t')
	s.window.text = append(s.window.text, line...)
	s.window.text = append(s.window.text, '\n')
	s.window.Last = s.line
	return nil
}

// full closes the window before the current line, which is an error where the window has no other.
func (s *lineScan) full() error {
	if s.line == s.window.First {
		return &LongLineError{s.line}
	}
	s.window.Next = s.line
	s.partial = nil
	return nil
}

// end is called after the last piece.
func (s *lineScan) end() error {
	if s.begun {
		if err := s.finish(); err != nil {
			return err
		}
	}
	s.window.Total = s.line - 1
	return nil
}
