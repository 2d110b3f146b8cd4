package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/toolkit"
)

// overHTTP returns what serves the tools at /mcp. Whatever is reported fails the test.
func overHTTP(t testing.TB, o HTTPOptions, tools ...*toolkit.Tool) *HTTP {
	t.Helper()
	o.Server, o.Path = NewServer(identity(), "Look first."), "/mcp"
	if o.Errors == nil {
		o.Errors = func(err error) { t.Errorf("reported: %v", err) }
	}
	for _, tool := range tools {
		tool.Report = o.Errors
	}
	if err := Mount(o.Server, "", tools); err != nil {
		t.Fatal(err)
	}
	return NewHTTP(o)
}

// exchange is a request with its answer. Headers are written as "Name: value"; what a client always sends is there already,
// and an empty value takes it away.
type exchange struct {
	method  string // POST where empty
	path    string // /mcp where empty
	host    string // 127.0.0.1:8080 where empty
	headers []string
	body    string
}

func (x exchange) with(headers ...string) exchange {
	x.headers = append(append([]string{}, x.headers...), headers...)
	return x
}

func (x exchange) request(ctx context.Context) *http.Request {
	or := func(s, other string) string {
		if s == "" {
			return other
		}
		return s
	}
	r := httptest.NewRequestWithContext(ctx, or(x.method, "POST"), or(x.path, "/mcp"), strings.NewReader(x.body))
	r.Host = or(x.host, "127.0.0.1:8080")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if x.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, line := range x.headers {
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case value == "":
			r.Header.Del(strings.TrimSuffix(name, ":"))
		case name == "Origin":
			r.Header.Add(name, value)
		default:
			r.Header.Set(name, value)
		}
	}
	return r
}

func (x exchange) do(t testing.TB, h http.Handler) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, x.request(t.Context()))
	return w.Result()
}

// said returns the last message of an answer, whichever way it came.
func said(t testing.TB, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		events := strings.Split(strings.TrimSpace(string(body)), "\n\n")
		_, data, _ := strings.Cut(events[len(events)-1], "data: ")
		return data
	}
	return strings.TrimSpace(string(body))
}

// code returns the code of an error, or 0.
func code(message string) int {
	var m struct{ Error struct{ Code int } }
	_ = json.Unmarshal([]byte(message), &m)
	return m.Error.Code
}

// begun returns the id of a new session.
func begun(t testing.TB, h http.Handler) string {
	t.Helper()
	r := exchange{body: hello}.do(t, h)
	id := r.Header.Get("Mcp-Session-Id")
	if r.StatusCode != 200 || id == "" {
		t.Fatalf("initialize: status %d, %s", r.StatusCode, said(t, r))
	}
	if r := (exchange{body: initialized}).with("Mcp-Session-Id: "+id).do(t, h); r.StatusCode != 202 {
		t.Fatalf("initialized: status %d, %s", r.StatusCode, said(t, r))
	}
	return id
}

// modernCall is a call of the modern era with its headers.
func modernCall(params, tool string) exchange {
	return exchange{body: modern("1", "tools/call", `"name":"`+tool+`",`+params)}.with(
		"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: "+tool)
}

// olderCall is a call without arguments of the older era.
func olderCall(tool string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `"}}`
}

