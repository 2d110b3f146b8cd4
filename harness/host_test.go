package harness

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/compat"
	"lookfirst/fsmcp"
	"lookfirst/fsmcp/toolkit"
)

// mustHost makes a host of tools without a prefix.
func mustHost(t testing.TB, tools ...*toolkit.Tool) *Host {
	t.Helper()
	h, err := NewHost(HostOptions{Toolkits: []Toolkit{{Tools: tools}}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// filesHost makes a host of both packs, fs_ and the file tools, over a new directory that holds a.txt and d/b.txt.
func filesHost(t testing.TB) (*Host, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.txt": "a\n", "d/b.txt": "b\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := fsmcp.New(fsmcp.Options{Root: dir, NoSync: true, LockDir: t.TempDir(), MapCache: "memory"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	others, err := compat.New(compat.Options{Root: dir, NoSync: true, LockDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { others.Close() })
	h, err := NewHost(HostOptions{Toolkits: []Toolkit{{Prefix: "fs", Tools: files.Tools()}, {Tools: others.Tools()}}})
	if err != nil {
		t.Fatal(err)
	}
	return h, dir
}

// made makes one call of a provider.
func made(t testing.TB, p Provider, name, arguments string) Result {
	t.Helper()
	results := p.ExecuteToolCalls(t.Context(), []Call{{ID: "1", Name: name, Arguments: json.RawMessage(arguments)}})
	if len(results) != 1 || results[0].ToolCallID != "1" || results[0].Role != "tool" {
		t.Fatalf("%s %s: %+v", name, arguments, results)
	}
	return results[0]
}

// works fails the test unless the call works.
func works(t testing.TB, p Provider, name, arguments string) Result {
	t.Helper()
	r := made(t, p, name, arguments)
	if r.IsError {
		t.Fatalf("%s %s: %s", name, arguments, r.Content)
	}
	return r
}

// fails fails the test unless the call fails with a sentence in which want stands.
func fails(t testing.TB, p Provider, name, arguments, want string) {
	t.Helper()
	if r := made(t, p, name, arguments); !r.IsError || !strings.Contains(r.Content, want) {
		t.Fatalf("%s %s: error %v, %q; want one with %q", name, arguments, r.IsError, r.Content, want)
	}
}

func contentOf(t testing.TB, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestHostListsBothPacksByName(t *testing.T) {
	h, _ := filesHost(t)
	tools, err := h.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	var last string
	for _, tool := range tools {
		if tool.Name <= last || !json.Valid(tool.Schema) || tool.Description == "" || tool.ReadOnly != tool.Idempotent {
			t.Errorf("after %q: %+v", last, tool)
		}
		last, got[tool.Name] = tool.Name, tool.ReadOnly
	}
	want := map[string]bool{
		"fs_read": true, "fs_list": true, "fs_glob": true, "fs_stat": true, "fs_grep": true, "fs_map": true,
		"fs_write": false, "fs_edit": false, "fs_mkdir": false, "fs_move": false, "fs_delete": false,
		"list_files": true, "read_file": true, "write_file": false, "edit_file": false, "multi_edit": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	tools[0].Name = "changed"
	if again, _ := h.Tools(t.Context()); again[0].Name == "changed" {
		t.Error("the list is the caller's, and changing it changed the host's")
	}
}

func TestHostRefusesNames(t *testing.T) {
	tests := []struct {
		name string
		kits []Toolkit
		want string
	}{
		{"takes two toolkits apart by their prefixes", []Toolkit{{"a", named("x")}, {"b", named("x")}}, ""},
		{"refuses a name twice", []Toolkit{{"", named("a_x")}, {"a", named("x")}}, "two tools are called 'a_x'"},
		{"refuses a prefix that no client takes", []Toolkit{{"a b", named("x")}}, "prefix 'a b'"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			h, err := NewHost(HostOptions{Toolkits: tt.kits})
			if (err == nil) != (tt.want == "") || (h == nil) != (err != nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// What is read with one pack is read for the other, and each host is a session of its own (D7).
func TestHostIsASession(t *testing.T) {
	h, dir := filesHost(t)
	const write = `{"path":"a.txt","content":"new\n"}`
	fails(t, h, "write_file", write, "File has not been read yet")
	works(t, h, "fs_read", `{"path":"a.txt"}`)
	works(t, h, "write_file", write)
	if got := contentOf(t, dir, "a.txt"); got != "new\n" {
		t.Errorf("the file holds %q", got)
	}
	other, err := NewHost(HostOptions{Toolkits: []Toolkit{{Tools: toolsOf(h)}}})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, other, "write_file", write, "File has not been read yet")
}

func toolsOf(h *Host) []*toolkit.Tool {
	var tools []*toolkit.Tool
	for name, tool := range h.set.now.tools {
		if name == tool.Name {
			tools = append(tools, tool)
		}
	}
	return tools
}

func TestHostResult(t *testing.T) {
	h, _ := filesHost(t)
	got := wire(t, made(t, h, "fs_read", `{"path":"a.txt"}`))
	want := `{"role":"tool","tool_call_id":"1","content":"a\n","is_error":false,"structured_content":{"revisionScheme":"sha256-v1",` +
		`"revisions":{"path":{"state":"file","token":"sha256-v1:file:87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"}}}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = wire(t, made(t, h, "fs_read", `{"path":"c.txt","limit":0}`))
	want = `{"role":"tool","tool_call_id":"1","content":"'limit' is the number 0; send an integer of at least 1","is_error":true}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHostGivesBlocks(t *testing.T) {
	picture := named("picture")[0]
	blocks := []toolkit.Block{{Text: "a dot"}, {Data: []byte{1, 2}, MediaType: "image/png"}}
	picture.Handle = func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
		return &toolkit.Answer{Blocks: blocks}, nil
	}
	got := made(t, mustHost(t, picture), "picture", "")
	if diff := cmp.Diff(Result{Role: "tool", ToolCallID: "1", Content: "a dot", Blocks: blocks}, got); diff != "" {
		t.Error(diff)
	}
}

func TestHostToolsForLLM(t *testing.T) {
	tool := named("say")[0]
	tool.Params = []toolkit.Param{{Name: "text", Type: "string", Description: "What to say.", Required: true}}
	h := mustHost(t, tool, named("listen")[0])
	for _, tt := range []struct {
		name string
		form Form
		want string
	}{
		{"gives functions", OpenAI, `{"type":"function","function":{"name":"%s","description":"Does %s.","parameters":%s}}`},
		{"gives tools with an input schema", Anthropic, `{"name":"%s","description":"Does %s.","input_schema":%s}`},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			all, err := ToolsForLLM(t.Context(), h, tt.form)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, listed := range h.set.now.listed() {
				want = append(want, strings.NewReplacer(`"%s"`, `"`+listed.Name+`"`, "Does %s.", "Does "+listed.Name+".", "%s", string(listed.Schema)).Replace(tt.want))
			}
			if diff := cmp.Diff("["+strings.Join(want, ",")+"]", wire(t, all)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// unruly is a provider that answers as its fields say.
type unruly struct {
	tools  []Tool
	err    error
	answer func(calls []Call) []Result
}

func (u unruly) Tools(context.Context) ([]Tool, error) { return u.tools, u.err }

func (u unruly) ExecuteToolCalls(_ context.Context, calls []Call) []Result { return u.answer(calls) }

func TestHostToolsForLLMOfOthers(t *testing.T) {
	all, err := ToolsForLLM(t.Context(), unruly{tools: []Tool{{Name: "b"}, {Name: "a"}}}, func(t Tool) any { return t.Name })
	if diff := cmp.Diff([]any{"a", "b"}, all); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := ToolsForLLM(t.Context(), unruly{err: os.ErrClosed}, OpenAI); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}
