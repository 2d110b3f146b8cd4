package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lookfirst/compat"
	"lookfirst/fsmcp"
	"lookfirst/fsmcp/toolkit"
)

const (
	toolsBegin = "<!-- The table is made from the tools: go test ./cmd/lookfirst -run Readme -args update -->\n"
	toolsEnd   = "<!-- end of the table -->\n"
)

// TestReadmeTools holds the README's table of tools to the tools that there are.
func TestReadmeTools(t *testing.T) {
	file := filepath.Join("..", "..", "README.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(b), toolsBegin)
	old, after, ok2 := strings.Cut(rest, toolsEnd)
	if !ok1 || !ok2 {
		t.Fatalf("the README does not hold %q and %q", toolsBegin, toolsEnd)
	}
	want := toolsTable(t)
	if old == want {
		return
	}
	if slices.Contains(os.Args, "update") {
		if err := os.WriteFile(file, []byte(before+toolsBegin+want+toolsEnd+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the table of tools is\n%s\nand should be\n%s", old, want)
}

func toolsTable(t *testing.T) string {
	dir := t.TempDir()
	pack, err := fsmcp.New(fsmcp.Options{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer pack.Close()
	files, err := compat.New(compat.Options{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	var b strings.Builder
	b.WriteString("| tool | arguments | changes files | what it does |\n| --- | --- | --- | --- |\n")
	for _, t := range pack.Tools() {
		row(&b, "fs_"+t.Name, t)
	}
	for _, t := range files.Tools() {
		row(&b, t.Name, t)
	}
	return b.String()
}

// row shows a tool with the first sentence of its description.
func row(b *strings.Builder, name string, t *toolkit.Tool) {
	params := make([]string, len(t.Params))
	for i, p := range t.Params {
		params[i] = signature(p)
	}
	changes := "yes"
	if t.ReadOnly {
		changes = "no"
	}
	what, _, _ := strings.Cut(t.Description, ". ")
	fmt.Fprintf(b, "| `%s` | `%s` | %s | %s |\n", name, strings.Join(params, ", "), changes, strings.ReplaceAll(strings.TrimSuffix(what, "."), "|", "\\|"))
}
