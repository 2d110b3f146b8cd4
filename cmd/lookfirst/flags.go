package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"lookfirst/fsmcp"
)

const (
	defaultName = "lookfirst"

	defaultInstructions = "These tools work on one directory: every path is relative to it, has '/' between names and no '..'. " +
		"Read a file before you edit or replace it, and copy the text to be replaced exactly as a read without offset and " +
		"limit shows it. Revisions in an answer name the state of what it touched; when you are told that something has " +
		"changed, read it again before you change it. What cannot be done is answered with a sentence that says what to " +
		"send instead."

	usage = `Serve one directory to a coding agent over the Model Context Protocol, on standard input and output.

ROOT is served as the toolkit FileSystem, with the prefix fs. For other settings, or for several directories, name the
toolkits one by one:

  lookfirst --tool='FileSystem={"root":"/srv/notes","prefix":"notes"}' \
            --tool='FileSystem={"root":"/srv/logs","prefix":"logs","read-only":true}'`
)

// flags are the command line as it was given.
type flags struct {
	root         string // from --root
	tools        []string
	name         string
	version      string
	instructions string
	readOnly     bool
}

// config is what to serve.
type config struct {
	name, version, instructions string
	toolkits                    []mounting
}

// newCommand returns the command line. Running it serves until the session ends.
func newCommand(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:           "lookfirst [flags] ROOT",
		Long:          usage,
		Version:       buildVersion(),
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.config(args)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), c, stdin, stdout, stderr)
		},
	}
	f.register(cmd)
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	cmd.SetVersionTemplate("lookfirst {{.Version}}\n")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w; 'lookfirst --help' lists the flags", err)
	})
	return cmd
}

func (f *flags) register(cmd *cobra.Command) {
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&f.root, "root", "", "serve the `directory`, as ROOT does")
	// Not a slice that is split at commas: the settings are JSON.
	set.StringArrayVar(&f.tools, "tool", nil, "serve the toolkit `NAME[=JSON]` with its settings; may be repeated")
	set.BoolVar(&f.readOnly, "read-only", false, "leave out the tools that change something (with ROOT)")
	set.StringVar(&f.name, "name", defaultName, "the server's `name`")
	set.StringVar(&f.version, "server-version", buildVersion(), "the server's `version`")
	set.StringVar(&f.instructions, "instructions", defaultInstructions, "what the server tells a model about its tools, as `text`")
	set.Lookup("instructions").DefValue = "" // The text is long, and every session shows it.
}

// config decides what to serve. There is no default: a server that chose a directory by itself would show one that
// nobody meant to show.
func (f *flags) config(args []string) (config, error) {
	c := config{name: f.name, version: f.version, instructions: f.instructions}
	if f.name == "" || f.version == "" {
		return c, errors.New("--name and --server-version may not be empty; leave them out for the defaults")
	}
	roots := args
	if f.root != "" {
		roots = append([]string{f.root}, args...)
	}
	switch {
	case len(roots) > 0 && len(f.tools) > 0:
		return c, fmt.Errorf("ROOT ('%s') and --tool exclude each other; give the directory as a toolkit too: --tool=%s",
			roots[0], example)
	case len(roots) > 1:
		return c, fmt.Errorf("one ROOT is served, and %d are given ('%s'); serve several with a --tool=%s for each",
			len(roots), strings.Join(roots, "', '"), example)
	case len(roots) == 1 && roots[0] != "":
		c.toolkits = []mounting{f.rootMounting(roots[0])}
		return c, nil
	case len(f.tools) == 0:
		return c, fmt.Errorf("no directory to serve; name one as in 'lookfirst /srv/notes', or a toolkit as in --tool=%s", example)
	case f.readOnly:
		return c, errors.New(`--read-only goes with ROOT; beside --tool, write "read-only": true into the toolkit's settings`)
	}
	return c, c.addTools(f.tools)
}

// rootMounting is what the plain form serves.
func (f *flags) rootMounting(root string) mounting {
	return mounting{
		source:  "ROOT",
		prefix:  defaultPrefix,
		options: fsmcp.Options{Root: root, ReadOnly: f.readOnly},
	}
}

func (c *config) addTools(args []string) error {
	for _, arg := range args {
		m, err := parseTool(arg)
		if err != nil {
			return err
		}
		c.toolkits = append(c.toolkits, m)
	}
	return nil
}

// buildVersion is the module's version as the Go tool stamped it.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
