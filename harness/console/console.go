// Package console lets a person, or a script, use the tools that an agent is given: each line is a command or a call, and
// gets one answer.
//
//	read README.md                              a tool, by its name or what stands behind its prefix, and its arguments
//	grep TODO --path=src --regex
//	write notes.md <<EOF                        and the lines up to EOF
//	call fs_read {"path":"README.md"}           a tool and its arguments as JSON
//	/tools                                      a command
//	! read ../secret                            a line of a script that is to fail
//
// At a terminal, lines can be edited, completed and had again, Ctrl-C cancels the call that is under way, and a change is
// shown before it is made, and made when the person says yes. A script, which is any input but a terminal, makes its
// changes without being asked.
//
// Invariant: a line gets its answer before the next is looked at, and what an answer holds is shown by the terminal and
// never obeyed by it: control characters in it are made visible.
//
// Not promised: that a change is made to just the text that was shown. Somebody else may write between the question and
// the answer; whether that is noticed is for the tools.
//
// Run may be called from several goroutines, but one terminal can only be used by one of them.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"lookfirst/harness"
)

// Options are what a console works with.
type Options struct {
	// Provider makes the calls, as a [harness.Host] or a layer over one.
	Provider harness.Provider
	// Preview is a second session over the same tools, of which only reading ones are called: to show what a change would
	// do, and to complete paths. Were it Provider, a file would count as read by a person who has seen nothing of it. If
	// nil, changes are shown as calls, and paths are not completed.
	Preview harness.Provider
	// Commands are what lines with a slash are looked up in, beside /help and /quit. It may be nil.
	Commands *harness.Commands
	// Serving says what is served. It is asked at the beginning and behind each command, since that may have changed it.
	Serving func() Serving

	// In are the lines. It is a terminal if it is a file that is one.
	In io.Reader
	// Out is where answers go, and at a terminal all else.
	Out io.Writer
	// Errors is where questions go that are no answers where Out is no terminal, and faults of the program.
	Errors io.Writer

	// JSON makes each answer a line of JSON, and nothing else is written to Out; see [Run].
	JSON bool
	// Yes has changes made without being asked at a terminal too.
	Yes bool
	// Echo writes each line of a script behind "> " before its answer, so that the two together are a transcript. With JSON
	// it does nothing.
	Echo bool
}

// Serving is what a console serves.
type Serving struct {
	// Prefixes are those that may be left out before the names of tools, in this order: with "fs", read is fs_read.
	Prefixes []string
	// Roots are a line each, for the greeting at a terminal: "'/srv/notes' for reading".
	Roots []string
}

// Run answers lines until the input ends, a line is quit, or ctx is done. Failed says that a line of a script could not be
// read, or its command or call failed, or that ctx was done before its end; it goes on after such a line. An error is one
// of reading or writing.
//
// At a terminal Run takes over [os.Interrupt] while it runs, so ctx must not be done by that signal there. When ctx is
// done, Run returns within about a second, whatever is under way; a call that does not end may then still go on, and so may a read of In.
//
// With JSON, an answer is a line of JSON: for a call the [harness.Result], whose tool_call_id is the number of the line;
// for a command {"command":"tools","content":"…","is_error":false}; for a line that could not be read
// {"line":3,"content":"…","is_error":true}. A line may then also be a [harness.Call] as JSON, or an array of them, which
// are made together and answered in their order, a line each, under their own ids.
func Run(ctx context.Context, o Options) (failed bool, err error) {
	c, err := newConsole(o)
	if err != nil {
		return false, err
	}
	if c.person {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, os.Interrupt)
		defer signal.Stop(signals)
		c.interrupts = signals
	}
	c.lines = c.open(ctx)
	defer c.lines.close()
	if c.person && !c.JSON {
		c.greet(ctx)
	}
	err = c.loop(ctx)
	if c.person && ctx.Err() != nil {
		c.talk.note("") // The shell's prompt would stand behind ours.
	}
	return c.failed && !c.person, err
}

// console is one run.
type console struct {
	Options
	commands   *harness.Commands
	serving    Serving
	lines      *pump
	out        *printer
	talk       *printer // for what is no answer
	person     bool     // In is a terminal
	interrupts <-chan os.Signal
	always     map[string]bool // the tools that the person wants to be asked about no more

	interrupted bool // by Ctrl-C, what was under way last
	number      int  // of the line that is being answered
	quit        bool
	failed      bool
}

