package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"lookfirst/fsmcp/toolkit"
	"lookfirst/harness"
)

// runDescribe prints what a toolkit can be told, and with settings which tools they would give. It opens the directory for
// that, as serving would, and changes nothing in it.
func (f *flags) runDescribe(args []string, stdout io.Writer) error {
	if err := f.exclude(f.roots(args)); err != nil {
		return err
	}
	if name := f.besideDescribe(); name != "" {
		return fmt.Errorf("--describe serves nothing, and --%s says how to serve; leave it out", name)
	}
	name, _, hasSettings := strings.Cut(f.describe, "=")
	k, err := kindOf(name)
	if err != nil {
		return fmt.Errorf("--describe=%s: %w", f.describe, err)
	}
	if !hasSettings {
		return describeSettings(stdout, k)
	}
	m, err := parseTool("--describe", f.describe)
	if err != nil {
		return err
	}
	packs, err := open([]mounting{m}, io.Discard)
	defer closePacks(packs, io.Discard)
	if err != nil {
		return err
	}
	if err := describeSettings(stdout, k); err != nil {
		return err
	}
	return describeTools(stdout, m.prefix, packs[0].tools)
}

// besideDescribe returns a flag that says how to serve, or nothing.
func (f *flags) besideDescribe() string {
	for _, name := range servingFlags() {
		if f.given(name) {
			return name
		}
	}
	return ""
}

// servingFlags are the flags that say how to serve, and not what.
func servingFlags() []string {
	return []string{"read-only", "vocabulary", "name", "server-version", "instructions", "revisions", "http", "host", "http-path", "allow-origin"}
}

func describeSettings(out io.Writer, k kind) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s: %s\n\nsettings:\n", k.name, k.about)
	for _, s := range k.settings {
		state := "default " + s.fallback
		if s.required {
			state = "required"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", s.name, s.kind, state)
	}
	return table.Flush()
}

// describeTools prints each tool as it is called.
func describeTools(out io.Writer, prefix string, tools []*toolkit.Tool) error {
	fmt.Fprintln(out, "\ntools:")
	for _, t := range tools {
		name, err := harness.ToolName(prefix, t.Name)
		if err != nil {
			return err
		}
		params := make([]string, len(t.Params))
		for i, p := range t.Params {
			params[i] = signature(p)
		}
		changes := ""
		if !t.ReadOnly {
			changes = "  (changes files)"
		}
		if _, err := fmt.Fprintf(out, "  %s(%s)%s\n", name, strings.Join(params, ", "), changes); err != nil {
			return err
		}
	}
	return nil
}

// signature returns a parameter as the headings of the toolkit's contract have it: required ones bare, others with their
// default or a question mark.
func signature(p toolkit.Param) string {
	switch value := p.Default.(type) {
	case nil:
		if p.Required {
			return p.Name
		}
		return p.Name + "?"
	case string:
		return p.Name + " = '" + value + "'"
	default:
		return fmt.Sprintf("%s = %v", p.Name, value)
	}
}
