package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/revision"
	"lookfirst/fsmcp/toolkit"
)

func identity() *mcp.Implementation { return &mcp.Implementation{Name: "lookfirst", Version: "1.2.3"} }

// options returns what serves the tools, mounted on a server of their own.
func options(t testing.TB, tools ...*toolkit.Tool) Options {
	t.Helper()
	server := mcp.NewServer(identity(), &mcp.ServerOptions{Instructions: "Look first.", Capabilities: &mcp.ServerCapabilities{}})
	for _, tool := range tools {
		tool.Report = func(err error) { t.Errorf("reported: %v", err) }
	}
	set, err := NewToolset(Toolkit{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	set.Mount(server)
	return Options{Server: server, Hello: &Hello{Instructions: "Look first."}, Identity: identity(), Tools: set}
}

// ungreeted are options with which the server answers initialize.
func ungreeted(o Options) Options {
	o.Hello = nil
	return o
}

// echo gives its text back, with a revision where it is asked for one.
func echo() *toolkit.Tool {
	return &toolkit.Tool{
		Name:        "echo",
		Description: "Gives its text back.",
		Params:      []toolkit.Param{{Name: "text", Type: "string", Required: true}, {Name: "revision", Type: "boolean"}},
		ReadOnly:    true,
		Handle: func(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
			answer := &toolkit.Answer{Text: a.String("text")}
			if a.Bool("revision") {
				answer.Revisions = revision.Set{"path": {State: revision.File, Token: "sha256-v1:file:00"}}
			}
			if a.Bool("revision") && !toolkit.TreeRevisions(ctx) {
				answer.Revisions = revision.Set{"path": {State: revision.Unknown}}
			}
			return answer, nil
		},
	}
}

// ask serves the lines as all that a client says, and returns what it reads, a line each, after which the session has
// ended without an error.
func ask(t testing.TB, o Options, lines ...string) []string {
	t.Helper()
	var out bytes.Buffer
	o.In, o.Out = strings.NewReader(strings.Join(lines, "\n")), &out
	if err := Serve(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if out.Len() == 0 {
		return nil
	}
	if !strings.HasSuffix(out.String(), "\n") {
		t.Errorf("the output does not end with a line break: %q", out.String())
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// inTurn serves the lines, each after the answer to the one before, and returns the answers. A line that gets none must
// be followed by one that does.
func inTurn(t testing.TB, o Options, lines ...string) []string {
	t.Helper()
	c := dial(t, o)
	var answers []string
	for _, line := range lines {
		c.send(line)
		if strings.Contains(line, `"id"`) {
			answers = append(answers, c.read())
		}
	}
	return answers
}

// peer is the far end of a session.
type peer struct {
	t     testing.TB
	in    *io.PipeWriter
	out   *bufio.Reader
	close func() // the far end of what the session writes
	ended chan error
}

// dial begins a session, which ends with the test.
func dial(t testing.TB, o Options) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	o.In, o.Out = inR, outW
	p := &peer{t: t, in: inW, out: bufio.NewReader(outR), ended: make(chan error, 1), close: func() { outR.Close() }}
	go func() {
		err := Serve(t.Context(), o)
		outW.Close()
		inR.Close()
		p.ended <- err
		close(p.ended)
	}()
	t.Cleanup(func() {
		inW.Close()
		outR.Close()
		<-p.ended
	})
	return p
}

func (p *peer) send(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Fatalf("send: %v", err)
	}
}

func (p *peer) read() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("read: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// parsed returns JSON as a value, to be compared.
func parsed(t testing.TB, s string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

func same(t testing.TB, want, got string) {
	t.Helper()
	if diff := cmp.Diff(parsed(t, want), parsed(t, got)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

const (
	hello       = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	modernMeta  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	wholeInfo   = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"lookfirst","version":"1.2.3"}}`
	echoA       = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}`
	echoedA     = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}]}}`
)

// modern gives a request of the modern era.
func modern(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, id, method, params, modernMeta)
}

func TestServeEras(t *testing.T) {
	modernA := modern("1", "tools/call", `"name":"echo","arguments":{"text":"a"},`)
	modernEchoedA := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}],"resultType":"complete",` + wholeInfo + `}}`
	initializedAs := func(id, version string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"` + version + `","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"lookfirst","version":"1.2.3"},"instructions":"Look first."}}`
	}
	initialize := func(version string) string { return strings.Replace(hello, "2025-11-25", version, 1) }
	failed := func(id string, code int, message string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
	}
	discovered := `{"jsonrpc":"2.0","id":0,"result":{"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"tools":{"listChanged":true}},"instructions":"Look first.","resultType":"complete","ttlMs":0,"cacheScope":"public",` + wholeInfo + `}}`
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	pong := `{"jsonrpc":"2.0","id":2,"result":{}}`

	cases := []struct {
		name  string
		lines []string
		want  []string
	}{
		{name: "it answers initialize with the version that was asked for", lines: []string{initialize("2025-06-18")}, want: []string{initializedAs(`"hello"`, "2025-06-18")}},
		{name: "it answers initialize with the newest older version when 2026-07-28 was asked for", lines: []string{initialize("2026-07-28")}, want: []string{initializedAs(`"hello"`, "2025-11-25")}},
		{name: "it answers initialize with the newest older version when it does not know the one asked for", lines: []string{initialize("1999-01-01")}, want: []string{initializedAs(`"hello"`, "2025-11-25")}},
		{name: "it answers initialize with the newest older version when none was asked for", lines: []string{initialize("")}, want: []string{initializedAs(`"hello"`, "2025-11-25")}},
		{
			name:  "it refuses initialize without params, and lives",
			lines: []string{`{"jsonrpc":"2.0","id":7,"method":"initialize"}`, hello},
			want:  []string{failed("7", -32600, `invalid request: missing required "params"`), initializedAs(`"hello"`, "2025-11-25")},
		},
		{
			name:  "it refuses initialize with null for params with a code",
			lines: []string{`{"jsonrpc":"2.0","id":7,"method":"initialize","params":null}`, echoA},
			want:  []string{failed("7", -32602, `handling 'initialize': missing required "params"`), failed("1", -32600, `"tools/call" came before the session was initialized; send initialize first, or name a protocol version in _meta`)},
		},
		{name: "it accepts initialize with empty params", lines: []string{`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}`, echoA}, want: []string{initializedAs(`"hello"`, "2025-11-25"), echoedA}},
		{name: "it serves a call of the older era after initialize", lines: []string{hello, initialized, echoA}, want: []string{initializedAs(`"hello"`, "2025-11-25"), echoedA}},
		{
			name:  "it refuses calls of the older era before initialize, with a code",
			lines: []string{echoA, `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`},
			want: []string{
				failed("1", -32600, `"tools/call" came before the session was initialized; send initialize first, or name a protocol version in _meta`),
				failed("3", -32600, `"tools/list" came before the session was initialized; send initialize first, or name a protocol version in _meta`),
			},
		},
		{name: "it answers ping before initialize", lines: []string{ping}, want: []string{pong}},
		{name: "it refuses server/discover without a version", lines: []string{`{"jsonrpc":"2.0","id":0,"method":"server/discover"}`}, want: []string{failed("0", -32601, `method not found: "server/discover"`)}},
		{name: "it answers server/discover", lines: []string{modern("0", "server/discover", "")}, want: []string{discovered}},
		{name: "it serves a call of the modern era without a handshake", lines: []string{modernA}, want: []string{modernEchoedA}},
		{name: "it serves a call of the modern era inside a session", lines: []string{hello, modernA, echoA}, want: []string{initializedAs(`"hello"`, "2025-11-25"), modernEchoedA, echoedA}},
		{name: "it serves calls of the older era after one of the modern era", lines: []string{modernA, echoA, ping}, want: []string{modernEchoedA, echoedA, pong}},
		{name: "it answers initialize after server/discover", lines: []string{modern("0", "server/discover", ""), hello, initialized, echoA, ping}, want: []string{discovered, initializedAs(`"hello"`, "2025-11-25"), echoedA, pong}},
		{name: "it answers initialize after a call of the modern era", lines: []string{modernA, hello, echoA}, want: []string{modernEchoedA, initializedAs(`"hello"`, "2025-11-25"), echoedA}},
		{name: "it answers a second initialize with the version that it asks for", lines: []string{hello, initialize("2024-11-05"), echoA}, want: []string{initializedAs(`"hello"`, "2025-11-25"), initializedAs(`"hello"`, "2024-11-05"), echoedA}},
		{name: "it refuses ping in the modern era", lines: []string{modern("1", "ping", "")}, want: []string{failed("1", -32601, `method not found: "ping"`)}},
		{name: "it refuses initialize in the modern era", lines: []string{modern("1", "initialize", "")}, want: []string{failed("1", -32601, `method not found: "initialize"`)}},
		{name: "it refuses logging/setLevel in the modern era", lines: []string{modern("1", "logging/setLevel", "")}, want: []string{failed("1", -32601, `method not found: "logging/setLevel"`)}},
		{name: "it refuses resources/subscribe in the modern era", lines: []string{modern("1", "resources/subscribe", "")}, want: []string{failed("1", -32601, `method not found: "resources/subscribe"`)}},
		{name: "it refuses a method that there is not", lines: []string{hello, `{"jsonrpc":"2.0","id":3,"method":"no/such"}`}, want: []string{initializedAs(`"hello"`, "2025-11-25"), failed("3", -32601, `method not found: "no/such"`)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, o := range []Options{options(t, echo()), ungreeted(options(t, echo()))} {
				got := inTurn(t, o, c.lines...)
				same(t, "["+strings.Join(c.want, ",")+"]", "["+strings.Join(got, ",")+"]")
			}
		})
	}
}

func TestServeAtTheEndOfInput(t *testing.T) {
	t.Run("it answers all that was asked", func(t *testing.T) {
		lines := []string{hello, initialized}
		for i := range 200 {
			lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}`, i))
			lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":"p%d","method":"ping"}`, i))
		}
		if got := len(ask(t, options(t, echo()), lines...)); got != 401 {
			t.Errorf("got %d answers, want 401", got)
		}
	})
	t.Run("it does not wait for a subscription", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			got := ask(t, options(t, echo()), modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true},`), modern("2", "tools/list", ""))
			if waited := time.Since(start); waited != 0 {
				t.Errorf("it ended after %v", waited)
			}
			if !strings.Contains(strings.Join(got, "\n"), `"id":2,`) {
				t.Errorf("got %q, want the answer to 2 among it", got)
			}
		})
	})
	t.Run("it waits for a call of four seconds, and for one of six no longer than five where nobody can be seen to read", func(t *testing.T) {
		for _, length := range []time.Duration{4 * time.Second, 6 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				slow := named("slow")[0]
				slow.Handle = func(ctx context.Context, _ *toolkit.Args) (*toolkit.Answer, error) {
					select {
					case <-time.After(length):
						return &toolkit.Answer{Text: "done"}, nil
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}
				start := time.Now()
				got := ask(t, options(t, slow), modern("1", "tools/call", `"name":"slow",`))
				if want := min(length, handOver+drainBlind); time.Since(start) != want {
					t.Errorf("it ended after %v, want %v", time.Since(start), want)
				}
				if answered := strings.Contains(strings.Join(got, ""), `"text":"done"`); answered != (length < drainBlind) {
					t.Errorf("after %v got %q", length, got)
				}
			})
		}
	})
}

func TestServeEnds(t *testing.T) {
	// block is a call that changes something and ends when its context does.
	block := func(started chan<- struct{}) *toolkit.Tool {
		tool := named("block")[0]
		tool.Handle = func(ctx context.Context, _ *toolkit.Args) (*toolkit.Answer, error) {
			close(started)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return tool
	}
	call := modern("1", "tools/call", `"name":"block",`)
	t.Run("it cancels what is under way when its context is done, and says so", func(t *testing.T) {
		started := make(chan struct{})
		o := options(t, block(started))
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		inR, inW := io.Pipe()
		o.In, o.Out = inR, &out
		ended := make(chan error)
		go func() { ended <- Serve(ctx, o) }()
		fmt.Fprintln(inW, call)
		<-started
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("got %v, want no error", err)
		}
		same(t, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"the block call was cancelled before it was done"}],"isError":true,"resultType":"complete",`+wholeInfo+`}}`, out.String())
	})
	t.Run("it ends without an error when the output is closed", func(t *testing.T) {
		started := make(chan struct{})
		p := dial(t, options(t, block(started), echo()))
		p.send("%s", call)
		<-started
		p.close()
		p.send("%s", modern("2", "ping", ""))
		if err := <-p.ended; err != nil {
			t.Errorf("got %v, want no error", err)
		}
	})
	t.Run("it gives up on a handler that does not listen", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			deaf := named("deaf")[0]
			deaf.Handle = func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
				<-release
				return &toolkit.Answer{}, nil
			}
			start := time.Now()
			ask(t, options(t, deaf), modern("1", "tools/call", `"name":"deaf",`))
			if got, want := time.Since(start), handOver+drainBlind+closeGrace; got != want {
				t.Errorf("it ended after %v, want %v", got, want)
			}
			close(release)
		})
	})
	t.Run("it gives up on a client that does not read", func(t *testing.T) {
		writing, release := make(chan struct{}), make(chan struct{})
		defer close(release)
		o := options(t, echo())
		inR, inW := io.Pipe()
		defer inW.Close()
		o.In, o.Out = inR, writerFunc(func([]byte) (int, error) {
			close(writing)
			<-release
			return 0, io.ErrClosedPipe
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Serve(ctx, o) }()
		fmt.Fprintln(inW, modern("1", "tools/call", `"name":"echo","arguments":{"text":"a"},`))
		fmt.Fprintln(inW, modern("2", "tools/list", ""))
		<-writing
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("got %v, want no error", err)
		}
	})
	t.Run("it writes nothing when it has ended", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			deaf := named("deaf")[0]
			deaf.Handle = func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
				<-release
				return &toolkit.Answer{}, nil
			}
			var out bytes.Buffer
			o := options(t, deaf)
			o.In, o.Out = strings.NewReader(modern("1", "tools/call", `"name":"deaf",`)), &out
			if err := Serve(t.Context(), o); err != nil {
				t.Error(err)
			}
			close(release)
			synctest.Wait()
			if out.Len() > 0 {
				t.Errorf("it wrote %q", out.String())
			}
		})
	})
	t.Run("it returns why reading failed", func(t *testing.T) {
		o := options(t, echo())
		broken := errors.New("broken")
		var out bytes.Buffer
		o.In, o.Out = io.MultiReader(strings.NewReader(modern("1", "tools/call", `"name":"echo","arguments":{"text":"a"},`)+"\n"), iotest.ErrReader(broken)), &out
		if err := Serve(t.Context(), o); !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
		if !strings.Contains(out.String(), `"text":"a"`) {
			t.Errorf("what came before was not answered: %q", out.String())
		}
	})
	t.Run("it returns why writing failed", func(t *testing.T) {
		full := errors.New("the disk is full")
		o := options(t, echo())
		o.In, o.Out = strings.NewReader(hello), failingWriter{full}
		if err := Serve(t.Context(), o); !errors.Is(err, full) {
			t.Errorf("got %v, want %v", err, full)
		}
	})
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestServeCancels(t *testing.T) {
	var mu sync.Mutex
	var ran []string
	started, release := make(chan struct{}), make(chan struct{})
	hold := named("hold")[0]
	hold.Handle = func(ctx context.Context, _ *toolkit.Args) (*toolkit.Answer, error) {
		close(started)
		<-ctx.Done()
		<-release
		return nil, ctx.Err()
	}
	note := named("note")[0]
	note.Params = []toolkit.Param{{Name: "text", Type: "string"}}
	note.Handle = func(_ context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
		mu.Lock()
		defer mu.Unlock()
		ran = append(ran, a.String("text"))
		return &toolkit.Answer{}, nil
	}
	p := dial(t, options(t, hold, note))
	p.send("%s", modern(`"\u0068"`, "tools/call", `"name":"hold",`))
	<-started
	for i := range 2000 { // all of them wait, and what comes behind them is read all the same
		p.send("%s", modern(fmt.Sprint(i), "tools/call", fmt.Sprintf(`"name":"note","arguments":{"text":"%d"},`, i)))
	}
	for _, ignored := range []string{`"nobody"`, `null`, `1.5`, `{}`, `[]`} {
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, ignored)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[5]}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1000,"reason":"late"}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"h"}}`)
	close(release)
	for i := range 2000 {
		if i == 1000 {
			continue
		}
		if got, want := p.read(), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, i); !strings.HasPrefix(got, want) {
			t.Fatalf("got %s, want the answer to %d", got, i)
		}
	}
	if len(ran) != 1999 || slices.Contains(ran, "1000") {
		t.Errorf("%d calls were made, want 1999, and not the cancelled one", len(ran))
	}
	p.send("%s", modern("9", "tools/list", ""))
	if got := p.read(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":9,`) {
		t.Errorf("after a cancelled call got %s", got)
	}
}

func TestServeCancelsASubscription(t *testing.T) {
	o := options(t, echo())
	p := dial(t, o)
	p.send("%s", modern("9007199254740993", "subscriptions/listen", `"notifications":{"toolsListChanged":true},`))
	if got := p.read(); !strings.Contains(got, "notifications/subscriptions/acknowledged") {
		t.Fatalf("got %s, want an acknowledgement", got)
	}
	if err := Mount(o.Server, "late", named("tool")); err != nil {
		t.Fatal(err)
	}
	if got := p.read(); !strings.Contains(got, "notifications/tools/list_changed") {
		t.Errorf("got %s, want a notification", got)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}`)
	p.send("%s", modern("2", "tools/list", ""))
	if got := p.read(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":2,`) {
		t.Errorf("got %s, want the next answer", got)
	}
}