func newConsole(o Options) (*console, error) {
	c := &console{Options: o, person: isTerminal(o.In), always: map[string]bool{}}
	c.serve()
	c.out = newPrinter(o.Out, o.JSON)
	c.talk = c.out
	if o.JSON || c.person && !isTerminal(o.Out) {
		c.talk = newPrinter(o.Errors, false)
	}
	quit := harness.Command{
		Name: "quit", Summary: "Ends the console, as Ctrl-D does.",
		Run: func(context.Context, string) (string, error) { return "", nil },
	}
	all := []harness.Command{quit}
	if o.Commands != nil {
		for _, one := range o.Commands.All() {
			if one.Name != "help" && one.Name != "quit" {
				all = append(all, one)
			}
		}
	}
	var err error
	c.commands, err = harness.NewCommands(all...)
	return c, err
}

const prompt = "> "

// loop reads and answers lines.
func (c *console) loop(ctx context.Context) error {
	hint := false // The person has pressed Ctrl-C and nothing else.
	for !c.quit {
		line, err := c.read(ctx, prompt)
		c.number = c.lines.line
		switch {
		case errors.Is(err, errInterrupted):
			if hint {
				c.talk.note("Type /quit to leave.")
			}
			hint = true
			continue
		case errors.Is(err, io.EOF):
			return c.out.err
		case ctx.Err() != nil:
			c.failed = true
			return c.out.err
		case errors.As(err, new(unreadable)):
			c.answer(c.unread(c.passOver(ctx, line, err)))
		case err != nil:
			return fmt.Errorf("read the input: %w", err)
		default:
			c.handle(ctx, line)
		}
		hint = false
		if c.out.err != nil {
			return fmt.Errorf("write an answer: %w", c.out.err)
		}
	}
	return nil
}

// read reads a line, and echoes it where that is asked for.
func (c *console) read(ctx context.Context, prompt string) (string, error) {
	line, err := c.lines.next(ctx, prompt)
	if err == nil && c.Echo && !c.person && !c.JSON {
		c.out.echo(line)
	}
	return line, err
}

// handle answers one line.
func (c *console) handle(ctx context.Context, line string) {
	line = strings.TrimSpace(line)
	first, rest := cutWord(line)
	switch {
	case line == "" || line[0] == '#':
	case first == "!" && !c.person:
		c.expectFailure(ctx, rest)
	case line == "quit" || line == "exit" || line == "/quit" || line == "/exit":
		c.quit = true
	case first == "help" || first == "/help":
		text, err := c.help(ctx, rest)
		c.answer(commanded("help", text, err))
	case line[0] == '/':
		text, err := run(ctx, c, func(ctx context.Context) (string, error) { return c.commands.Run(ctx, line) })
		if c.interrupted {
			c.talk.note("cancelled")
		}
		if err != nil {
			err = c.passOver(ctx, line, err)
		}
		c.serve()
		c.answer(commanded(first[1:], text, err))
	case line[0] == '{' || line[0] == '[':
		c.batch(ctx, line)
	default:
		c.call(ctx, line)
	}
}

// expectFailure answers a line of a script that is to fail: it has failed if the line did not.
func (c *console) expectFailure(ctx context.Context, line string) {
	before := c.failed
	c.failed = false
	c.handle(ctx, line)
	failed := c.failed
	if c.failed = before; !failed {
		c.answer(c.unread(unreadablef("the line was to fail, and did not")))
	}
}

// serve asks what is served. That a tool need not be asked for was said of the roots that it had then.
func (c *console) serve() {
	if c.Serving == nil {
		return
	}
	before := c.serving
	if c.serving = c.Serving(); !slices.Equal(before.Roots, c.serving.Roots) {
		clear(c.always)
	}
}

// cutWord cuts the first word off a line.
func cutWord(line string) (first, rest string) {
	if at := strings.IndexAny(line, " \t"); at >= 0 {
		return line[:at], strings.TrimSpace(line[at:])
	}
	return line, ""
}

// answer shows an answer.
func (c *console) answer(a answer) {
	c.failed = c.failed || a.isError()
	c.out.answer(a)
}

func (c *console) unread(err error) answer {
	return answer{line: c.number, text: err.Error(), err: true}
}

// greet says in three lines at most what is served, and how to begin.
func (c *console) greet(ctx context.Context) {
	roots := c.serving.Roots
	if len(roots) > 2 {
		roots = []string{roots[0], fmt.Sprintf("%d more; /roots lists them", len(roots)-1)}
	}
	for _, root := range roots {
		c.talk.note("Serving " + root)
	}
	var try []string
	tools, _ := c.tools(ctx) // Without them, there is help.
	for _, example := range []string{"map", "grep TODO", "read README.md", "list_files .", "read_file README.md"} {
		name, rest := cutWord(example)
		if name = c.firstOf(tools, []string{name}); name != "" && len(try) < 3 {
			try = append(try, strings.TrimSpace(name+" "+rest))
		}
	}
	c.talk.note("Try: " + strings.Join(append(try, "help"), ", "))
}
