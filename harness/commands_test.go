package harness

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/readstate"
)

// answering is a command that answers with a text and with what it was given.
func answering(name, argument string) Command {
	return Command{Name: name, Argument: argument, Summary: "Answers.", Run: func(_ context.Context, given string) (string, error) {
		return name + "<" + given + ">", nil
	}}
}

func mustCommands(t testing.TB, commands ...Command) *Commands {
	t.Helper()
	c, err := NewCommands(commands...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCommandsRun(t *testing.T) {
	panics := Command{Name: "panics", Summary: "Panics.", Run: func(context.Context, string) (string, error) { panic("at once") }}
	c := mustCommands(t, answering("plain", ""), answering("given", "WORD"), panics)
	for _, tt := range []struct{ name, line, text, err string }{
		{name: "runs a command", line: "/plain", text: "plain<>"},
		{name: "does without the slash", line: "plain", text: "plain<>"},
		{name: "passes over white space", line: "  /given   two  words ", text: "given<two  words>"},
		{name: "passes over a tab", line: "/given\ttwo", text: "given<two>"},
		{name: "takes nothing where nothing is wanted", line: "/plain now", err: "/plain takes nothing behind its name, and 'now' is there"},
		{name: "names what was meant", line: "/pain", err: "there is no command '/pain'; did you mean /plain?"},
		{name: "names all where nothing is near", line: "/exit", err: "there is no command '/exit'; there are /given, /help, /panics, /plain"},
		{name: "knows no empty command", line: "", err: "there is no command '/'; there are /given, /help, /panics, /plain"},
		{name: "survives a panic", line: "/panics", err: "/panics failed inside the program; nothing more is known here, the log has the details"},
		{
			name: "helps", line: "/help",
			text: "/given [WORD]    Answers.\n/help [COMMAND]  Lists the commands, or says what one does.\n/panics          Panics.\n/plain           Answers.",
		},
		{name: "helps with one", line: "/help /given", text: "/given [WORD]  Answers."},
		{name: "helps with none that is not there", line: "/help gives", err: "there is no command '/gives'; did you mean /given?"},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			text, err := c.Run(t.Context(), tt.line)
			if text != tt.text || (err != nil || tt.err != "") && (err == nil || err.Error() != tt.err) {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
}

func TestCommandsRefuse(t *testing.T) {
	c := mustCommands(t, answering("there", ""))
	for _, tt := range []struct {
		name string
		add  []Command
		err  string
	}{
		{"no name", []Command{answering("", "")}, "command '': a name is made of letters from a to z, digits and '-'"},
		{"a name that cannot be typed", []Command{answering("a b", "")}, "command 'a b': a name is made of letters from a to z, digits and '-'"},
		{"a name that is taken", []Command{answering("new", ""), answering("there", "")}, "two commands are called 'there'"},
		{"one name for two", []Command{answering("new", ""), answering("new", "")}, "two commands are called 'new'"},
		{"a command that does nothing", []Command{{Name: "new", Summary: "Nothing."}}, "command 'new' has no Run or no Summary"},
	} {
		t.Run("it refuses "+tt.name, func(t *testing.T) {
			if err := c.Add(tt.add...); err == nil || err.Error() != tt.err {
				t.Errorf("got %v", err)
			}
			if got := len(c.All()); got != 2 {
				t.Errorf("there are %d commands", got)
			}
		})
	}
	if err := c.Add(answering("new", "")); err != nil || len(c.All()) != 3 {
		t.Errorf("a good one was not added: %v", err)
	}
}

func TestCommandsAsPrompts(t *testing.T) {
	var fails error
	forgotten := 0
	c := mustCommands(t, answering("here", ""), Rescan(func() { forgotten++ }), Reload(func(context.Context) (string, error) { return "Read again.", fails }))
	server := newServer()
	c.Offer(server)
	session := connect(t, server)
	var names []string
	for p, err := range session.Prompts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, p.Name+": "+p.Description)
	}
	want := []string{
		"reload: Reads the configuration again, and serves what it says now.",
		"rescan: Looks again for ripgrep, grep and pdftotext, as after one of them was installed.",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	prompt := func(name string) string {
		r, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name})
		if err != nil {
			return "error: " + err.Error()
		}
		return string(r.Messages[0].Role) + ": " + r.Messages[0].Content.(*mcp.TextContent).Text
	}
	if got := prompt("reload"); got != "user: Read again. No action is needed." {
		t.Errorf("got %q", got)
	}
	if got := prompt("rescan"); !strings.HasPrefix(got, "user: The file tools look again for ripgrep") || forgotten != 1 {
		t.Errorf("got %q, forgotten %d times", got, forgotten)
	}
	fails = errors.New("x.json: no file")
	if got := prompt("reload"); !strings.HasSuffix(got, "nothing was reloaded, and what was served is still served: x.json: no file") {
		t.Errorf("got %q", got)
	}
	if got := prompt("here"); !strings.HasPrefix(got, "error: ") {
		t.Errorf("a command that is no prompt says %q", got)
	}
}

func TestListingCommands(t *testing.T) {
	h, dir := filesHost(t)
	seen := readstate.New()
	c := mustCommands(t, ListTools(h), ListRoots(func() []string { return []string{"'/a' for reading"} }), ListSeen(seen),
		ListTools(unruly{err: errors.New("gone")}).called("broken"))
	run := func(line string) string {
		text, err := c.Run(t.Context(), line)
		if err != nil {
			return "error: " + err.Error()
		}
		return text
	}
	for _, tt := range []struct{ line, want string }{
		{"/tools fs_red", "error: there is no tool 'fs_red'; did you mean 'fs_read'?"},
		{"/tools nothing", "error: there is no tool 'nothing'; /tools lists them"},
		{"/broken", "error: list the tools: gone"},
		{"/roots", "'/a' for reading"},
		{"/seen", "No file has been read yet."},
	} {
		if got := run(tt.line); got != tt.want {
			t.Errorf("%s says %q, want %q", tt.line, got, tt.want)
		}
	}
	if got := run("/tools fs_read"); !strings.HasPrefix(got, "fs_read\n") || !strings.Contains(got, `"path"`) {
		t.Errorf("got %q", got)
	}
	tools, _ := h.Tools(t.Context())
	if got := strings.Split(run("/tools"), "\n"); len(got) != len(tools) || !strings.HasPrefix(got[0], tools[0].Name+" ") {
		t.Errorf("got %q", got)
	}
	seen.Saw(dir+"/b", "sha256-v1:file:00")
	seen.Saw(dir+"/a", "sha256-v1:file:00")
	if got := run("/seen"); got != dir+"/a\n"+dir+"/b" {
		t.Errorf("got %q", got)
	}
}

// called is the command under another name.
func (c Command) called(name string) Command {
	c.Name = name
	return c
}
