package harness

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Hello is what a client is told that asks to begin a session. With it, the connection answers initialize itself: to fill a
// server with tools takes longer than all else that a program does before it can answer, and a client that is just starting
// waits for it. The answer is the one that the server would give to a request that is right. Of one that is wrong, nothing is
// looked at but the version, the client's name, and that capabilities and client are objects.
type Hello struct {
	// Instructions are those of Server.
	Instructions string
	// Prompts says that Server has prompts. Beside them and Tools it must have nothing to announce.
	Prompts bool
	// Fill is called once, before Server is used. It may be nil.
	Fill func()
}

// filling is Fill, once.
func (h *Hello) filling() func() {
	if h == nil || h.Fill == nil {
		return func() {}
	}
	return sync.OnceFunc(h.Fill)
}

// greeting is a request to begin a session. The server knows the session when it is asked something, or told that the client is
// ready: before that, it tells the client nothing.
type greeting struct {
	params  []byte
	version string // that of the answer
	client  string // the name of who asks
}

// readGreeting reads the request. It returns nil for one that the server answers, and refuses if it is wrong.
func (c *connection) readGreeting(m *message) *greeting {
	if c.Hello == nil || !m.params.isObject() {
		return nil
	}
	values, _, err := members(m.params.raw, "protocolVersion", "capabilities", "clientInfo")
	if err != nil {
		return nil
	}
	version, capabilities, info := values[0], values[1], values[2]
	if version != nil && !isString(version) || !isObjectOrAbsent(capabilities) || !isObjectOrAbsent(info) {
		return nil
	}
	g := &greeting{params: bytes.Clone(m.params.raw)} // The buffer in which the line is need not be kept for it.
	if version != nil {
		g.version = string(text(version))
	}
	g.version = negotiated(g.version)
	names, _, err := members(info, "name")
	switch {
	case err != nil:
		return nil
	case len(names) > 0 && isString(names[0]):
		g.client = string(text(names[0]))
	case len(names) > 0 && names[0] != nil:
		return nil
	}
	return g
}

func isObjectOrAbsent(value []byte) bool { return value == nil || value[0] == '{' }

// negotiated is the version in which an older client is answered: its own, or the newest older one.
func negotiated(asked string) string {
	older := slices.DeleteFunc(mcp.SupportedProtocolVersions(), func(v string) bool { return v >= firstModern })
	if slices.Contains(older, asked) {
		return asked
	}
	return older[0]
}

// greet begins an older session, in place of the one before, and reports whether this goroutine is the reader still.
func (c *connection) greet(m *message, g *greeting) (reader bool) {
	r := &request{id: m.id, method: m.method, size: len(m.line)}
	if !c.register(r) {
		c.refuse(m, inUse(m))
		return true
	}
	c.begun, c.client, c.greeted = true, g.client, g
	c.replace(&c.legacy, nil)
	return c.relay.run(func() {
		c.finish(r, func() error { return c.out.send(func(e *encoder) { c.welcome(e, r.id, g.version) }) })
	})
}

// welcome puts out the answer to initialize.
func (c *connection) welcome(e *encoder, id []byte, version string) {
	e.envelope(id, `,"result":{"capabilities":{`)
	if c.Hello.Prompts {
		e.raw(`"prompts":{"listChanged":true}`)
	}
	if c.Tools.hasAny() {
		if c.Hello.Prompts {
			e.raw(",")
		}
		e.raw(`"tools":{"listChanged":true}`)
	}
	e.raw("},")
	if c.Hello.Instructions != "" {
		e.raw(`"instructions":`)
		e.str(c.Hello.Instructions)
		e.raw(",")
	}
	e.raw(`"protocolVersion":`)
	e.str(version)
	e.raw(`,"serverInfo":`)
	e.bytes(c.serverInfo)
	e.raw("}}")
}

// state is what the server is told of a session that it has not begun itself.
func (g *greeting) state() *mcp.ServerSessionState {
	p := &mcp.InitializeParams{}
	if json.Unmarshal(g.params, p) != nil {
		p = &mcp.InitializeParams{ProtocolVersion: g.version} // What is wrong with the rest is of no use to us.
	}
	return &mcp.ServerSessionState{InitializeParams: p, NegotiatedProtocolVersion: g.version}
}
