package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lookfirst/harness"
	"lookfirst/harness/console"
	"lookfirst/readstate"
)

// errLines is why a script's status is not 0: what was wrong with its lines stands in its output.
var errLines = errors.New("a line of the script failed")

// consoleFlags are those that only the console has.
type consoleFlags struct {
	flags
	script          string
	json, yes, echo bool
}

// consoleCommand is the console on the toolkits that the same command line would serve (D23).
func consoleCommand(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	var f consoleFlags
	cmd := &cobra.Command{
		Use:   "console [flags] ROOT",
		Short: "use the tools at a terminal, or in a script",
		Long: `Use the tools by hand, on what the same command line would serve to an agent. Each line is a call or a command:

  map                                    the tools fs_… go without their prefix
  grep TODO --path=src --max-results=5
  read README.md
  edit README.md 'old words' 'new words'
  call read_file {"path":"README.md"}    any tool, with its arguments as JSON
  /help                                  the commands

At a terminal a change is shown before it is made, unless --yes is given. Lines from elsewhere are a script, whose changes
are made at once; the exit status is 1 when a line of it failed. A directory called console is served with --root=console.
With --script the lines of a file come first, and then those of the terminal, if there is one.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), args, stdin, stdout, stderr)
		},

		ValidArgsFunction: completeRoot,
	}
	f.registerToolkits(cmd)
	f.one(cmd, &f.script, "script", "", "begin with the lines of the `file`")
	cmd.Flags().BoolVar(&f.json, "json", false, "answer with a line of JSON for each line")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "make changes without asking, at a terminal too")
	cmd.Flags().BoolVar(&f.echo, "echo", false, "show each line of a script before its answer")
	completeFlags(cmd)
	return cmd
}

func (f *consoleFlags) run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	read := func() (config, error) {
		c, _, err := f.toolkits(args) // The console listens nowhere, whatever stands in a file.
		return c, err
	}
	c, _, err := inTime(ctx, read)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	s, err := newServed(c, read, &shared{out: console.Log(stderr)})
	if err != nil {
		return err
	}
	defer s.Close()
	o, err := s.console()
	if err != nil {
		return err
	}
	o.Out, o.Errors, o.JSON, o.Yes, o.Echo = stdout, stderr, f.json, f.yes, f.echo
	if !f.given("script") {
		return talk(ctx, o, stdin)
	}
	script, err := os.Open(f.script)
	if err != nil {
		return fmt.Errorf("--script: %w", err)
	}
	defer script.Close()
	first := o
	first.Echo = true // or nobody would know what is answered
	if err := talk(ctx, first, script); !isTerminal(stdin) {
		return err
	}
	return talk(ctx, o, stdin)
}

// talk runs the lines of one input.
func talk(ctx context.Context, o console.Options, in io.Reader) error {
	if !isTerminal(in) { // At a terminal, the signal is for the call that is under way.
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
	}
	o.In = in
	switch failed, err := console.Run(ctx, o); {
	case err != nil:
		return &sessionError{fmt.Errorf("console: %w", err)}
	case failed:
		return &sessionError{errLines}
	}
	return nil
}

// console returns what a console on what is served works with. It is a session of its own.
func (s *served) console() (console.Options, error) {
	seen := readstate.New()
	host, err := harness.NewHost(harness.HostOptions{Toolset: s.tools, ReadState: seen})
	if err != nil {
		return console.Options{}, err
	}
	preview, err := harness.NewHost(harness.HostOptions{Toolset: s.tools})
	if err != nil {
		return console.Options{}, err
	}
	commands, err := harness.NewCommands(
		harness.Rescan(s.rescan), harness.Reload(s.reload), harness.ListTools(host), harness.ListRoots(s.roots), harness.ListSeen(seen))
	return console.Options{Provider: host, Preview: preview, Commands: commands, Serving: s.serving}, err
}

func (s *served) serving() console.Serving {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := console.Serving{Roots: s.describe()}
	for _, p := range s.packs {
		if p.prefix != "" {
			now.Prefixes = append(now.Prefixes, p.prefix)
		}
	}
	return now
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
