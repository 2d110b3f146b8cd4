package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"lookfirst/harness"
)

// answer is what a line brought: the result of a call, what a command says, or why the line could not be read.
type answer struct {
	result  *harness.Result
	command string
	line    int
	text    string
	err     bool
}

func commanded(name, text string, err error) answer {
	if err != nil {
		return answer{command: name, text: err.Error(), err: true}
	}
	return answer{command: name, text: text}
}

func (a *answer) isError() bool { return a.err || a.result != nil && a.result.IsError }

// printer writes answers. An error of writing stays, and nothing is written after it.
type printer struct {
	out        io.Writer
	err        error
	json       bool
	isTerminal bool
	colour     bool
}

func newPrinter(out io.Writer, asJSON bool) *printer {
	p := &printer{out: out, json: asJSON, isTerminal: isTerminal(out)}
	kind := os.Getenv("TERM")
	p.colour = p.isTerminal && os.Getenv("NO_COLOR") == "" && kind != "" && kind != "dumb"
	return p
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// The colours, as a terminal is told of them.
const (
	red   = "\x1b[31m"
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
	plain = "\x1b[0m"
)

// write writes lines in a colour, if there is one and there are colours.
func (p *printer) write(colour, text string) {
	if p.err != nil {
		return
	}
	if p.isTerminal {
		text = visible(text)
	}
	text = strings.TrimSuffix(text, "\n")
	if p.colour && colour != "" {
		text = colour + text + plain
	}
	_, p.err = io.WriteString(p.out, text+"\n")
}

// note writes a line that is no answer.
func (p *printer) note(text string) { p.write("", text) }

func (p *printer) echo(line string) {
	if line != "" {
		line = "> " + line
	}
	p.write("", line)
}

func (p *printer) answer(a answer) {
	switch {
	case p.json:
		p.encode(a.encoded())
	case a.result != nil && a.result.IsError && a.result.Content == nothingChanged:
		p.note(nothingChanged)
	case a.result != nil && a.result.IsError:
		p.fault(a.result.Content)
	case a.result != nil:
		p.content(a.result)
	case a.err && a.command == "" && !p.isTerminal:
		p.fault(fmt.Sprintf("line %d: %s", a.line, a.text))
	case a.err:
		p.fault(a.text)
	case a.text != "":
		p.write("", a.text)
	}
}

// fault writes what went wrong: in red, or where that is not to be had, behind a word.
func (p *printer) fault(text string) {
	if !p.colour {
		text = "error: " + text
	}
	p.write(red, text)
}

// content writes what a call gave.
func (p *printer) content(r *harness.Result) {
	if len(r.Blocks) == 0 {
		p.write("", r.Content)
		return
	}
	for _, b := range r.Blocks {
		if b.IsText() {
			p.write("", b.Text)
		} else {
			p.note(fmt.Sprintf("[%s, %d bytes]", b.MediaType, len(b.Data)))
		}
	}
}

// maxShown is how many lines of a difference are shown.
const maxShown = 200

// difference writes a unified difference.
func (p *printer) difference(text string) {
	if p.err != nil {
		return
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if more := len(lines) - maxShown; more > 0 {
		lines = append(lines[:maxShown], fmt.Sprintf("… %d more lines", more))
	}
	for i, line := range lines {
		if p.isTerminal {
			line = visible(line)
		}
		if colour := colourOf(line); p.colour && colour != "" {
			line = colour + line + plain
		}
		lines[i] = line
	}
	_, p.err = io.WriteString(p.out, strings.Join(lines, "\n")+"\n")
}

func colourOf(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	case strings.HasPrefix(line, "@@"):
		return cyan
	}
	return ""
}

// encoded is an answer as JSON has it.
func (a *answer) encoded() any {
	switch {
	case a.result != nil:
		return a.result
	case a.command != "":
		return struct {
			Command string `json:"command"`
			Content string `json:"content"`
			IsError bool   `json:"is_error"`
		}{a.command, a.text, a.err}
	}
	return struct {
		Line    int    `json:"line"`
		Content string `json:"content"`
		IsError bool   `json:"is_error"`
	}{a.line, a.text, a.err}
}

func (p *printer) encode(v any) {
	if p.err != nil {
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if p.err = e.Encode(v); p.err == nil {
		_, p.err = p.out.Write(b.Bytes())
	}
}

// Log returns a writer for what is told of a console's tools beside its answers, as names and paths in errors are: on a
// terminal it is shown as answers are. Each write is a text of its own. It may be used as out may.
func Log(out io.Writer) io.Writer {
	if !isTerminal(out) {
		return out
	}
	return logged{out}
}

type logged struct{ out io.Writer }

func (l logged) Write(b []byte) (int, error) {
	if _, err := io.WriteString(l.out, visible(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// visible makes the control characters in a text visible, but for tabs and line ends: one of them can begin a command to
// the terminal, as to write a text of its own choice into the clipboard or the input. Those that turn the direction of
// what follows are among them, since a change could be shown as another by one.
func visible(text string) string {
	isControl := func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError ||
			r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	}
	if strings.IndexFunc(text, isControl) < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\r' && strings.HasPrefix(text[i+1:], "\n"): // A line end too.
		case r == utf8.RuneError && size == 1, r < 0x80 && isControl(r):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r != utf8.RuneError && isControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}
