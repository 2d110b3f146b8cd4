package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"lookfirst/fsmcp"
	"lookfirst/harness"
)

// flags are the command line as it was given.
type flags struct {
	given        func(name string) bool // whether a flag was
	root         string                 // from --root
	tools        []string
	configFile   string
	describe     string
	name         string
	version      string
	instructions string
	readOnly     bool
	showVersion  bool
	vocabulary   string
	revisions    string
	http         string
	host         string
	path         string
	origins      []string
}

// config is what to serve.
type config struct {
	name, version, instructions string
	toolkits                    []mounting
	revisions                   harness.Placement
	http                        *httpConfig // nil for standard input and output
}

// newCommand returns the command line. Running it serves until the session ends. It has no subcommands: see
// [addForPeople].
func newCommand(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:               "lookfirst [flags] ROOT",
		Long:              usage,
		Args:              cobra.ArbitraryArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		ValidArgsFunction: completeRoot,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.showVersion {
				_, err := fmt.Fprintf(stdout, "lookfirst %s\n", buildVersion())
				return err
			}
			if f.given("describe") {
				return f.runDescribe(args, stdout)
			}
			read := func() (config, error) { return f.config(args) }
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return serve(ctx, read, stdin, stdout, stderr)
		},
	}
	f.register(cmd)
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w; 'lookfirst --help' lists the flags", err)
	})
	return cmd
}

// addForPeople adds what only a person at a shell uses, unless it is plain from the arguments that a client has started
// the program: it would take half of the time that the command line takes.
func addForPeople(cmd *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) {
	isForPeople := func(arg string) bool {
		switch arg {
		case "console", "completion", "help", "-h", "--help":
			return true
		}
		return strings.HasPrefix(arg, "__complete") // by which the shells' scripts ask
	}
	if !slices.ContainsFunc(args, isForPeople) {
		return
	}
	completeFlags(cmd)
	cmd.AddCommand(completionCommand(stdout), consoleCommand(stdin, stdout, stderr))
	// The flags are what most people ask for; the long text follows for the others.
	cmd.SetHelpFunc(func(of *cobra.Command, _ []string) { fmt.Fprintf(stdout, "%s\n%s\n", of.UsageString(), of.Long) })
}

func (f *flags) register(cmd *cobra.Command) {
	f.registerToolkits(cmd)
	set := cmd.Flags()
	one := func(into *string, name, value, help string) { f.one(cmd, into, name, value, help) }
	one(&f.describe, "describe", "", "print the settings of the toolkit `NAME[=JSON]`, and with JSON the tools it would have, and end")
	one(&f.name, "name", defaultName, "the server's `name` (with ROOT or --tool)")
	one(&f.version, "server-version", buildVersion(), "the server's `version` (with ROOT or --tool)")
	one(&f.instructions, "instructions", "", "what the server tells a model about its tools, as `text`, in place of our own (with ROOT or --tool)")
	one(&f.revisions, "revisions", string(harness.PlaceAuto), "the `place` of revisions in answers: structured, meta, or auto (meta for clients that would show them in place of the text)")
	one(&f.http, "http", "", "serve over HTTP at the `port`; 0 for one that is free, which is printed on standard error")
	one(&f.host, "host", defaultHost, "the `address` or name to listen at (with HTTP)")
	one(&f.path, "http-path", defaultPath, "the `path` to serve at (with HTTP)")
	set.StringArrayVar(&f.origins, "allow-origin", nil, "serve pages of this web `origin` too, as https://example.com (with HTTP); may be repeated")
	// Not cobra's own flag, whose text is a template: what a template may call cannot be known to the linker, which then
	// leaves no method of any type out, and the program is 3 MB larger, in memory too.
	set.BoolVarP(&f.showVersion, "version", "v", false, "print the program's version, and end")
}

// registerToolkits registers the flags that say what is served.
func (f *flags) registerToolkits(cmd *cobra.Command) {
	set := cmd.Flags()
	set.SortFlags = false
	f.given = set.Changed
	f.name, f.version = defaultName, buildVersion()
	f.one(cmd, &f.root, "root", "", "serve the `directory`, as ROOT does")
	set.BoolVar(&f.readOnly, "read-only", false, "leave out the tools that change something (with ROOT)")
	f.one(cmd, &f.vocabulary, "vocabulary", vocabularyBoth, "serve the directory in one `vocabulary` of tools: filesystem for fs_read and so on, file-tools for read_file and so on, or both (with ROOT)")
	// Not a slice that is split at commas: the settings are JSON.
	set.StringArrayVar(&f.tools, "tool", nil, "serve the toolkit `NAME[=JSON]` with its settings; may be repeated")
	f.one(cmd, &f.configFile, "config", "", "serve what the JSON `file` says")
}

// one registers a flag that may be given once.
func (f *flags) one(cmd *cobra.Command, into *string, name, value, help string) {
	*into = value
	cmd.Flags().Var(&once{value: into}, name, help)
}

