package harness

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/toolkit"
)

// mustRemote connects to a server. Whatever is reported goes to the list.
func mustRemote(t testing.TB, transport mcp.Transport, reported *[]string) *Remote {
	t.Helper()
	r, err := OpenRemote(t.Context(), transport, RemoteOptions{Report: func(err error) {
		if reported == nil {
			t.Errorf("reported: %v", err)
			return
		}
		*reported = append(*reported, err.Error())
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// remoteOf connects to a server in this process.
func remoteOf(t testing.TB, server *mcp.Server, reported *[]string) *Remote {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	return mustRemote(t, near, reported)
}

const serveVariable = "LOOKFIRST_TEST_REMOTE"

// TestRemoteProgram is no test, but the program that TestRemote starts.
func TestRemoteProgram(t *testing.T) {
	if os.Getenv(serveVariable) == "" {
		return
	}
	o := options(t, echo(), (&counter{}).tools()[2])
	o.In, o.Out = os.Stdin, os.Stdout
	if Serve(context.Background(), o) != nil {
		os.Exit(1)
	}
	os.Exit(0) // What the testing package would print is no part of the protocol.
}

// A remote server answers as the same tools do in this process, by whatever way it is reached.
func TestRemote(t *testing.T) {
	program := exec.Command(os.Args[0], "-test.run=^TestRemoteProgram$")
	program.Env = append(os.Environ(), serveVariable+"=1")
	url, _, _ := listening(t, overHTTP(t, HTTPOptions{}, echo(), (&counter{}).tools()[2]))
	near, far := mcp.NewInMemoryTransports()
	if _, err := options(t, echo(), (&counter{}).tools()[2]).Server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	for name, transport := range map[string]mcp.Transport{
		"the pipes of a process": &mcp.CommandTransport{Command: program},
		"HTTP":                   &mcp.StreamableClientTransport{Endpoint: url},
		"memory":                 near,
	} {
		t.Run("it answers over "+name, func(t *testing.T) {
			h := mustHost(t, echo(), (&counter{}).tools()[2])
			r := mustRemote(t, transport, nil)
			calls := callsOf(`echo {"text":"<é>","revision":true}`, `add`, `add {}`, `echo {"txt":1}`, `echo`, `none`, `echo 1`, `echo "{\"text\":\"s\"}"`)
			if diff := cmp.Diff(h.ExecuteToolCalls(t.Context(), calls), r.ExecuteToolCalls(t.Context(), calls), equalJSON()); diff != "" {
				t.Error(diff)
			}
			want, _ := h.Tools(t.Context())
			got, err := r.Tools(t.Context())
			if diff := cmp.Diff(want, got, equalJSON()); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

// equalJSON compares JSON by what it says.
func equalJSON() cmp.Option {
	return cmp.Transformer("JSON", func(raw json.RawMessage) any {
		var v any
		_ = json.Unmarshal(raw, &v)
		return v
	})
}

func TestRemoteContent(t *testing.T) {
	dot := []byte{1, 2}
	tests := []struct {
		name   string
		result mcp.CallToolResult
		want   Result
	}{
		{"joins texts", mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "a"}, &mcp.TextContent{Text: "b"}}}, Result{Content: "a\nb"}},
		{"gives nothing", mcp.CallToolResult{}, Result{}},
		{"keeps an error", mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no"}}}, Result{Content: "no", IsError: true}},
		{"gives the address of a link", mcp.CallToolResult{Content: []mcp.Content{&mcp.ResourceLink{Name: "n", URI: "file:///n"}}}, Result{Content: "n: file:///n"}},
		{"gives the text of a resource", mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "u:n", Text: "t"}}}}, Result{Content: "t"}},
		{
			"gives what is no text as blocks",
			mcp.CallToolResult{Content: []mcp.Content{
				&mcp.TextContent{Text: "a"},
				&mcp.ImageContent{Data: dot, MIMEType: "image/png"},
				&mcp.AudioContent{Data: dot, MIMEType: "audio/wav"},
				&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "u:n", MIMEType: "application/pdf", Blob: dot}},
			}},
			Result{Content: "a", Blocks: []toolkit.Block{
				{Text: "a"},
				{Data: dot, MediaType: "image/png"},
				{Data: dot, MediaType: "audio/wav"},
				{Data: dot, MediaType: "application/pdf", URI: "u:n"},
			}},
		},
		{"passes structured content on", mcp.CallToolResult{StructuredContent: json.RawMessage(`{"a":[1]}`)}, Result{StructuredContent: json.RawMessage(`{"a":[1]}`)}},
		{"finds revisions where clients that drop texts get them", mcp.CallToolResult{Meta: mcp.Meta{MetaKeyRevisions: map[string]any{"revisions": 1}}}, Result{StructuredContent: json.RawMessage(`{"revisions":1}`)}},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			server := newServer()
			server.AddTool(&mcp.Tool{Name: "x", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &tt.result, nil
			})
			tt.want = tt.want.answering(Call{ID: "1"})
			if diff := cmp.Diff(tt.want, made(t, remoteOf(t, server, nil), "x", "")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRemoteGoesByTheHints(t *testing.T) {
	server := newServer()
	for name, hints := range map[string]*mcp.ToolAnnotations{"none": nil, "reads": {ReadOnlyHint: true}, "both": {ReadOnlyHint: true, IdempotentHint: true}} {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: hints}, nil)
	}
	tools, err := remoteOf(t, server, nil).Tools(t.Context())
	got := map[string]bool{}
	for _, tool := range tools {
		got[tool.Name] = tool.mayShare()
	}
	if diff := cmp.Diff(map[string]bool{"none": false, "reads": false, "both": true}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestRemoteFailures(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := newServer()
	add := func(name string, handle func(context.Context) error) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, handle(ctx)
		})
	}
	add("good", func(context.Context) error { return nil })
	add("refuses", func(context.Context) error { return errors.New("not today") })
	add("hangs", func(ctx context.Context) error { cancel(); <-ctx.Done(); return ctx.Err() })
	var reported []string
	r := remoteOf(t, server, &reported)
	got := outcome(r.ExecuteToolCalls(ctx, callsOf("good", "refuses", "good", "hangs", "good")))
	want := []string{
		"0 ", "1 !the server did not take the call of 'refuses': not today", "2 ",
		"3 !the call of 'hangs' was cancelled; it is not known whether it did anything", "4 !the call of 'good' was cancelled before it was made",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(reported) > 0 {
		t.Errorf("reported %q; %s", reported, diff)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got = outcome(r.ExecuteToolCalls(t.Context(), callsOf("good", "good")))
	const gone = "!the server of 'good' does not answer; it is not known whether the call did anything"
	if diff := cmp.Diff([]string{"0 " + gone, "1 " + gone}, got); diff != "" || len(reported) != 2 {
		t.Errorf("reported %q; %s", reported, diff)
	}
	if _, err := r.Tools(t.Context()); err == nil {
		t.Error("a closed remote lists tools")
	}
	r.forget()
	got = outcome(r.ExecuteToolCalls(t.Context(), callsOf("good")))
	if diff := cmp.Diff([]string{"0 !the call of 'good' was not made, because its server does not say what tools it has"}, got); diff != "" {
		t.Error(diff)
	}
}

// The server's news of its tools must be heard, or a new one would stay unknown.
func TestRemoteHearsOfNewTools(t *testing.T) {
	server := mcp.NewServer(identity(), nil)
	if err := Mount(server, "", named("old")); err != nil {
		t.Fatal(err)
	}
	r := remoteOf(t, server, nil)
	works(t, r, "old", "")
	fails(t, r, "new", "", "there is no tool 'new'")
	if err := Mount(server, "", named("new")); err != nil {
		t.Fatal(err)
	}
	for t.Context().Err() == nil { // The news comes when it comes.
		if !made(t, r, "new", "").IsError {
			return
		}
		runtime.Gosched()
	}
}

func TestRemoteRefusesToConnect(t *testing.T) {
	_, err := OpenRemote(t.Context(), &mcp.CommandTransport{Command: exec.Command("/no/such/program")}, RemoteOptions{})
	if err == nil || !strings.Contains(err.Error(), "connect to the server") {
		t.Errorf("got %v", err)
	}
}