func TestHTTPEras(t *testing.T) {
	const older = "Mcp-Session-Id: SESSION" // stands for that of a session
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	modernA := modernCall(`"arguments":{"text":"a"},`, "echo")
	modernEchoedA := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}],"resultType":"complete",` + wholeInfo + `}}`
	coded := func(code int) string { return fmt.Sprint(code) }
	cases := []struct {
		name     string
		exchange exchange
		status   int
		want     string // the message as JSON, the code of its error, or nothing
	}{
		{"it begins a session", exchange{body: hello}, 200, `{"jsonrpc":"2.0","id":"hello","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"lookfirst","version":"1.2.3"},"instructions":"Look first."}}`},
		{"it begins a session of the newest older version for who asks for a modern one", exchange{body: strings.Replace(hello, "2025-11-25", "2026-07-28", 1)}, 200, `{"jsonrpc":"2.0","id":"hello","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"lookfirst","version":"1.2.3"},"instructions":"Look first."}}`},
		{"it serves a call in its session", exchange{body: echoA}.with(older), 200, echoedA},
		{"it serves a call that names an older version", exchange{body: echoA}.with(older, "Mcp-Protocol-Version: 2025-06-18"), 200, echoedA},
		{"it refuses a call outside a session", exchange{body: echoA}, 400, coded(-32600)},
		{"it refuses a ping outside a session", exchange{body: ping}, 400, coded(-32600)},
		{"it refuses a call in a session that there is not", exchange{body: echoA}.with("Mcp-Session-Id: nobody"), 404, ""},
		{"it refuses a second initialize with a code", exchange{body: hello}.with(older), 200, coded(-32602)},
		{"it refuses a method that there is not", exchange{body: `{"jsonrpc":"2.0","id":2,"method":"no/such"}`}.with(older), 400, ""},
		{"it refuses a tool that there is not", exchange{body: strings.Replace(echoA, `"echo"`, `"nobody"`, 1)}.with(older), 200, coded(-32602)},
		{"it refuses an older version that nobody knows", exchange{body: ping}.with(older, "Mcp-Protocol-Version: 2020-01-01"), 400, ""},

		{"it serves a call of the modern era without a session", modernA, 200, modernEchoedA},
		{"it does not ask for the session of a modern call", modernA.with("Mcp-Session-Id: nobody"), 200, modernEchoedA},
		{"it answers server/discover", exchange{body: modern("1", "server/discover", "")}.with("Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: server/discover"), 200, `{"jsonrpc":"2.0","id":1,"result":{` + wholeInfo + `,"cacheScope":"private","capabilities":{"tools":{"listChanged":true}},"instructions":"Look first.","resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"ttlMs":0}}`},
		{"it misses the version in the header", modernA.with("Mcp-Protocol-Version:"), 400, coded(-32020)},
		{"it misses the version in the header of a modern call in a session", modernA.with("Mcp-Protocol-Version:", older), 400, coded(-32020)},
		{"it refuses an older version in the header of a modern call", modernA.with("Mcp-Protocol-Version: 2025-11-25"), 400, coded(-32020)},
		{"it misses the method in the header", modernA.with("Mcp-Method:"), 400, coded(-32020)},
		{"it misses the name in the header", modernA.with("Mcp-Name:"), 400, coded(-32020)},
		{"it refuses another name in the header", modernA.with("Mcp-Name: other"), 400, coded(-32020)},
		{"it misses the version in the body", exchange{body: echoA}.with("Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: echo"), 400, coded(-32602)},
		{"it names the versions it knows", exchange{body: strings.Replace(modernA.body, "2026-07-28", "2027-01-01", 1)}.with(modernA.headers...).with("Mcp-Protocol-Version: 2027-01-01"), 400, coded(-32022)},
		{"it refuses initialize in the modern era", exchange{body: modern("1", "initialize", "")}.with("Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: initialize"), 404, coded(-32601)},
		{"it refuses a method that there is not in the modern era", exchange{body: modern("1", "no/such", "")}.with("Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: no/such"), 404, coded(-32601)},

		{"it takes any kind of answer for both", modernA.with("Accept: */*"), 200, modernEchoedA},
		{"it misses a kind of answer", modernA.with("Accept: application/json"), 400, ""},
		{"it takes a character set", modernA.with("Content-Type: application/json; charset=utf-8"), 200, modernEchoedA},
		{"it refuses another kind of body", modernA.with("Content-Type: text/plain"), 415, ""},
		{"it takes white space and a byte order mark around a message", exchange{body: " \ufeff\r\n" + modernA.body + "\r\n"}.with(modernA.headers...), 200, modernEchoedA},
		{"it refuses what is no JSON", exchange{body: `{"jsonrpc":`}, 400, coded(-32700)},
		{"it refuses a body of white space", exchange{body: " \n"}, 400, coded(-32700)},
		{"it refuses a batch", exchange{body: "[" + echoA + "]"}.with(older, "Mcp-Protocol-Version: 2025-03-26"), 400, coded(-32600)},
		{"it refuses a key given twice", exchange{body: strings.Replace(echoA, `"id":1`, `"id":1,"id":1`, 1)}.with(older), 400, coded(-32600)},

		{"it wants a session for news", exchange{method: "GET"}, 400, ""},
		{"it has no stream of news in the modern era", exchange{method: "GET"}.with("Mcp-Protocol-Version: 2026-07-28"), 405, ""},
		{"it wants a session to end", exchange{method: "DELETE"}, 400, ""},
		{"it ends a session", exchange{method: "DELETE"}.with(older), 204, ""},
		{"it ends no session in the modern era", exchange{method: "DELETE"}.with("Mcp-Protocol-Version: 2026-07-28", older), 405, ""},
		{"it knows no other method", exchange{method: "PUT"}, 405, ""},
		{"it serves nothing at another path", exchange{path: "/", body: hello}, 404, coded(-32600)},
		{"it serves nothing below its path", exchange{path: "/mcp/", body: hello}, 404, coded(-32600)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := overHTTP(t, HTTPOptions{}, echo())
			id := begun(t, h)
			for i, line := range c.exchange.headers {
				c.exchange.headers[i] = strings.Replace(line, "SESSION", id, 1)
			}
			r := c.exchange.do(t, h)
			got := said(t, r)
			if r.StatusCode != c.status {
				t.Errorf("status %d, want %d: %s", r.StatusCode, c.status, got)
			}
			switch {
			case strings.HasPrefix(c.want, "{"):
				same(t, c.want, got)
			case c.want != "" && coded(code(got)) != c.want:
				t.Errorf("got %s, want the code %s", got, c.want)
			}
			if c.exchange.method == "DELETE" && c.status == 204 {
				if r := (exchange{body: ping}).with("Mcp-Session-Id: "+id).do(t, h); r.StatusCode != 404 {
					t.Errorf("after its end the session gives %d", r.StatusCode)
				}
			}
		})
	}
}

