package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// maxLine bounds a line, and the text behind a <<WORD, in bytes (D27).
const maxLine = 64 << 20

// errInterrupted says that the person has dropped a line with Ctrl-C.
var errInterrupted = errors.New("interrupted")

// source gives lines, without their ends. It fails with [io.EOF] at their end, with an [unreadable] for a line that is
// passed over, of which it gives at least the end, and with [errInterrupted].
type source interface {
	next(prompt string) (string, error)
	close()
}

// pump reads from a source without being held up by it: a read cannot be cancelled, so one that nobody waits for any more
// goes on, and what it gives is for whoever asks next.
type pump struct {
	source     source
	prompts    io.Writer        // where the source does not write them; may be nil
	interrupts <-chan os.Signal // that drop the line; nil where the source sees to that
	line       int              // the number of the last line

	ask     chan string
	got     chan reply
	pending bool
}

type reply struct {
	line string
	err  error
}

func newPump(s source) *pump {
	p := &pump{source: s, ask: make(chan string), got: make(chan reply, 1)}
	go func() {
		for prompt := range p.ask {
			line, err := s.next(prompt)
			p.got <- reply{line, err}
		}
	}()
	return p
}

// next returns the next line.
func (p *pump) next(ctx context.Context, prompt string) (string, error) {
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if p.prompts != nil {
		fmt.Fprint(p.prompts, prompt)
	}
	if !p.pending {
		p.ask <- prompt
		p.pending = true
	}
	select {
	case r := <-p.got:
		p.pending = false
		if r.err == nil || errors.As(r.err, new(unreadable)) {
			p.line++
		}
		return r.line, r.err
	case <-p.interrupts:
		if p.prompts != nil {
			fmt.Fprintln(p.prompts)
		}
		return "", errInterrupted
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (p *pump) close() {
	close(p.ask)
	p.source.close()
}

// script gives the lines of a reader.
type script struct {
	in    *bufio.Reader
	begun bool
}

func newScript(in io.Reader) *script { return &script{in: bufio.NewReaderSize(in, 64<<10)} }

func (s *script) close() {}

func (s *script) next(string) (string, error) {
	line, err := s.whole()
	if err != nil {
		return line, err
	}
	if !s.begun {
		line = strings.TrimPrefix(line, "\ufeff") // Some editors put it there.
		s.begun = true
	}
	if !utf8.ValidString(line) {
		return line, unreadablef("the line is not valid UTF-8")
	}
	return line, nil
}

// maxEnd is how much is kept of the end of a line that is too long, in bytes: what may name the end of a text.
const maxEnd = 200

// whole reads a line to its end, and keeps no more of it than is allowed. The last one may have no end. Of one that is too
// long, it returns the end beside the error.
func (s *script) whole() (string, error) {
	var line []byte
	tooLong := false
	for {
		piece, err := s.in.ReadSlice('\n')
		piece = bytes.TrimSuffix(piece, []byte("\n"))
		if tooLong = tooLong || len(line)+len(piece) > maxLine; tooLong {
			line = bytes.Clone(line[max(0, len(line)-maxEnd):])
		}
		line = append(line, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0):
			return "", err
		case tooLong:
			return string(line), unreadablef("the line is longer than 64 MiB and was passed over")
		}
		return string(line), nil
	}
}
