package harness

import (
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/toolkit"
)

// What the connection says to initialize is what the server would say.
func TestHelloIsTheServers(t *testing.T) {
	const info = `"clientInfo":{"name":"test","version":"1"}`
	cases := []struct{ name, params string }{
		{"a version", `{"protocolVersion":"2024-11-05","capabilities":{},` + info + `}`},
		{"the newest", `{"protocolVersion":"2026-07-28","capabilities":{},` + info + `}`},
		{"a version that does not exist", `{"protocolVersion":"next","capabilities":{},` + info + `}`},
		{"a version with an escape", `{"protocolVersion":"2025\u002d06-18","capabilities":{},` + info + `}`},
		{"no version", `{"capabilities":{},` + info + `}`},
		{"a version that is no string", `{"protocolVersion":5,"capabilities":{},` + info + `}`},
		{"a version that is null", `{"protocolVersion":null,"capabilities":{},` + info + `}`},
		{"two versions", `{"protocolVersion":"2024-11-05","protocolVersion":"2025-06-18","capabilities":{},` + info + `}`},
		{"capabilities", `{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{}}},` + info + `}`},
		{"capabilities that are a list", `{"protocolVersion":"2025-06-18","capabilities":[],` + info + `}`},
		{"capabilities that are null", `{"protocolVersion":"2025-06-18","capabilities":null,` + info + `}`},
		{"no client", `{"protocolVersion":"2025-06-18","capabilities":{}}`},
		{"a client that is null", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":null}`},
		{"a client that is text", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":"test"}`},
		{"a client without a name", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{}}`},
		{"a client whose name is no string", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":5}}`},
		{"a client with two names", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","name":"b"}}`},
		{"more than is known", `{"protocolVersion":"2025-06-18","capabilities":{},"next":{"a":[1]},` + info + `,"_meta":{"a":1}}`},
		{"nothing", `{}`},
		{"null", `null`},
		{"a list", `[]`},
		{"text", `"hello"`},
	}
	prompts := func(o Options) Options {
		o.Server.AddPrompt(&mcp.Prompt{Name: "good"}, nil)
		o.Hello.Prompts = true
		return o
	}
	for _, kind := range []struct {
		name string
		make func(*testing.T) Options
	}{
		{"tools", func(t *testing.T) Options { return options(t, echo()) }},
		{"tools and prompts", func(t *testing.T) Options { return prompts(options(t, echo())) }},
		{"prompts", func(t *testing.T) Options { return prompts(options(t)) }},
		{"nothing", func(t *testing.T) Options { return options(t) }},
	} {
		for _, c := range cases {
			t.Run(kind.name+", "+c.name, func(t *testing.T) {
				line := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + c.params + `}`
				want := inTurn(t, ungreeted(kind.make(t)), line)
				got := inTurn(t, kind.make(t), line)
				same(t, want[0], got[0])
			})
		}
	}
}

func TestHelloWithoutInstructions(t *testing.T) {
	o := options(t, echo())
	o.Hello.Instructions = ""
	if got := inTurn(t, o, hello)[0]; strings.Contains(got, "instructions") || !strings.Contains(got, `"serverInfo"`) {
		t.Errorf("got %s", got)
	}
}

// What is wrong inside the capabilities is of no use to us, and no reason to turn a client away.
func TestHelloLooksAtNoCapability(t *testing.T) {
	o := options(t, echo())
	got := inTurn(t, o, strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"roots":5}`, 1), `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if !strings.Contains(got[0], `"serverInfo"`) || !strings.Contains(got[1], `"name":"echo"`) {
		t.Errorf("got %s", got)
	}
}

func TestServerIsFilledWhenItIsAsked(t *testing.T) {
	o := options(t, echo())
	o.Server = NewServer(identity(), "Look first.")
	filled := 0
	o.Hello.Fill = func() { filled++; o.Tools.Mount(o.Server) }
	p := dial(t, o)
	for _, step := range []struct {
		line string
		want int
	}{
		{hello, 0},
		{echoA, 0},
		{modern("1", "tools/call", `"name":"echo","arguments":{"text":"a"},`), 0},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, 1},
		{modern("3", "tools/list", ""), 1},
		{hello, 1},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`, 1},
	} {
		p.send("%s", step.line)
		got := p.read()
		if filled != step.want {
			t.Errorf("after %s it was filled %d times, want %d", step.line, filled, step.want)
		}
		if strings.Contains(step.line, "tools/list") && !strings.Contains(got, `"name":"echo"`) {
			t.Errorf("%s: got %s", step.line, got)
		}
	}
}

// A client that we have greeted is told of new tools as one that the server has.
func TestGreetedClientsAreToldOfNewTools(t *testing.T) {
	o := options(t, echo())
	p := dial(t, o)
	p.send("%s", hello)
	p.read()
	p.send("%s", initialized)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`) // After its answer, the server knows the client.
	p.read()
	if err := o.Tools.Replace([]Toolkit{{Tools: []*toolkit.Tool{echo(), named("more")[0]}}}, nil); err != nil {
		t.Fatal(err)
	}
	if got := p.read(); !strings.Contains(got, "notifications/tools/list_changed") {
		t.Errorf("got %s", got)
	}
}

// What a client says when it begins anew is what the server knows of it.
func TestSecondHelloBeginsASession(t *testing.T) {
	o := options(t, echo())
	p := dial(t, o)
	for _, name := range []string{"first", "second"} {
		p.send("%s", strings.Replace(hello, `"name":"test"`, `"name":"`+name+`"`, 1))
		p.read()
		p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		p.read()
		var names []string
		for s := range o.Server.Sessions() {
			names = append(names, s.InitializeParams().ClientInfo.Name)
		}
		if !slices.Contains(names, name) {
			t.Errorf("the server knows %q, want %q", names, name)
		}
	}
}

func TestHelloRefusesAnIDInUse(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	p := dial(t, options(t, gated(started, release)))
	p.send("%s", hello)
	p.read()
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold","arguments":{}}}`)
	<-started
	p.send("%s", strings.Replace(hello, `"hello"`, "1", 1))
	if got := p.read(); !strings.Contains(got, "the id 1 is in use") {
		t.Errorf("got %s", got)
	}
	close(release)
	if got := p.read(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"result"`) {
		t.Errorf("got %s", got)
	}
}