func TestHTTPListsArePrivate(t *testing.T) {
	h := overHTTP(t, HTTPOptions{}, echo())
	list := modern("1", "tools/list", "")
	r := exchange{body: list}.with("Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list").do(t, h)
	if got := said(t, r); !strings.Contains(got, `"cacheScope":"private"`) {
		t.Errorf("got %s", got)
	}
}

func TestHTTPTakesABodyOf64MiB(t *testing.T) {
	for _, c := range []struct {
		name   string
		size   int
		status int
	}{
		{"it takes 64 MiB", maxLine, 200},
		{"it refuses a byte more", maxLine + 1, 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := &echoTool{}
			h := overHTTP(t, HTTPOptions{}, tool.tool())
			around := modernCall(`"arguments":{"text":""},`, "echo")
			text := strings.Repeat("a", c.size-len(around.body))
			x := exchange{body: strings.Replace(around.body, `"text":""`, `"text":"`+text+`"`, 1), headers: around.headers}
			r := x.do(t, h)
			if r.StatusCode != c.status {
				t.Errorf("status %d, want %d: %.200s", r.StatusCode, c.status, said(t, r))
			}
			if c.status == 200 && tool.length != len(text) {
				t.Errorf("the tool got %d bytes, want %d", tool.length, len(text))
			}
			if c.status == 413 && code(said(t, r)) != -32600 {
				t.Errorf("it is refused without a message")
			}
		})
	}
}

