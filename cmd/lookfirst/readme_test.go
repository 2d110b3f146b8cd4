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

// TestReadme holds what the README shows to what there is: the table of tools, the session, and the harness.
func TestReadme(t *testing.T) {
	const command = "go test ./cmd/lookfirst -run Readme -args update"
	file := filepath.Join("..", "..", "README.md")
	for _, section := range []struct{ begin, end, want string }{
		{"<!-- The table is made from the tools: " + command + " -->\n", "<!-- end of the table -->\n", toolsTable(t)},
		{"<!-- The session is made by the program: " + command + " -->\n```\n", "```\n", tour(t)},
		{"<!-- The harness is a tested example: " + command + " -->\n```go\n", "```\n", exampleHarness(t)},
	} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok1 := strings.Cut(string(b), section.begin)
		old, after, ok2 := strings.Cut(rest, section.end)
		switch {
		case !ok1 || !ok2:
			t.Errorf("the README does not hold %q and then %q", section.begin, section.end)
		case old == section.want:
		case slices.Contains(os.Args, "update"):
			if err := os.WriteFile(file, []byte(before+section.begin+section.want+section.end+after), 0o666); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("it shows\n%s\nand should show\n%s", old, section.want)
		}
	}
}

// tour is what the README's first command prints.
func tour(t *testing.T) string {
	top := filepath.Join("..", "..")
	status, stdout, stderr := typed(t, "", "--script="+filepath.Join(top, "testdata", "tour.txt"), top)
	if status != 0 {
		t.Errorf("the tour ends with status %d; standard output:\n%s\nstandard error:\n%s", status, stdout, stderr)
	}
	return stdout
}

// exampleHarness is the code of the package's example, and what it prints.
func exampleHarness(t *testing.T) string {
	b, err := os.ReadFile(filepath.Join("..", "..", "harness", "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "func Example() {")
	if !strings.Contains(rest, "\t// Output:") {
		t.Fatal("there is no example")
	}
	return "func Example() {" + rest
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
