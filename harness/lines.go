package harness

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// maxLine bounds one message of a client, in bytes without its line break. The whole content of a file comes in one (D27).
const maxLine = 64 << 20

// readBuffer is how much is read at a time. It is what a pipe holds on Linux.
const readBuffer = 64 << 10

// lines reads what a client sends, a message a line. A line that is too long is passed over without being kept, so that
// its length costs time and no memory. It is for one goroutine.
type lines struct {
	in    *bufio.Reader
	limit int
	err   error // of the last read, to be returned when what came before it is used up
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{in: bufio.NewReaderSize(r, readBuffer), limit: limit}
}

// next returns the next line that is not blank, without the white space and the byte order mark around it. The caller
// owns it. For a line that is too long it returns nil and no error. The error is [io.EOF] after the last line, which
// needs no line break.
func (l *lines) next() ([]byte, error) {
	for l.err == nil {
		line, long := l.read()
		if long {
			return nil, nil
		}
		line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\ufeff"))
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
	return nil, l.err
}

// read reads up to a line break, and reports whether there was more than the limit allows.
func (l *lines) read() (line []byte, long bool) {
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(bytes.TrimSuffix(part, []byte("\n"))) > l.limit {
			line, long = nil, true
		}
		if !long {
			if len(line) > 0 {
				line = slices.Grow(line, max(len(line), len(part))) // Doubling copies a long line once, not a dozen times.
			}
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.err = err
		return line, long
	}
}
