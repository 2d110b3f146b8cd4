package console

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lookfirst/fsmcp/toolkit"
	"lookfirst/harness"
)

func (c *console) tools(ctx context.Context) ([]harness.Tool, error) {
	tools, err := run(ctx, c, c.Provider.Tools)
	if err != nil {
		return nil, fmt.Errorf("list the tools: %w", err)
	}
	return tools, nil
}

// resolve finds a tool by its name, or by what stands behind its prefix where only one tool has that.
func (c *console) resolve(tools []harness.Tool, name string) (harness.Tool, bool) {
	if found := c.matches(tools, name); len(found) == 1 {
		return found[0], true
	}
	return harness.Tool{}, false
}

// matches are the tools that a name may stand for: the one that is called so, or else those with a prefix in front of it.
func (c *console) matches(tools []harness.Tool, name string) []harness.Tool {
	called := func(full string) int {
		return slices.IndexFunc(tools, func(t harness.Tool) bool { return t.Name == full })
	}
	if at := called(name); at >= 0 {
		return tools[at : at+1]
	}
	var found []harness.Tool
	for _, prefix := range c.serving.Prefixes {
		if at := called(prefix + "_" + name); at >= 0 {
			found = append(found, tools[at])
		}
	}
	return found
}

// bare is a tool's name without its prefix, where that may be left out, and the prefix with what joins the two.
func (c *console) bare(name string) (prefix, rest string) {
	for _, prefix := range c.serving.Prefixes {
		if rest, ok := strings.CutPrefix(name, prefix+"_"); ok && prefix != "" {
			return prefix + "_", rest
		}
	}
	return "", name
}

func (c *console) toolOf(ctx context.Context, name string) (harness.Tool, error) {
	tools, err := c.tools(ctx)
	if err != nil {
		return harness.Tool{}, err
	}
	t, ok := c.resolve(tools, name)
	if !ok {
		return t, c.unknownTool(tools, name)
	}
	return t, nil
}

// unknownTool is the error for a name that no tool has, or more than one.
func (c *console) unknownTool(tools []harness.Tool, name string) error {
	if found := c.matches(tools, name); len(found) > 1 {
		full := make([]string, len(found))
		for i, t := range found {
			full[i] = t.Name
		}
		return unreadablef("'%s' may be %s; write one of them", name, strings.Join(full, " or "))
	}
	var names []string
	for _, t := range tools {
		_, rest := c.bare(t.Name)
		names = append(names, rest, t.Name)
	}
	for _, one := range c.commands.All() {
		if one.Name == name {
			return unreadablef("there is no tool '%s', but a command; write /%s", name, name)
		}
	}
	name = brief(name)
	near := alike(name)
	if _, ok := c.resolve(tools, near); !ok {
		near = toolkit.Nearest(name, names)
	}
	if near != "" {
		return unreadablef("there is no tool '%s'; did you mean %s? /tools lists them", name, near)
	}
	return unreadablef("there is no tool '%s'; /tools lists them, and help says how to call one", name)
}

// alike is the tool that does what a shell's command of that name does, or nothing.
func alike(command string) string {
	switch command {
	case "ls", "dir":
		return "list"
	case "cat", "less", "more", "type":
		return "read"
	case "find":
		return "glob"
	case "rg", "ag":
		return "grep"
	case "tree":
		return "map"
	case "rm", "rmdir", "del":
		return "delete"
	case "mv", "ren":
		return "move"
	}
	return ""
}