func TestHTTPPlacesRevisions(t *testing.T) {
	const object = `{"revisionScheme":"sha256-v1","revisions":{"path":{"state":"file","token":"sha256-v1:file:00"}}}`
	const unknown = `{"revisionScheme":"sha256-v1","revisions":{"path":{"state":"unknown"}}}`
	structured := `"structuredContent":` + object
	meta := `"_meta":{"lookfirst/revisions":` + object + `}`
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","revision":true}}}`
	cases := []struct {
		name      string
		placement Placement
		client    string
		want      string
	}{
		{"it puts them into the structured content for a client of no fame", "", "test", structured},
		{"it puts them into _meta for a client that would drop the text, and computes none of a tree", PlaceAuto, "claude-code", `"_meta":{"lookfirst/revisions":` + unknown + `}`},
		{"it puts them into the structured content for everybody when it is told to", PlaceStructured, "claude-code", structured},
		{"it puts them into _meta for everybody when it is told to", PlaceMeta, "test", meta},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := overHTTP(t, HTTPOptions{Revisions: c.placement}, echo())
			named := func(s string) string { return strings.ReplaceAll(s, `"name":"test"`, `"name":"`+c.client+`"`) }
			r := exchange{body: named(hello)}.do(t, h)
			r = exchange{body: call}.with("Mcp-Session-Id: "+r.Header.Get("Mcp-Session-Id")).do(t, h)
			same(t, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}],`+c.want+`}}`, said(t, r))

			x := modernCall(`"arguments":{"text":"a","revision":true},`, "echo")
			x.body = named(x.body)
			want := strings.Replace(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}],"resultType":"complete",`+c.want+`}}`,
				`"_meta":{`, strings.TrimSuffix(wholeInfo, "}")+",", 1)
			if !strings.Contains(c.want, "_meta") {
				want = strings.TrimSuffix(want, "}}") + "," + wholeInfo + "}}"
			}
			same(t, want, said(t, x.do(t, h)))
		})
	}
}

func TestHTTPSurvivesAPanic(t *testing.T) {
	var mu sync.Mutex
	var reported []string
	h := overHTTP(t, HTTPOptions{Errors: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		reported = append(reported, err.Error())
	}}, echo())
	h.server.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil) // in the place of the other
	r := modernCall(`"arguments":{"text":"a"},`, "echo").do(t, h)
	if got := said(t, r); code(got) != -32603 {
		t.Errorf("status %d: %s", r.StatusCode, got)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(reported) != 1 || !strings.Contains(reported[0], "panic: ") {
		t.Errorf("reported %q", reported)
	}
}

func TestHTTPCollectsIdleSessions(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	synctest.Test(t, func(t *testing.T) {
		h := overHTTP(t, HTTPOptions{}, echo())
		idle, busy := begun(t, h), begun(t, h)
		for range 3 {
			time.Sleep(sessionIdle/2 - time.Second)
			if r := (exchange{body: ping}).with("Mcp-Session-Id: "+busy).do(t, h); r.StatusCode != 200 {
				t.Errorf("the session in use gives %d", r.StatusCode)
			}
		}
		synctest.Wait()
		if r := (exchange{body: ping}).with("Mcp-Session-Id: "+idle).do(t, h); r.StatusCode != 404 {
			t.Errorf("the idle session gives %d", r.StatusCode)
		}
		exchange{method: "DELETE"}.with("Mcp-Session-Id: "+busy).do(t, h)
	})
}

func TestHTTPBoundsSessions(t *testing.T) {
	h := overHTTP(t, HTTPOptions{}, echo())
	first := begun(t, h)
	for range maxSessions - 1 {
		exchange{body: hello}.do(t, h)
	}
	r := exchange{body: hello}.do(t, h)
	if got := said(t, r); r.StatusCode != 503 || code(got) != -32603 {
		t.Errorf("status %d: %s", r.StatusCode, got)
	}
	if r := modernCall(`"arguments":{"text":"a"},`, "echo").do(t, h); r.StatusCode != 200 {
		t.Errorf("a call without a session gives %d", r.StatusCode)
	}
	exchange{method: "DELETE"}.with("Mcp-Session-Id: "+first).do(t, h)
	begun(t, h)
}

func TestHTTPReportsProgress(t *testing.T) {
	tool := named("slow")[0]
	tool.Handle = func(ctx context.Context, _ *toolkit.Args) (*toolkit.Answer, error) {
		time.Sleep(time.Second)
		toolkit.Progress(ctx)(5, 10, "half")
		return &toolkit.Answer{Text: "done"}, nil
	}
	synctest.Test(t, func(t *testing.T) {
		h := overHTTP(t, HTTPOptions{}, tool)
		x := modernCall("", "slow")
		x.body = strings.Replace(x.body, `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
		r := x.do(t, h)
		body, _ := io.ReadAll(r.Body)
		_, data, _ := strings.Cut(string(body), "data: ")
		note, _, _ := strings.Cut(data, "\n")
		same(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":5,"total":10,"message":"half"}}`, note)
		if !strings.Contains(data, `"text":"done"`) {
			t.Errorf("got %s", data)
		}
	})
}

