package main

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The client of the Go SDK runs the program itself, as clients do, and ends it by closing its input.
func TestTheClientOfTheGoSDK(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			s := newSite(t)
			s.put(t, "a.txt", "one\ntwo\n")
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			cmd := s.command(t)
			session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			listed, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			listsTools(t, listed)
			for _, c := range []struct {
				tool      string
				arguments map[string]any
				refused   bool
				want      string
			}{
				{"fs_read", map[string]any{"path": "a.txt"}, false, "one\ntwo\n"},
				{"fs_edit", map[string]any{"path": "a.txt", "old-string": "two", "new-string": "2"}, false, "Replaced 1 occurrence in 'a.txt'; wrote 6 bytes"},
				{"fs_read", map[string]any{"path": "../a.txt"}, true, "'../a.txt' contains '..'; send the path from the root without it"},
				{"fs_edit", map[string]any{"path": "a.txt", "old_string": "two"}, true, "there is no argument 'old_string'; send it as 'old-string'"},
			} {
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.arguments})
				if err != nil {
					t.Fatalf("%s: %v", c.tool, err)
				}
				if got := result.Content[0].(*mcp.TextContent).Text; got != c.want || result.IsError != c.refused {
					t.Errorf("%s %v: got %q (an error: %v), want %q", c.tool, c.arguments, got, result.IsError, c.want)
				}
			}
			if got := s.get(t, "a.txt"); got != "one\n2\n" {
				t.Errorf("the file holds %q", got)
			}
			if err := session.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if status := cmd.ProcessState; status == nil || !status.Success() {
				t.Errorf("the program ended with %v", status)
			}
			if diff := cmp.Diff([]string{"a.txt"}, names(t, s.root)); diff != "" {
				t.Errorf("in %s: want -, got +:\n%s", filepath.Base(s.root), diff)
			}
		})
	}
}

// listsTools checks that a list has tools that read and tools that change, and that the library can tell them apart.
func listsTools(t *testing.T, listed *mcp.ListToolsResult) {
	t.Helper()
	reads := map[string]bool{}
	for _, tool := range listed.Tools {
		reads[tool.Name] = tool.Annotations != nil && tool.Annotations.ReadOnlyHint
	}
	for name, want := range map[string]bool{"fs_read": true, "fs_list": true, "fs_edit": false, "fs_write": false} {
		if got, ok := reads[name]; !ok || got != want {
			t.Errorf("%s is listed: %v; is said to read alone: %v, want %v", name, ok, got, want)
		}
	}
}
