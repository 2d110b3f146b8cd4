package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// typed runs a console on lines from elsewhere than a terminal.
func typed(t *testing.T, lines string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errors strings.Builder
	status = run(t.Context(), append([]string{"console"}, args...), strings.NewReader(lines), &out, &errors)
	return status, out.String(), errors.String()
}

func TestConsole(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "script.txt")
	if err := os.WriteFile(script, []byte("read a.txt\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, lines string
		args        []string
		status      int
		stdout      string
		stderr      string // must be part of it
	}{
		{"answers calls of both vocabularies", "read a.txt\nread_file a.txt\n", []string{dir}, 0, "one\n1\tone\n2\t\n", ""},
		{
			"shares with both what was read", "read a.txt\nedit_file a.txt one two\n/seen\nwrite a.txt \"one\\n\"",
			[]string{dir},
			0,
			"one\nThe file a.txt has been updated successfully.", "",
		},
		{"takes what stands beside a terminal for nothing", "read a.txt\n", []string{"--script", script, dir}, 0, "> read a.txt\none\n", ""},
		{"says in its status that a line failed", "read b.txt\nread a.txt\n", []string{dir}, 1, "error: 'b.txt' does not exist\none\n", ""},
		{"refuses what a server would refuse", "", []string{dir, "--config=x"}, 2, "", "exclude each other"},
		{"knows no flags of a server", "", []string{dir, "--http=1"}, 2, "", "unknown flag: --http"},
		{"needs its script", "", []string{"--script=" + dir + "/missing", dir}, 2, "", "--script: open "},
		{"leaves out the tools that change something", "write a.txt no\n", []string{"--read-only", dir}, 1, "error: line 1: there is no tool 'write'", ""},
		{"reloads", "/reload\n/rescan\n", []string{dir}, 0, "The configuration was read again, and 16 tools are served now.\nThe file tools look again", ""},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			status, stdout, stderr := typed(t, tt.lines, tt.args...)
			if status != tt.status || !strings.HasPrefix(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("status %d, want %d; standard output:\n%s\nwant\n%s\nstandard error:\n%s", status, tt.status, stdout, tt.stdout, stderr)
			}
		})
	}
}

func TestConsoleSaysItInJSON(t *testing.T) {
	dir := t.TempDir()
	status, stdout, _ := typed(t, "write a.txt one\n/roots\nread nothing\n", "--json", dir)
	var lines []string
	for line := range strings.Lines(stdout) {
		var answer struct {
			Content string
			Failed  bool `json:"is_error"`
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		lines = append(lines, answer.Content)
		if want := len(lines) == 3; answer.Failed != want {
			t.Errorf("answer %d: %s", len(lines), line)
		}
	}
	if status != exitFailed || len(lines) != 3 || !strings.Contains(lines[1], dir) {
		t.Errorf("status %d, answers %q", status, lines)
	}
}

// The tour is what the README begins with. It leaves nothing behind.
func TestConsoleTour(t *testing.T) {
	top := filepath.Join("..", "..")
	before := names(t, top)
	if got := tour(t); !strings.HasSuffix(got, "Deleted file 'tour.md'\n") {
		t.Errorf("got\n%s", got)
	}
	if after := names(t, top); len(after) != len(before) {
		t.Errorf("before it there were %v, after it %v", before, after)
	}
}

// What stands before a tool's name may be left out as the config has it now.
func TestConsoleReloads(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.json")
	config := func(prefix string) string {
		root, _ := json.Marshal(dir)
		return `{"name":"x","tools":{"FileSystem":{"prefix":"` + prefix + `","root":` + string(root) + `}}}`
	}
	if err := os.WriteFile(file, []byte(config("old")), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := "write a.txt one\nwrite config.json <<EOF\n" + config("new") + "\nEOF\n/reload\nread a.txt\nnew_read a.txt\nold_read a.txt\n"
	status, stdout, _ := typed(t, lines, "--config", file)
	want := "one\none\nerror: line 8: there is no tool 'old_read'; "
	if status != exitFailed || !strings.Contains(stdout, want) {
		t.Errorf("status %d, standard output:\n%s", status, stdout)
	}
}