func TestHTTPCancelsAModernCallWithItsRequest(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	tool := named("block")[0]
	tool.Handle = func(ctx context.Context, _ *toolkit.Args) (*toolkit.Answer, error) {
		close(started)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}
	h := overHTTP(t, HTTPOptions{}, tool)
	ctx, hangUp := context.WithCancel(t.Context())
	go h.ServeHTTP(httptest.NewRecorder(), modernCall("", "block").request(ctx))
	<-started
	hangUp()
	<-ended
}

// listening serves on an address of this machine, and returns its URL, what stops it, and what it ends with.
func listening(t *testing.T, h *HTTP) (string, context.CancelFunc, <-chan error) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- h.Serve(ctx, l)
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return "http://" + l.Addr().String() + "/mcp", cancel, ended
}

// send sends the exchange to a real server. Its answer's body is closed with the test.
func (x exchange) send(t *testing.T, url string) (*http.Response, error) {
	r := x.request(t.Context())
	r, err := http.NewRequestWithContext(t.Context(), r.Method, url, r.Body)
	if err != nil {
		return nil, err
	}
	r.Header = x.request(t.Context()).Header
	answer, err := http.DefaultClient.Do(r)
	if err == nil {
		t.Cleanup(func() { answer.Body.Close() })
	}
	return answer, err
}

