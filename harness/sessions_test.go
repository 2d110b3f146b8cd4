package harness

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/toolkit"
	"lookfirst/readstate"
)

// TestTrackSessions lets a tool say what the session of its call has seen so far, and see one thing more.
func TestTrackSessions(t *testing.T) {
	serve := func(stateless bool) string {
		server := NewServer(&mcp.Implementation{Name: "test", Version: "1"}, "")
		TrackSessions(server)
		look := &toolkit.Tool{Name: "look", Handle: func(ctx context.Context, _ *toolkit.Args) (*toolkit.Answer, error) {
			switch seen := readstate.From(ctx); {
			case seen == nil:
				return nil, readstate.ErrNoSession
			case seen.Has("f"):
				return &toolkit.Answer{Text: "seen"}, nil
			default:
				seen.Saw("f", "token")
				return &toolkit.Answer{Text: "new"}, nil
			}
		}}
		if err := Mount(server, "", []*toolkit.Tool{look}); err != nil {
			t.Fatal(err)
		}
		s := httptest.NewServer(mcp.NewStreamableHTTPHandler(
			func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: stateless}))
		t.Cleanup(s.Close)
		return s.URL
	}
	look := func(c *mcp.ClientSession) string {
		t.Helper()
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "look"})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(*mcp.TextContent).Text
	}
	connect := func(url string) *mcp.ClientSession {
		t.Helper()
		c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}

	url := serve(false)
	first, second := connect(url), connect(url)
	for _, step := range []struct {
		by   *mcp.ClientSession
		want string
	}{{first, "new"}, {first, "seen"}, {second, "new"}, {first, "seen"}, {second, "seen"}} {
		if got := look(step.by); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
	if got := look(connect(serve(true))); got != readstate.ErrNoSession.Error() {
		t.Errorf("without a session: %q", got)
	}
}

// An answer of several pieces reaches a client as such.
func TestMountedBlocks(t *testing.T) {
	server := NewServer(&mcp.Implementation{Name: "test", Version: "1"}, "")
	show := &toolkit.Tool{Name: "show", Handle: func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
		return &toolkit.Answer{Blocks: []toolkit.Block{{Text: "a"}, {Data: []byte{1}, MediaType: "image/png"}, {Data: []byte{2}, MediaType: "application/pdf", URI: "file:///a.pdf"}}}, nil
	}}
	if err := Mount(server, "", []*toolkit.Tool{show}); err != nil {
		t.Fatal(err)
	}
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "show"})
	if err != nil {
		t.Fatal(err)
	}
	want := []mcp.Content{
		&mcp.TextContent{Text: "a"}, &mcp.ImageContent{Data: []byte{1}, MIMEType: "image/png"},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a.pdf", MIMEType: "application/pdf", Blob: []byte{2}}},
	}
	if diff := cmp.Diff(want, r.Content); diff != "" {
		t.Error(diff)
	}
}
