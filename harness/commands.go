package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/search"
	"lookfirst/fsmcp/toolkit"
	"lookfirst/readstate"
)

// Command is what a person, and no model, asks of the host, as /rescan (D22).
type Command struct {
	// Name is what stands behind the slash: lower-case letters, digits and '-'.
	Name string
	// Argument says in a word what may follow the name, as "COMMAND". If empty, nothing may.
	Argument string
	// Summary says in one sentence what it does.
	Summary string
	// IsPrompt offers the command to clients of a server, as a prompt of that name (see [Commands.Offer]).
	IsPrompt bool
	// Run does it. The text tells the person what came of it, in words that a model can be given too, as what the person
	// said; it may have several lines. Argument is without white space around it. The error says why nothing was done.
	Run func(ctx context.Context, argument string) (string, error)
}

// Commands is a table of commands, which a host may add its own to. It may be used from several goroutines.
type Commands struct {
	mu     sync.Mutex // guards byName
	byName map[string]Command
}

// NewCommands makes a table of /help and the commands. It fails as Add does.
func NewCommands(commands ...Command) (*Commands, error) {
	c := &Commands{byName: map[string]Command{}}
	help := Command{Name: "help", Argument: "COMMAND", Summary: "Lists the commands, or says what one does.", Run: c.help}
	return c, errors.Join(c.Add(help), c.Add(commands...))
}

// Add adds commands to the table. It fails, and adds none, when a command cannot be called or asked for by its name, or
// when there is one of that name.
func (c *Commands) Add(commands ...Command) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	added := map[string]bool{}
	for _, one := range commands {
		const allowed = "abcdefghijklmnopqrstuvwxyz0123456789-"
		_, clash := c.byName[one.Name]
		switch {
		case one.Name == "" || strings.Trim(one.Name, allowed) != "":
			return fmt.Errorf("command '%s': a name is made of letters from a to z, digits and '-'", one.Name)
		case clash || added[one.Name]:
			return fmt.Errorf("two commands are called '%s'", one.Name)
		case one.Run == nil || one.Summary == "":
			return fmt.Errorf("command '%s' has no Run or no Summary", one.Name)
		}
		added[one.Name] = true
	}
	for _, one := range commands {
		c.byName[one.Name] = one
	}
	return nil
}

// All lists the commands by name.
func (c *Commands) All() []Command {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Command
	for _, one := range c.byName {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Run runs a line as a person types it: a command's name, with or without its slash, and what follows it.
func (c *Commands) Run(ctx context.Context, line string) (text string, err error) {
	name, argument := strings.TrimSpace(line), ""
	if at := strings.IndexAny(name, " \t"); at >= 0 {
		name, argument = name[:at], strings.TrimSpace(name[at:])
	}
	name = strings.TrimPrefix(name, "/")
	one, err := c.find(name)
	if err != nil {
		return "", err
	}
	if one.Argument == "" && argument != "" {
		return "", fmt.Errorf("/%s takes nothing behind its name, and '%s' is there", name, argument)
	}
	defer func() {
		if p := recover(); p != nil {
			reportPanic("command "+name, p)
			text, err = "", fmt.Errorf("/%s failed inside the program; nothing more is known here, the log has the details", name)
		}
	}()
	return one.Run(ctx, argument)
}

func (c *Commands) find(name string) (Command, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one, ok := c.byName[name]; ok {
		return one, nil
	}
	var names []string
	for n := range c.byName {
		names = append(names, n)
	}
	slices.Sort(names)
	if near := toolkit.Nearest(name, names); near != "" {
		return Command{}, fmt.Errorf("there is no command %s; did you mean /%s?", quoted("/"+name), near)
	}
	return Command{}, fmt.Errorf("there is no command %s; there are /%s", quoted("/"+name), strings.Join(names, ", /"))
}

func (c *Commands) help(_ context.Context, name string) (string, error) {
	if name != "" {
		one, err := c.find(strings.TrimPrefix(name, "/"))
		if err != nil {
			return "", err
		}
		return one.usage() + "  " + one.Summary, nil
	}
	all := c.All()
	width := 0
	for _, one := range all {
		width = max(width, len(one.usage()))
	}
	var b strings.Builder
	for _, one := range all {
		fmt.Fprintf(&b, "%-*s  %s\n", width, one.usage(), one.Summary)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func (c Command) usage() string {
	if c.Argument == "" {
		return "/" + c.Name
	}
	return "/" + c.Name + " [" + c.Argument + "]"
}

// Offer gives the server the commands that are prompts, as they are now. A client shows prompts to the person and not to
// the model; it runs the command when the person chooses it, and then puts its text into the conversation, where the model
// reads it as what the person said. So it is told that all is done.
func (c *Commands) Offer(server *mcp.Server) {
	for _, one := range c.All() {
		if !one.IsPrompt {
			continue
		}
		server.AddPrompt(&mcp.Prompt{Name: one.Name, Description: one.Summary},
			func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				text, err := c.Run(ctx, one.Name)
				if err != nil {
					return nil, fault(jsonrpc.CodeInternalError, "%v", err) // Any other error would have the code 0.
				}
				return &mcp.GetPromptResult{
					Description: one.Summary,
					Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text + " No action is needed."}}},
				}, nil
			})
	}
}

