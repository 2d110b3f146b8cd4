package harness

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/toolkit"
)

// saying is a tool that answers with a text.
func saying(name, text string) *toolkit.Tool {
	return &toolkit.Tool{Name: name, Description: "Says it.", ReadOnly: true, Handle: func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
		return &toolkit.Answer{Text: text}, nil
	}}
}

func mustToolset(t testing.TB, tools ...*toolkit.Tool) *Toolset {
	t.Helper()
	set, err := NewToolset(Toolkit{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func mustReplace(t testing.TB, set *Toolset, retire func(), tools ...*toolkit.Tool) {
	t.Helper()
	if err := set.Replace([]Toolkit{{Tools: tools}}, retire); err != nil {
		t.Fatal(err)
	}
}

func TestToolsetReplaces(t *testing.T) {
	set := mustToolset(t, saying("a", "old"), saying("b", "old"))
	h, err := NewHost(HostOptions{Toolset: set})
	if err != nil {
		t.Fatal(err)
	}
	mustReplace(t, set, nil, saying("a", "new"), saying("c", "new"))
	got := outcome(h.ExecuteToolCalls(t.Context(), callsOf("a", "b", "c")))
	want := []string{"0 new", "1 !there is no tool 'b'; choose one of the tools in the list", "2 new"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	tools, _ := h.Tools(t.Context())
	if len(tools) != 2 || tools[1].Name != "c" {
		t.Errorf("got %v", tools)
	}
	if err := set.Replace([]Toolkit{{Tools: named("x", "x")}}, nil); err == nil {
		t.Error("two tools of one name were taken")
	}
	if got := works(t, h, "a", "").Content; got != "new" {
		t.Errorf("after a replacement that failed got %q", got)
	}
	if _, err := NewHost(HostOptions{Toolset: set, Toolkits: []Toolkit{{}}}); err == nil {
		t.Error("a host took both")
	}
}

func TestToolsetRetires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, release := make(chan struct{}), make(chan struct{})
		set := mustToolset(t, gated(started, release))
		var retired []string
		retire := func(name string) func() { return func() { retired = append(retired, name) } }
		set.OnRetire(retire("first"))
		h, _ := NewHost(HostOptions{Toolset: set})
		done := make(chan string)
		go func() {
			r := h.ExecuteToolCalls(t.Context(), []Call{{Name: "hold"}, {Name: "late"}})
			done <- strings.Join(outcome(r), "; ")
		}()
		<-started
		mustReplace(t, set, retire("second"), saying("late", "new"))
		synctest.Wait()
		if len(retired) != 0 {
			t.Errorf("with a call under way %v were retired", retired)
		}
		close(release)
		if got := <-done; !strings.Contains(got, "there is no tool 'late'") {
			t.Errorf("a batch that began before got %s", got)
		}
		works(t, h, "late", "")
		if synctest.Wait(); len(retired) != 1 {
			t.Errorf("what is served was retired: %v", retired)
		}
		mustReplace(t, set, retire("third"))
		synctest.Wait()
		mustReplace(t, set, nil)
		synctest.Wait()
		if diff := cmp.Diff([]string{"first", "second", "third"}, retired); diff != "" {
			t.Error(diff)
		}
	})
}

// Over a pipe, a call that waits in line keeps the tools that were served when it came.
func TestServeReplaces(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	slow := gated(started, release)
	slow.ReadOnly = false
	o := options(t, slow, saying("b", "old"))
	retired := make(chan struct{})
	o.Tools.OnRetire(func() { close(retired) })
	p := dial(t, o)
	p.send("%s", modern("1", "tools/call", `"name":"hold",`))
	<-started
	p.send("%s", modern("2", "tools/call", `"name":"b",`))
	p.send("%s", modern("3", "tools/call", `"name":"nothing",`)) // whose answer says that the second was read
	if got := p.read(); !strings.Contains(got, `"id":3,`) {
		t.Fatalf("got %s", got)
	}
	mustReplace(t, o.Tools, nil, saying("b", "new"))
	select {
	case <-retired:
		t.Error("retired with two calls under way")
	default:
	}
	close(release)
	p.read()
	if got := p.read(); !strings.Contains(got, `"text":"old"`) {
		t.Errorf("the call in line got %s", got)
	}
	<-retired
	p.send("%s", modern("4", "tools/call", `"name":"b",`))
	if got := p.read(); !strings.Contains(got, `"text":"new"`) {
		t.Errorf("the next call got %s", got)
	}
	p.send("%s", modern("5", "tools/call", `"name":"hold",`))
	if got := p.read(); !strings.Contains(got, `"error":{"code":-32602,"message":"unknown tool`) {
		t.Errorf("a call of what is gone got %s", got)
	}
}

// What is served outlives a connection, and must not be kept for the calls that were in its line at the end.
func TestServeEndsWithCallsInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, release := make(chan struct{}), make(chan struct{})
		slow := gated(started, release)
		slow.ReadOnly = false
		o := options(t, slow, saying("b", "old"))
		retired := false
		o.Tools.OnRetire(func() { retired = true })
		in, client := io.Pipe()
		defer client.Close()
		o.In, o.Out = in, io.Discard
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Serve(ctx, o) }()
		_, _ = io.WriteString(client, modern("1", "tools/call", `"name":"hold",`)+"\n")
		<-started
		_, _ = io.WriteString(client, modern("2", "tools/call", `"name":"b",`)+"\n")
		synctest.Wait()
		mustReplace(t, o.Tools, nil, saying("b", "new"))
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if retired {
			t.Error("retired with a call under way")
		}
		close(release)
		synctest.Wait()
		if !retired {
			t.Error("the call in line has kept its tools")
		}
	})
}

func TestToolsetTellsClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, set := newServer(), mustToolset(t, saying("a", "old"), saying("b", "old"))
		set.Mount(server)
		changes := 0
		client := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changes++ },
		})
		here, there := mcp.NewInMemoryTransports()
		if _, err := server.Connect(t.Context(), there, nil); err != nil {
			t.Fatal(err)
		}
		session, err := client.Connect(t.Context(), here, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		told := func(want int, list string) {
			t.Helper()
			time.Sleep(time.Minute) // of the bubble's time
			synctest.Wait()
			var names []string
			for tool, err := range session.Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, tool.Name+":"+tool.Description)
			}
			if got := strings.Join(names, " "); changes != want || got != list {
				t.Errorf("told %d times of %s, want %d of %s", changes, got, want, list)
			}
		}
		told(0, "a:Says it. b:Says it.")
		mustReplace(t, set, nil, saying("a", "new"), saying("b", "new"))
		told(0, "a:Says it. b:Says it.")
		c := saying("c", "new")
		c.Params = []toolkit.Param{{Name: "path", Type: "string"}}
		mustReplace(t, set, nil, saying("a", "new"), c)
		told(1, "a:Says it. c:Says it.")
		if list, err := session.ListTools(t.Context(), nil); err != nil || !strings.Contains(wire(t, list.Tools[1]), `"path"`) {
			t.Errorf("the new tool has no parameter: %v", err)
		}
		a := saying("a", "newer")
		a.Description = "Says more."
		mustReplace(t, set, nil, a, c)
		told(2, "a:Says more. c:Says it.")
		got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "a"})
		if err != nil || got.Content[0].(*mcp.TextContent).Text != "newer" {
			t.Errorf("got %v %v", got, err)
		}
	})
}

// A call of the library's server may find its tool gone, when it was looked up just before.
func TestToolsetHandlerOfWhatIsGone(t *testing.T) {
	set := mustToolset(t, saying("a", "old"))
	handler := set.handler("a")
	mustReplace(t, set, nil)
	_, err := handler(t.Context(), &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: "a"}})
	if diff := cmp.Diff(unknown("a"), err); diff != "" {
		t.Error(diff)
	}
}
