package harness

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/revision"
	"lookfirst/fsmcp/toolkit"
)

// connect returns a client's session with the server, over a pipe in memory.
func connect(t *testing.T, server *mcp.Server) *mcp.ClientSession {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	session, err := client.Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func newServer() *mcp.Server {
	return mcp.NewServer(&mcp.Implementation{Name: "lookfirst"}, nil)
}

// wire returns v as it is sent.
func wire(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func named(names ...string) []*toolkit.Tool {
	tools := make([]*toolkit.Tool, len(names))
	for i, name := range names {
		tools[i] = &toolkit.Tool{
			Name:        name,
			Description: "Does " + name + ".",
			Handle: func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
				return &toolkit.Answer{Text: name}, nil
			},
		}
	}
	return tools
}

func TestMountNames(t *testing.T) {
	long := strings.Repeat("x", 126)
	cases := []struct {
		name   string
		prefix string
		tools  []string
		want   []string // the names on the server
		err    string
	}{
		{name: "it puts the prefix in front", prefix: "fs", tools: []string{"read", "write"}, want: []string{"fs_read", "fs_write"}},
		{name: "it registers bare names without a prefix", tools: []string{"read"}, want: []string{"read"}},
		{name: "it takes every character that clients accept", prefix: "A.b-9", tools: []string{"x_1"}, want: []string{"A.b-9_x_1"}},
		{name: "it takes a name of 128 characters", prefix: "p", tools: []string{long}, want: []string{"p_" + long}},
		{
			name: "it refuses a name of 129 characters", prefix: "pp", tools: []string{long},
			err: "tool 'pp_" + long + "' has 129 characters; a name may have 128 with its prefix",
		},
		{
			name: "it refuses a prefix with a space", prefix: "my files", tools: []string{"read"},
			err: "prefix 'my files': a name is made of letters from a to z, digits, '_', '-' and '.'",
		},
		{
			name: "it refuses letters that are not from a to z", prefix: "é", tools: []string{"read"},
			err: "prefix 'é': a name is made of letters from a to z, digits, '_', '-' and '.'",
		},
		{
			name: "it refuses an empty name", prefix: "fs", tools: []string{""},
			err: "tool '': a name is made of letters from a to z, digits, '_', '-' and '.'",
		},
		{
			name: "it refuses two tools of one name and registers neither", prefix: "fs", tools: []string{"a", "read", "read"},
			err: "two tools are called 'fs_read'",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			server := newServer()
			server.AddTool(&mcp.Tool{Name: "zz", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
			if err := Mount(server, c.prefix, named(c.tools...)); (err != nil || c.err != "") && (err == nil || err.Error() != c.err) {
				t.Errorf("got error %v, want %q", err, c.err)
			}
			var got []string
			for tool, err := range connect(t, server).Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, tool.Name)
			}
			if diff := cmp.Diff(append(c.want, "zz"), got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestMountDescribes(t *testing.T) {
	tools := named("read", "write")
	tools[0].ReadOnly = true
	tools[1].Params = []toolkit.Param{{Name: "path", Type: "string", Required: true}, {Name: "content", Type: "string"}}
	server := newServer()
	if err := Mount(server, "fs", tools); err != nil {
		t.Fatal(err)
	}
	list, err := connect(t, server).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	// A client decodes a schema into a map, so the order of its properties is for the schema's own test.
	want := `[{"annotations":{"idempotentHint":true,"readOnlyHint":true},"description":"Does read.",` +
		`"inputSchema":{"additionalProperties":false,"properties":{},"type":"object"},"name":"fs_read"},` +
		`{"description":"Does write.",` +
		`"inputSchema":{"additionalProperties":false,"properties":{"content":{"type":"string"},"path":{"type":"string"}},` +
		`"required":["path"],"type":"object"},"name":"fs_write"}]`
	if diff := cmp.Diff(want, wire(t, list.Tools)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestMountPassesResultsOn(t *testing.T) {
	set := revision.Set{"path": {State: revision.File, Token: "sha256-v1:file:00"}}
	cases := []struct {
		name   string
		args   any
		handle func(context.Context, *toolkit.Args) (*toolkit.Answer, error)
		want   string
	}{
		{
			name: "it gives the text and the revisions",
			args: json.RawMessage(`{"path":"<a>"}`),
			handle: func(_ context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
				return &toolkit.Answer{Text: a.String("path"), Revisions: set}, nil
			},
			want: `{"content":[{"type":"text","text":"\u003ca\u003e"}],"structuredContent":` +
				`{"revisionScheme":"sha256-v1","revisions":{"path":{"state":"file","token":"sha256-v1:file:00"}}}}`,
		},
		{
			name: "it gives text alone without revisions",
			handle: func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
				return &toolkit.Answer{}, nil
			},
			want: `{"content":[{"type":"text","text":""}]}`,
		},
		{
			name: "it gives a refusal as a result",
			handle: func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
				return nil, toolkit.Refuse("'a' is not there")
			},
			want: `{"content":[{"type":"text","text":"'a' is not there"}],"isError":true}`,
		},
		{
			name: "it gives a fault in the arguments as a result",
			args: json.RawMessage(`{"paht":"a"}`),
			want: `{"content":[{"type":"text","text":"there is no argument 'paht'; send it as 'path'"}],"isError":true}`,
		},
		{
			name: "it gives a panic as a result",
			handle: func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
				panic("the far side must not see this")
			},
			want: `{"content":[{"type":"text","text":"the read tool failed inside the server; nothing more is known here, ` +
				`the server's log has the details"}],"isError":true}`,
		},
		{
			name: "it gives a fault of the machine as a result",
			handle: func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
				return nil, errors.New("the far side must not see this")
			},
			want: `{"content":[{"type":"text","text":"the read tool failed inside the server; nothing more is known here, ` +
				`the server's log has the details"}],"isError":true}`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			server := newServer()
			read := &toolkit.Tool{
				Name:   "read",
				Params: []toolkit.Param{{Name: "path", Type: "string"}},
				Handle: c.handle,
				Report: func(error) {},
			}
			if err := Mount(server, "", []*toolkit.Tool{read}); err != nil {
				t.Fatal(err)
			}
			got, err := connect(t, server).CallTool(t.Context(), &mcp.CallToolParams{Name: "read", Arguments: c.args})
			if err != nil {
				t.Fatal(err)
			}
			got.Meta = nil // The newest protocol names the server in it, and gives every result a type.
			if diff := cmp.Diff(c.want, strings.Replace(wire(t, got), `,"resultType":"complete"`, "", 1)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}
