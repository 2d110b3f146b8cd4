package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/toolkit"
)

// serverOf is a server whose tools are a provider's.
func serverOf(t testing.TB, p Provider) *mcp.Server {
	t.Helper()
	server := newServer()
	tools, err := p.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		hints := &mcp.ToolAnnotations{ReadOnlyHint: tool.ReadOnly, IdempotentHint: tool.Idempotent}
		server.AddTool(&mcp.Tool{Name: tool.Name, InputSchema: tool.Schema, Annotations: hints}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			got := p.ExecuteToolCalls(ctx, []Call{{Name: r.Params.Name, Arguments: r.Params.Arguments}})[0]
			result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: got.Content}}, IsError: got.IsError}
			if got.StructuredContent != nil {
				result.StructuredContent = got.StructuredContent
			}
			return result, nil
		})
	}
	return server
}

// layers are a provider as it is, from afar, and under every layer.
func layers(t testing.TB, p Provider, reported *[]string) map[string]Provider {
	t.Helper()
	allow := PolicyOptions{Rules: []Rule{{Decision: Allow}}}
	far := remoteOf(t, serverOf(t, p), reported)
	return map[string]Provider{
		"itself":                  p,
		"a remote":                far,
		"a fence":                 mustFence(t, p, "fs", ""),
		"a policy":                mustPolicy(t, p, allow),
		"a policy over a fence":   mustPolicy(t, mustFence(t, p, "fs", ""), allow),
		"a fence over a remote":   mustFence(t, far, "fs", ""),
		"a fence over a policy":   mustFence(t, mustPolicy(t, p, allow), "fs", ""),
		"a policy over a remote":  mustPolicy(t, far, allow),
		"one fence on top of one": mustFence(t, mustFence(t, p, "fs", ""), "fs", ""),
	}
}

// malformedCalls are what models send when something goes wrong with them. Had any been taken, it would have changed a.txt.
func malformedCalls() []string {
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	return []string{
		`fs_write []`, `fs_write ["a.txt","bad"]`, `fs_write 7`, `fs_write true`, `fs_write "a.txt"`, `fs_write "[]"`, `fs_write "\"{}\""`,
		`fs_write`, `fs_write null`, `fs_write {}`, `fs_write {"path":"a.txt","content":"bad"`, `fs_write {"path":"a.txt"}{"content":"bad"}`,
		`fs_write {path:"a.txt",content:"bad"}`, `fs_write {'path':'a.txt','content':'bad'}`, `fs_write {"path":"a.txt","content":"bad",}`,
		"fs_write {\"path\":\"a.txt\",\"content\":\"\xff\"}", "fs_write \"{\\\"path\\\":\\\"a.txt\xc0\\\"}\"",
		`fs_write {"path":"\ud800","content":"bad"}`, `fs_write {"path":"a.txt\u0000","content":"bad"}`, `fs_write {"path":"","content":"bad"}`,
		`fs_write {"path":["a.txt"],"content":"bad"}`, `fs_write {"path":{"path":"a.txt"},"content":"bad"}`, `fs_write {"path":null,"content":"bad"}`,
		`fs_write {"path":"a.txt","path":"a.txt","content":"bad"}`, `fs_write {"path":"a.txt","content":"bad","content":"bad"}`,
		`fs_write {"path":"a.txt","content":7}`, `fs_write {"path":"a.txt","content":["bad"]}`, `fs_write {"path":"a.txt","content":"bad","mode":1}`,
		`fs_write {"Path":"a.txt","content":"bad"}`, `fs_write {"path":"a.txt","content":"bad","":""}`,
		`fs_write {"path":"` + strings.Repeat("a/", 20_000) + `","content":"bad"}`, `fs_write {"path":"a.txt","content":` + deep + `}`,
		`fs_write {"path":"a.txt","content":` + strings.Repeat("[", 20_000), `fs_write ` + strings.Repeat(`"`, 3),
		`fs_edit {"path":"a.txt","old-string":"a"}`, `multi_edit {"path":"a.txt","edits":{}}`, `multi_edit {"path":"a.txt","edits":[7]}`,
		`multi_edit {"path":"a.txt","edits":[[]]}`, `multi_edit {"path":"a.txt","edits":[{"old_string":"a","new_string":"b"},{}]}`,
		`fs_move {"from":"a.txt"}`, `fs_move {"from":"a.txt","to":{}}`, `fs_delete {"path":"a.txt","recursive":"bad"}`,
		`fs_Write {"path":"a.txt","content":"bad"}`, `write {"path":"a.txt","content":"bad"}`, "fs_write\x00 {\"path\":\"a.txt\",\"content\":\"bad\"}",
		` {"path":"a.txt","content":"bad"}`, strings.Repeat("fs_write", 10_000) + ` {"path":"a.txt","content":"bad"}`,
	}
}

