package console

import (
	"context"
	"fmt"
	"strings"

	"lookfirst/harness"
)

// help says what can be written, or what a tool or a command takes.
func (c *console) help(ctx context.Context, about string) (string, error) {
	tools, err := c.tools(ctx)
	if err != nil {
		return "", err
	}
	if about == "" {
		commands, err := c.commands.Run(ctx, "/help")
		return c.examples(tools) + "\nCommands:\n" + commands, err
	}
	if t, ok := c.resolve(tools, about); ok {
		return describe(newTool(t), about), nil
	}
	if strings.HasPrefix(about, "/") {
		return c.commands.Run(ctx, "/help "+about)
	}
	for _, one := range c.commands.All() {
		if one.Name == about {
			return c.commands.Run(ctx, "/help "+about)
		}
	}
	return "", c.unknownTool(tools, about)
}

// examples shows how calls are written, with those tools that are there.
func (c *console) examples(tools []harness.Tool) string {
	all := []struct{ line, about string }{
		{"map", "the tree and what it defines, most important first"},
		{"list_files .", "the names in a directory"},
		{"read README.md", "a file; a word without a name goes to the next parameter"},
		{"read_file README.md", "a file, with line numbers"},
		{"grep 'two words' --path=src --regex", "parameters by name; --flag is true, --no-flag false"},
		{"edit notes.md old 'new text'", "quotes as in a shell"},
		{"edit_file notes.md old 'new text'", "quotes as in a shell"},
		{"write notes.md <<END", "and lines up to one that is END"},
		{"write_file notes.md <<END", "and lines up to one that is END"},
	}
	var b strings.Builder
	b.WriteString("Calls:\n")
	for _, e := range all {
		name, rest := cutWord(e.line)
		t, ok := c.resolve(tools, name)
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "%-36s %s\n", e.line, e.about)
		if !strings.Contains(b.String(), "\ncall ") && strings.HasPrefix(rest, "README") {
			fmt.Fprintf(&b, "%-36s %s\n", "call "+t.Name+` {"path":"README.md"}`, "the same as JSON")
		}
	}
	fmt.Fprintf(&b, "%-36s %s\n", "help TOOL", "what a tool takes; /tools lists them")
	return b.String()
}

// describe says of a tool what a person wants to know to call it.
func describe(t tool, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", t.usage(name), t.Description)
	for _, p := range t.params {
		fmt.Fprintf(&b, "  --%s  %s", p.name, p.kind)
		if p.required {
			b.WriteString(", required")
		}
		if p.description != "" {
			b.WriteString(". " + p.description)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
