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
	all := []struct{ tools, rest, about string }{
		{"map list_files", ".", "what is in the directory"},
		{"read read_file", "README.md", "a file: words without a name go to the parameters in their order"},
		{"grep", "'two words' --path=src --regex", "parameters by name; --flag is true, --no-flag false"},
		{"edit edit_file", `notes.md 'old text' "new\ntext"`, `in '…' all is literal; in "…" \n is the end of a line`},
		{"write write_file", "notes.md <<END", "and lines up to one that is END"},
	}
	var b strings.Builder
	b.WriteString("Calls:\n")
	for _, e := range all {
		name := c.firstOf(tools, strings.Fields(e.tools))
		if name == "" {
			continue
		}
		fmt.Fprintf(&b, "%-40s %s\n", name+" "+e.rest, e.about)
		if e.rest == "README.md" {
			fmt.Fprintf(&b, "%-40s %s\n", "call "+c.matches(tools, name)[0].Name+` {"path":"README.md"}`, "the same as JSON")
		}
	}
	fmt.Fprintf(&b, "%-40s %s\n", "help TOOL", "what a tool takes; /tools lists them")
	return b.String()
}

// firstOf is the first of the names that a tool has, as short as it can be written, or nothing.
func (c *console) firstOf(tools []harness.Tool, names []string) string {
	for _, name := range names {
		switch found := c.matches(tools, name); len(found) {
		case 0:
		case 1:
			return name
		default:
			return found[0].Name
		}
	}
	return ""
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