func TestHTTPStops(t *testing.T) {
	t.Run("it lets a call under way finish and ends streams at once", func(t *testing.T) {
		started, release := make(chan struct{}), make(chan struct{})
		h := overHTTP(t, HTTPOptions{}, gated(started, release))
		url, stop, ended := listening(t, h)
		r, err := exchange{body: hello}.send(t, url)
		if err != nil {
			t.Fatal(err)
		}
		id := "Mcp-Session-Id: " + r.Header.Get("Mcp-Session-Id")
		news, err := exchange{method: "GET"}.with(id).send(t, url)
		if err != nil {
			t.Fatal(err)
		}
		listen, err := exchange{body: modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true},`)}.
			with("Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen").send(t, url)
		if err != nil || listen.StatusCode != 200 {
			t.Fatal(listen, err)
		}
		type outcome struct {
			text string
			err  error
		}
		answered := make(chan outcome, 1)
		go func() {
			r, err := exchange{body: olderCall("hold")}.with(id).send(t, url)
			if err != nil {
				answered <- outcome{err: err}
				return
			}
			body, err := io.ReadAll(r.Body)
			answered <- outcome{string(body), err}
		}()
		<-started
		stop()
		for _, stream := range []*http.Response{news, listen} {
			_, _ = io.Copy(io.Discard, stream.Body) // It comes back when the stream has ended, before the call has.
		}
		if r, err := (exchange{body: hello}).send(t, url); err == nil && r.StatusCode != 503 {
			t.Errorf("a request after the stop gives %d", r.StatusCode)
		}
		close(release)
		if got := <-answered; got.err != nil || !strings.Contains(got.text, `"result":{"content":[`) {
			t.Errorf("the call gave %+v", got)
		}
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	for _, era := range []string{"older", "modern"} {
		t.Run("it cancels a call of the "+era+" era that goes on, and sends its answer", func(t *testing.T) {
			started := make(chan struct{})
			tool := named("block")[0]
			tool.Handle = func(ctx context.Context, _ *toolkit.Args) (*toolkit.Answer, error) {
				close(started)
				<-ctx.Done()
				return nil, ctx.Err()
			}
			h := overHTTP(t, HTTPOptions{}, tool)
			url, stop, ended := listening(t, h)
			x := modernCall("", "block")
			if era == "older" {
				x = exchange{body: olderCall("block")}.with("Mcp-Session-Id: " + begun(t, h))
			}
			go func() {
				<-started
				stop()
			}()
			r, err := x.send(t, url)
			if err != nil {
				t.Fatal(err)
			}
			if got := said(t, r); !strings.Contains(got, "the block call was cancelled before it was done") {
				t.Errorf("got %s", got)
			}
			if err := <-ended; err != nil {
				t.Errorf("it ended with %v", err)
			}
		})
	}
	t.Run("it gives up on a call that does not listen, within a second", func(t *testing.T) {
		if sum := stopGrace + cancelGrace + flushGrace; sum >= time.Second {
			t.Errorf("the bounds are %v together", sum)
		}
		synctest.Test(t, func(t *testing.T) {
			started, release := make(chan struct{}), make(chan struct{})
			h := overHTTP(t, HTTPOptions{}, gated(started, release))
			l := &quietListener{closed: make(chan struct{})}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- h.Serve(ctx, l) }()
			go modernCall("", "hold").do(t, h)
			<-started
			start := time.Now()
			stop()
			if err := <-ended; err != nil {
				t.Errorf("it ended with %v", err)
			}
			if took := time.Since(start); took >= time.Second || took < stopGrace {
				t.Errorf("it ended after %v", took)
			}
			close(release)
		})
	})
	t.Run("it says why it cannot go on", func(t *testing.T) {
		h := overHTTP(t, HTTPOptions{})
		l := &quietListener{closed: make(chan struct{})}
		l.Close()
		if err := h.Serve(t.Context(), l); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

// quietListener is called by nobody.
type quietListener struct {
	closed chan struct{}
	once   sync.Once
}

func (l *quietListener) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}

func (l *quietListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *quietListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// The client of the library speaks the newest version that it can, and the one that it is told to.
func TestHTTPWithTheClientOfTheLibrary(t *testing.T) {
	long := strings.Repeat("<é>\n", 1<<18)
	for _, c := range []struct{ version, session string }{{"2026-07-28", "none"}, {"2025-11-25", "one"}, {"2025-03-26", "one"}} {
		t.Run(c.version, func(t *testing.T) {
			h := overHTTP(t, HTTPOptions{}, echo())
			url, _, _ := listening(t, h)
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url},
				&mcp.ClientSessionOptions{ProtocolVersion: c.version})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if (session.ID() == "") != (c.session == "none") {
				t.Errorf("the session's id is %q", session.ID())
			}
			for _, text := range []string{"a", long} {
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": text}})
				if err != nil {
					t.Fatal(err)
				}
				if got := result.Content[0].(*mcp.TextContent).Text; got != text {
					t.Errorf("%d bytes came back as %d", len(text), len(got))
				}
			}
			list, err := session.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 1 || list.CacheScope != "private" {
				t.Errorf("got %s, %v", wire(t, list), err)
			}
		})
	}
}

// The sentences of a refused message are those of the pipe.
func TestHTTPRefusesAsAPipeDoes(t *testing.T) {
	o := options(t, echo())
	for _, line := range []string{`{"jsonrpc":`, `42`, `[]`, `{"id":1}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":5}`} {
		piped := ask(t, o, line)
		r := exchange{body: line}.do(t, overHTTP(t, HTTPOptions{}, echo()))
		if r.StatusCode != 400 {
			t.Errorf("%s gives the status %d", line, r.StatusCode)
		}
		if diff := cmp.Diff(piped, []string{said(t, r)}); diff != "" {
			t.Errorf("%s: pipe -, HTTP +:\n%s", line, diff)
		}
	}
}

// The header of an answer that streams is sent before the answer is there, so that a client sees that it was heard.
func TestHTTPStreamsNewsOfASession(t *testing.T) {
	h := overHTTP(t, HTTPOptions{}, echo())
	url, _, _ := listening(t, h)
	id := "Mcp-Session-Id: " + begun(t, h)
	news, err := exchange{method: "GET"}.with(id).send(t, url)
	if err != nil {
		t.Fatal(err)
	}
	if err := Mount(h.server, "late", named("tool")); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(news.Body)
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), []byte("notifications/tools/list_changed")) {
			return
		}
	}
	t.Errorf("the stream ended without news: %v", lines.Err())
}