// Rescan is the command that forgets what is known of the programs that help us: it has the next search look for ripgrep
// and grep again, wherever in the process it is made, and calls forget for what else there is to forget, as
// [lookfirst/compat.FileTools.Rescan].
func Rescan(forget ...func()) Command {
	return Command{
		Name:     "rescan",
		Summary:  "Looks again for ripgrep, grep and pdftotext, as after one of them was installed.",
		IsPrompt: true,
		Run: func(context.Context, string) (string, error) {
			search.ResetSearchers()
			for _, f := range forget {
				f()
			}
			return "The file tools look again for ripgrep, grep and pdftotext when they next need one.", nil
		},
	}
}

// Reload is the command that has the configuration read again. Again does so, as with [Toolset.Replace], and says what is
// served now; or it changes nothing, and its error says why.
func Reload(again func(context.Context) (string, error)) Command {
	return Command{
		Name:     "reload",
		Summary:  "Reads the configuration again, and serves what it says now.",
		IsPrompt: true,
		Run: func(ctx context.Context, _ string) (string, error) {
			text, err := again(ctx)
			if err != nil {
				return "", fmt.Errorf("nothing was reloaded, and what was served is still served: %w", err)
			}
			return text, nil
		},
	}
}

// ListTools is the command that lists a provider's tools with the first sentence of what each does.
func ListTools(p Provider) Command {
	return Command{
		Name:     "tools",
		Argument: "TOOL",
		Summary:  "Lists the tools, or shows what a model is told of one.",
		Run: func(ctx context.Context, name string) (string, error) {
			tools, err := p.Tools(ctx)
			if err != nil {
				return "", fmt.Errorf("list the tools: %w", err)
			}
			if name != "" {
				return describeTool(tools, name)
			}
			width := 0
			for _, t := range tools {
				width = max(width, len(t.Name))
			}
			var b strings.Builder
			for _, t := range tools {
				fmt.Fprintf(&b, "%-*s  %s\n", width, t.Name, firstSentence(t.Description))
			}
			return strings.TrimSuffix(b.String(), "\n"), nil
		},
	}
}

func describeTool(tools []Tool, name string) (string, error) {
	var names []string
	for _, t := range tools {
		if t.Name == name {
			return t.Name + "\n" + t.Description + "\n" + string(t.Schema), nil
		}
		names = append(names, t.Name)
	}
	if near := toolkit.Nearest(name, names); near != "" {
		return "", fmt.Errorf("there is no tool %s; did you mean '%s'?", quoted(name), near)
	}
	return "", fmt.Errorf("there is no tool %s; /tools lists them", quoted(name))
}

func firstSentence(text string) string {
	if at := strings.Index(text, ". "); at >= 0 {
		return text[:at+1]
	}
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// ListRoots is the command that says what can be reached. Roots gives a line for each directory, and is asked each time.
func ListRoots(roots func() []string) Command {
	return Command{
		Name:    "roots",
		Summary: "Says which directories are served, and what for.",
		Run:     func(context.Context, string) (string, error) { return strings.Join(roots(), "\n"), nil },
	}
}

// ListSeen is the command that lists the files that a session has seen, and so may change (D7).
func ListSeen(t *readstate.Tracker) Command {
	return Command{
		Name:    "seen",
		Summary: "Lists the files that were read or written here, which may be changed while they stay as they were.",
		Run: func(context.Context, string) (string, error) {
			seen := t.Seen()
			if len(seen) == 0 {
				return "No file has been read yet.", nil
			}
			slices.Sort(seen)
			return strings.Join(seen, "\n"), nil
		},
	}
}