// config decides what to serve. There is no default: a server that chose a directory by itself would show one that
// nobody meant to show.
func (f *flags) config(args []string) (config, error) {
	c, section, err := f.toolkits(args)
	if err != nil {
		return c, err
	}
	if c.revisions, err = harness.ParsePlacement(f.revisions); err != nil {
		return c, fmt.Errorf("--revisions: %w", err)
	}
	c.http, err = f.httpConfig(section)
	return c, err
}

// toolkits decides what to serve, without where.
func (f *flags) toolkits(args []string) (config, *httpSection, error) {
	c := config{name: f.name, version: f.version, instructions: f.instructions}
	roots := f.roots(args)
	err := f.exclude(roots)
	if err != nil {
		return c, nil, err
	}
	if f.given("config") {
		return readConfigFile(f.configFile)
	}
	switch {
	case f.name == "" || f.version == "":
		return c, nil, errors.New("--name and --server-version may not be empty; leave them out for the defaults")
	case len(roots) > 1:
		return c, nil, fmt.Errorf("one ROOT is served, and %d are given ('%s'); serve several with a --tool=%s for each",
			len(roots), strings.Join(roots, "', '"), example)
	case len(roots) == 1 && roots[0] != "":
		if c.toolkits, err = f.rootMountings(roots[0]); err != nil {
			return c, nil, err
		}
	case len(f.tools) == 0:
		return c, nil, fmt.Errorf("no directory to serve; name one as in 'lookfirst /srv/notes', or a toolkit as in --tool=%s", example)
	default:
		if err := c.addTools(f.tools); err != nil {
			return c, nil, err
		}
	}
	if !f.given("instructions") {
		c.instructions = instructionsFor(c.toolkits)
	}
	return c, nil, nil
}

// roots are the directories that are given without settings.
func (f *flags) roots(args []string) []string {
	if f.given("root") {
		return append([]string{f.root}, args...)
	}
	return args
}

// exclude refuses what cannot stand side by side.
func (f *flags) exclude(roots []string) error {
	var forms []string
	if len(roots) > 0 {
		forms = append(forms, fmt.Sprintf("ROOT ('%s')", roots[0]))
	}
	for _, name := range []string{"tool", "config", "describe"} {
		if f.given(name) {
			forms = append(forms, "--"+name)
		}
	}
	switch {
	case len(forms) > 1 && len(roots) > 0 && f.given("tool"):
		return fmt.Errorf("%s and %s exclude each other; give the directory as a toolkit too: --tool=%s", forms[0], forms[1], example)
	case len(forms) > 1:
		return fmt.Errorf("%s and %s exclude each other; give one of them", forms[0], forms[1])
	}
	for _, other := range []string{"tool", "config"} {
		if f.readOnly && f.given(other) {
			return fmt.Errorf(`--read-only goes with ROOT; beside --%s, write "read-only": true into the toolkit's settings`, other)
		}
		if f.given("vocabulary") && f.given(other) {
			return fmt.Errorf("--vocabulary goes with ROOT; beside --%s, name the toolkits that are wanted", other)
		}
	}
	for _, name := range []string{"name", "server-version", "instructions"} {
		if f.given("config") && f.given(name) {
			return fmt.Errorf(`--%s goes with ROOT or --tool; beside --config, write "%s" into the file`,
				name, strings.TrimPrefix(name, "server-"))
		}
	}
	return nil
}

// The vocabularies in which ROOT is served.
const (
	vocabularyBoth       = "both"
	vocabularyFileSystem = "filesystem"
	vocabularyFileTools  = "file-tools"
)

// rootMountings are what the plain form serves: the toolkits of the vocabulary. No file is changed there by either that
// the session has not read (D7).
func (f *flags) rootMountings(root string) ([]mounting, error) {
	inFileSystem := mounting{source: "ROOT", kind: fileSystem, prefix: defaultPrefix, fileSystem: fsmcp.Options{
		Root: root, ReadOnly: f.readOnly, ReadBeforeWrite: true,
	}}
	inFileTools := mounting{source: "ROOT", kind: fileTools, fileTools: fileToolsOptions{root: root, readOnly: f.readOnly}}
	switch f.vocabulary {
	case vocabularyBoth:
		return []mounting{inFileSystem, inFileTools}, nil
	case vocabularyFileSystem:
		return []mounting{inFileSystem}, nil
	case vocabularyFileTools:
		return []mounting{inFileTools}, nil
	}
	return nil, fmt.Errorf("--vocabulary is '%s' and must be '%s', '%s' or '%s'", f.vocabulary, vocabularyBoth, vocabularyFileSystem, vocabularyFileTools)
}

func (c *config) addTools(args []string) error {
	for _, arg := range args {
		m, err := parseTool("--tool", arg)
		if err != nil {
			return err
		}
		c.toolkits = append(c.toolkits, m)
	}
	return nil
}

// buildVersion is the module's version as the Go tool stamped it.
var buildVersion = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
})
