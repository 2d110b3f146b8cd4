package console

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/peterh/liner"
)

// open begins to read lines: with an editor for them where the person sits at this process's own terminal, since that is
// the only one the editor knows.
func (c *console) open(ctx context.Context) *pump {
	if c.person && c.In == os.Stdin && c.Out == os.Stdout && !c.JSON && isTerminal(c.Out) && liner.TerminalSupported() {
		e := newEditor()
		e.state.SetWordCompleter(func(line string, pos int) (string, []string, string) { return c.complete(ctx, line, pos) })
		return newPump(e)
	}
	p := newPump(newScript(c.In))
	if c.person {
		p.prompts, p.interrupts = c.talk.out, c.interrupts
	}
	return p
}

// editor gives lines that are typed at a terminal. What was typed before is kept in memory alone.
type editor struct{ state *liner.State }

func newEditor() *editor {
	e := &editor{liner.NewLiner()}
	e.state.SetCtrlCAborts(true)
	e.state.SetTabCompletionStyle(liner.TabPrints)
	return e
}

func (e *editor) close() { e.state.Close() }

func (e *editor) next(asked string) (string, error) {
	line, err := e.state.Prompt(asked)
	switch {
	case err == nil && asked == prompt && strings.TrimSpace(line) != "": // And no answer to a question.
		e.state.AppendHistory(line)
	case errors.Is(err, liner.ErrPromptAborted):
		return "", errInterrupted
	case errors.Is(err, io.EOF):
		os.Stdout.WriteString("\n") // The shell's prompt would stand behind ours.
		return "", io.EOF
	}
	return line, err
}
