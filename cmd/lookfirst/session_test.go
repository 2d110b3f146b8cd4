package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/readstate"
)

// client is a client of the program over HTTP.
type client struct {
	t       *testing.T
	session *mcp.ClientSession
}

func connect(t *testing.T, url, version string) client {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return client{t, session}
}

// call returns the text of an answer and the token of its path, if it has one.
func (c client) call(tool string, arguments map[string]any) (text, token string) {
	c.t.Helper()
	result, err := c.session.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		c.t.Fatal(err)
	}
	var revisions structured
	if raw, err := json.Marshal(result.StructuredContent); err != nil || json.Unmarshal(raw, &revisions) != nil {
		c.t.Fatalf("structured content: %v", result.StructuredContent)
	}
	return result.Content[0].(*mcp.TextContent).Text, revisions.Revisions["path"].Token
}

func (c client) want(want, tool string, arguments map[string]any) {
	c.t.Helper()
	if got, _ := c.call(tool, arguments); !strings.HasPrefix(got, want) {
		c.t.Errorf("%s says\n  %s\nwant\n  %s", tool, got, want)
	}
}

// Over HTTP one program has many clients, and what one of them has read, another has not (D8).
func TestHTTPSessionsHaveTheirOwnMemory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := serving(t, dir)
	const version = "2025-11-25"
	first, second := connect(t, p.url, version), connect(t, p.url, version)
	path := map[string]any{"path": "a.txt"}
	first.call("fs_read", path)
	to := func(content string) map[string]any { return map[string]any{"path": "a.txt", "content": content} }
	second.want(readstate.ErrUnread.Error(), "write_file", to("second\n"))
	second.want(readstate.ErrUnread.Error(), "fs_write", to("second\n"))
	first.want("The file a.txt has been updated successfully.", "write_file", to("first\n"))

	second.call("read_file", path)
	second.want("Wrote 7 bytes", "fs_write", to("second\n"))
	first.want(readstate.ErrChanged.Error(), "fs_write", to("first\n"))
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "second\n" {
		t.Errorf("the file holds %q: %v", got, err)
	}
}

// A request without a session has no memory, and no reading of its client counts: it has to name the revision (D8).
func TestHTTPWithoutSession(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := connect(t, serving(t, dir).url, "2026-07-28")
	if id := c.session.ID(); id != "" {
		t.Fatalf("there is a session: %s", id)
	}
	_, token := c.call("fs_read", map[string]any{"path": "a.txt"})
	refusal := readstate.ErrNoSession.Error()
	if token == "" || !strings.Contains(refusal, "'_expected-revisions'") {
		t.Fatalf("the token is %q, the refusal %q", token, refusal)
	}
	c.want(refusal, "fs_write", map[string]any{"path": "a.txt", "content": "two\n"})
	c.want(refusal, "fs_edit", map[string]any{"path": "a.txt", "old-string": "one", "new-string": "two"})
	c.want(refusal, "write_file", map[string]any{"path": "a.txt", "content": "two\n"})
	c.want(refusal, "edit_file", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "two"})

	expected := func(token string) map[string]string { return map[string]string{"path": token} }
	c.want("Wrote 4 bytes", "fs_write", map[string]any{"path": "a.txt", "content": "two\n", "_expected-revisions": expected(token)})
	c.want("'a.txt' has changed since", "write_file", map[string]any{"path": "a.txt", "content": "x", "_expected-revisions": expected(token)})
	_, token = c.call("read_file", map[string]any{"path": "a.txt"})
	c.want("The file a.txt has been updated", "edit_file", map[string]any{
		"path": "a.txt", "old_string": "two", "new_string": "three", "_expected-revisions": expected(token),
	})
	c.want("File created", "write_file", map[string]any{"path": "new.txt", "content": "x"})
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "three\n" {
		t.Errorf("the file holds %q: %v", got, err)
	}
}

// Over a pipe the process is the session, in both eras (D8), also for requests that have no session by themselves.
func TestPipeIsOneSession(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	call := func(id, tool, arguments string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + meta + `,"name":"` + tool + `","arguments":` + arguments + "}}\n"
	}
	in := call("1", "write_file", `{"path":"a.txt","content":"two\n"}`) +
		call("2", "fs_read", `{"path":"a.txt"}`) +
		call("3", "write_file", `{"path":"a.txt","content":"three\n"}`)
	var out, errs strings.Builder
	if status := run(t.Context(), []string{dir}, strings.NewReader(in), &out, &errs); status != 0 {
		t.Fatalf("status %d: %s", status, &errs)
	}
	texts := map[int]string{}
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID     int
			Result answer
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || len(m.Result.Content) != 1 {
			t.Fatalf("%s: %v", line, err)
		}
		texts[m.ID] = m.Result.Content[0].Text
	}
	if texts[1] != readstate.ErrUnread.Error() || texts[2] != "one\n" || !strings.HasPrefix(texts[3], "The file a.txt has been updated") {
		t.Errorf("the answers are %v", texts)
	}
}