// A malformed call is answered in its place with a sentence, and its neighbours are made, whatever it goes through.
func TestLayersAnswerMalformedCalls(t *testing.T) {
	h, dir := filesHost(t)
	for name, p := range layers(t, h, nil) {
		t.Run("it goes through "+name, func(t *testing.T) {
			for _, bad := range malformedCalls() {
				calls := callsOf(bad, `fs_read {"path":"a.txt"}`, `fs_write {"path":"a.txt","content":"good\n"}`, bad, `fs_read {"path":"a.txt"}`)
				results := p.ExecuteToolCalls(t.Context(), calls)
				if len(results) != len(calls) {
					t.Fatalf("%.80q: %d results", bad, len(results))
				}
				for i, r := range results {
					isBad := calls[i].Name != "fs_read" && i != 2
					if r.Role != "tool" || r.ToolCallID != calls[i].ID || r.IsError != isBad {
						t.Errorf("%.80q: result %d is %.300q of %s, an error: %v", bad, i, r.Content, r.ToolCallID, r.IsError)
					}
					if isBad && (r.Content == "" || len(r.Content) > 4096 || strings.Contains(r.Content, "goroutine")) {
						t.Errorf("%.80q is answered with %d bytes: %.300q", bad, len(r.Content), r.Content)
					}
				}
				if got := contentOf(t, dir, "a.txt"); got != "good\n" {
					t.Fatalf("%.80q: the file holds %q", bad, got)
				}
			}
		})
	}
}

// A server that is sent what nests too deep ends the connection, so that is refused here; and what is not refused must be
// taken there.
func TestRemoteBoundsNesting(t *testing.T) {
	h, _ := filesHost(t)
	r := remoteOf(t, serverOf(t, h), nil)
	nested := func(depth int) string {
		return strings.Repeat(`{"path":`, depth) + `"a.txt"` + strings.Repeat("}", depth)
	}
	fails(t, r, "fs_read", nested(maxDepth-argumentsDepth), "nest more than 100 deep")
	fails(t, r, "fs_read", nested(maxDepth-argumentsDepth+1), "the arguments of 'fs_read' are nested more than 998 deep; send one JSON object")
	works(t, r, "fs_read", nested(1))
}

// Whatever a layer's provider does, each call has one result.
func TestLayersOverAnUnrulyProvider(t *testing.T) {
	const failed = "!the provider of the tools failed; it is not known whether the call was made"
	for what, answer := range map[string]func([]Call) []Result{
		"answers nothing":      func([]Call) []Result { return nil },
		"answers too little":   func(calls []Call) []Result { return make([]Result, len(calls)-1) },
		"answers too much":     func(calls []Call) []Result { return make([]Result, len(calls)+1) },
		"panics":               func([]Call) []Result { panic("no") },
		"panics with an error": func([]Call) []Result { panic(errors.New("no")) },
		"forgets itself":       func(calls []Call) []Result { return []Result{{Content: calls[len(calls)].ID}} },
	} {
		p := unruly{answer: answer}
		allow := PolicyOptions{Rules: []Rule{{Decision: Allow}}}
		for name, layer := range map[string]Provider{
			"a fence": mustFence(t, p, "fs"), "a policy": mustPolicy(t, p, allow), "a policy over a fence": mustPolicy(t, mustFence(t, p, "fs"), allow),
		} {
			t.Run("it is "+name+" over one that "+what, func(t *testing.T) {
				got := outcome(layer.ExecuteToolCalls(t.Context(), callsOf(`fs_read {"path":"a"}`, `x`, `fs_write {"path":"a"}`, `fs_read {"path":"a"}`)))
				if diff := cmp.Diff([]string{"0 " + failed, "1 " + failed, "2 " + failed, "3 " + failed}, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// A provider that fails after it has made a change leaves nobody knowing: the fence lets nothing land on that until it has
// been looked at.
func TestFenceOverAProviderThatFailsHavingActed(t *testing.T) {
	h, dir := filesHost(t)
	failing := false
	p := unruly{answer: func(calls []Call) []Result {
		results := h.ExecuteToolCalls(t.Context(), calls)
		if failing {
			panic("too late")
		}
		return results
	}}
	f := mustFence(t, p, "fs")
	works(t, f, "fs_read", `{"path":"a.txt"}`)
	failing = true
	fails(t, f, "fs_write", `{"path":"a.txt","content":"first"}`, "it is not known whether the call was made")
	failing = false
	fails(t, f, "fs_write", `{"path":"a.txt","content":"second"}`, "'a.txt' exists, and was expected to be absent")
	if got := contentOf(t, dir, "a.txt"); got != "first" {
		t.Errorf("the file holds %q", got)
	}
	works(t, f, "fs_read", `{"path":"a.txt"}`)
	works(t, f, "fs_write", `{"path":"a.txt","content":"second"}`)
}

// slowTools are a counter's, and one that closes started and takes until it is cancelled.
func slowTools(c *counter, started chan struct{}) []*toolkit.Tool {
	slow := named("slow")[0]
	slow.Handle = func(ctx context.Context, _ *toolkit.Args) (*toolkit.Answer, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return append(c.tools(), slow)
}

// A call that is cancelled is answered, and so are those behind it, which are not made.
func TestLayersOverASlowProvider(t *testing.T) {
	for name := range layers(t, mustHost(t), nil) {
		t.Run("it is cancelled through "+name, func(t *testing.T) {
			c, started := &counter{}, make(chan struct{})
			p := layers(t, mustHost(t, slowTools(c, started)...), nil)[name]
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { <-started; cancel() }()
			got := p.ExecuteToolCalls(ctx, callsOf("add", "slow", "add", "get"))
			if len(got) != 4 || got[0].Content != "1" || !got[1].IsError || !got[2].IsError || !got[3].IsError || got[1].Content == "" {
				t.Errorf("got %q", outcome(got))
			}
			if c.value != 1 {
				t.Errorf("added %d times", c.value)
			}
		})
	}
}

// A tool that does not listen is waited for: what was started is over when the batch is.
func TestLayersWaitForWhatTheyStarted(t *testing.T) {
	allow := PolicyOptions{Rules: []Rule{{Decision: Allow}}}
	for name, over := range map[string]func(*testing.T, Provider) Provider{
		"itself":   func(_ *testing.T, p Provider) Provider { return p },
		"a fence":  func(t *testing.T, p Provider) Provider { return mustFence(t, p, "fs") },
		"a policy": func(t *testing.T, p Provider) Provider { return mustPolicy(t, p, allow) },
	} {
		t.Run("it waits in "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				started, release := make(chan struct{}), make(chan struct{})
				p := over(t, mustHost(t, append((&counter{}).tools(), gated(started, release))...))
				ctx, cancel := context.WithCancel(t.Context())
				var results []Result
				go func() { results = p.ExecuteToolCalls(ctx, callsOf("hold", "add")) }()
				<-started
				cancel()
				synctest.Wait()
				if results != nil {
					t.Errorf("it has not waited: %q", outcome(results))
				}
				close(release)
				synctest.Wait()
				want := []string{"0 ", "1 !the call of 'add' was cancelled before it was made"}
				if diff := cmp.Diff(want, outcome(results)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// Many goroutines share a host under its layers. None gets another's results, and no edit is lost.
func TestLayersFromManyGoroutines(t *testing.T) {
	h, dir := filesHost(t)
	p := mustPolicy(t, mustFence(t, h, "fs", ""), PolicyOptions{Rules: []Rule{{Decision: Allow}}})
	const each = 10
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			own := fmt.Sprintf("own%d.txt", n)
			for done := 0; done < each; {
				line := fmt.Sprintf("%d %d\\n", n, done)
				results := p.ExecuteToolCalls(t.Context(), callsOf(
					`fs_write {"path":"`+own+`","content":"`+line+`"}`, `fs_read {"path":"a.txt"}`,
					`fs_edit {"path":"a.txt","old-string":"a\n","new-string":"a\n`+line+`"}`, `fs_read {"path":"`+own+`"}`))
				if r := results[3]; r.IsError || r.ToolCallID != "3" || r.Content != fmt.Sprintf("%d %d\n", n, done) {
					t.Errorf("%d reads %q", n, r.Content)
					return
				}
				if !results[2].IsError {
					done++
				}
			}
		})
	}
	all.Wait()
	got := map[string]int{}
	for line := range strings.Lines(contentOf(t, dir, "a.txt")) {
		got[line]++
	}
	want := map[string]int{"a\n": 1}
	for n := range 8 * each {
		want[fmt.Sprintf("%d %d\n", n/each, n%each)] = 1
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// badServer speaks to one client as an older server does that has a single tool, x. What it says of each call is for the
// function, which gets the request's id. What is no whole message is its last word.
func badServer(t *testing.T, answer func(id string) string) mcp.Transport {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	go func() {
		defer toClient.Close()
		defer fromClient.Close()
		lines := bufio.NewScanner(fromClient)
		for lines.Scan() {
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
				continue
			}
			said := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"no such method"}}`
			result := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":`
			switch m.Method {
			case "initialize":
				said = result + `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}}}`
			case "tools/list":
				said = result + `{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}}`
			case "tools/call":
				said = answer(string(m.ID))
			}
			_, err := io.WriteString(toClient, said+"\n")
			if err != nil || !strings.HasSuffix(said, "}") {
				return
			}
		}
	}()
	return &mcp.IOTransport{Reader: fromServer, Writer: toServer}
}

// Whatever a server says, or does not, each call has one result.
func TestRemoteOfABadServer(t *testing.T) {
	const gone = "!the server of 'x' does not answer; it is not known whether the call did anything"
	result := func(result string) func(string) string {
		return func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}` }
	}
	tests := []struct {
		name   string
		answer func(id string) string
		want   string
	}{
		{"takes an answer", result(`{"content":[{"type":"text","text":"hello"}]}`), "hello"},
		{"is told of an error", func(id string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32603,"message":"oh"}}`
		}, "!the server did not take the call of 'x': oh"},
		{"is left alone", func(string) string { return "" }, gone},
		{"is told what is no JSON", func(string) string { return "Segmentation fault" }, gone},
		{"is told half of an answer", func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[` }, gone},
		{"is given a content that is no list", result(`{"content":"hello"}`), gone},
		{"is given a content of no kind", result(`{"content":[{"type":"hologram"}]}`), gone},
		{"is given nothing", result(`null`), ""},
		{"is given a list", result(`[]`), gone},
		{"is given an object without content", result(`{}`), ""},
		{"is given structured content that is no object", result(`{"content":[],"structuredContent":7}`), ""},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			var reported []string
			r := mustRemote(t, badServer(t, tt.answer), &reported)
			want := []string{"0 " + tt.want, "1 " + tt.want}
			if diff := cmp.Diff(want, outcome(r.ExecuteToolCalls(t.Context(), callsOf("x", "x {}")))); diff != "" {
				t.Error(diff)
			}
			if (len(reported) == 2) != (tt.want == gone) {
				t.Errorf("reported %q", reported)
			}
		})
	}
}

// A server whose list of tools never ends is given up.
func TestRemoteOfAServerWithoutEnd(t *testing.T) {
	object := json.RawMessage(`{"type":"object"}`)
	tests := []struct {
		name string
		page func(n int) (tools []*mcp.Tool)
		want string // of what is reported
	}{
		{"is told of ever new tools", func(n int) (tools []*mcp.Tool) {
			for i := range 100 {
				tools = append(tools, &mcp.Tool{Name: fmt.Sprintf("x%d_%d", n, i), InputSchema: object})
			}
			return tools
		}, "list the server's tools: there are more than 10000"},
		{"is told of one tool again and again", func(int) []*mcp.Tool { return []*mcp.Tool{{Name: "x", InputSchema: object}} }, "list the server's tools: there are more than 1000 pages"},
		{"is told of nothing again and again", func(int) []*mcp.Tool { return []*mcp.Tool{} }, "list the server's tools: there are more than 1000 pages"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			server, pages := newServer(), 0
			if err := Mount(server, "", named("x")); err != nil {
				t.Fatal(err)
			}
			server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
				return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
					if method != "tools/list" {
						return next(ctx, method, r)
					}
					pages++
					return &mcp.ListToolsResult{Tools: tt.page(pages), NextCursor: "more"}, nil
				}
			})
			var reported []string
			r := remoteOf(t, server, &reported)
			fails(t, r, "x", "", "the call of 'x' was not made, because its server does not say what tools it has")
			if diff := cmp.Diff([]string{tt.want}, reported); diff != "" {
				t.Error(diff)
			}
		})
	}
}
