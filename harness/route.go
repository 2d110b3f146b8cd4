package harness

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// accept sends a message where it belongs, and reports whether this goroutine is the reader still.
func (c *connection) accept(m *message) (reader bool) {
	switch {
	case m.reply != nil:
		if b := c.session(era{}); b != nil {
			b.deliver(m.reply)
		}
	case m.id != nil:
		return c.ask(m)
	case m.method == "notifications/cancelled":
		c.cancel(m)
	default:
		// The server ignores a request that has no id, as nobody waits for its answer.
		if b := c.session(era{}); b != nil {
			b.deliver(&jsonrpc.Request{Method: m.method, Params: m.params.raw})
		}
	}
	return true
}

// ask accepts a request, and reports whether this goroutine is the reader still.
func (c *connection) ask(m *message) (reader bool) {
	e, fault := c.eras.of(m.params.meta)
	if fault == nil {
		fault = c.begin(m, e)
	}
	if fault != nil {
		c.refuse(m, fault)
		return true
	}
	switch {
	case m.method == "tools/call":
		return c.call(m, e)
	case m.method == "initialize" && !e.modern:
		if g := c.readGreeting(m); g != nil {
			return c.greet(m, g)
		}
		c.initialize(m)
	}
	c.serve(m, e)
	return true
}

// begin refuses a request of an older era that comes before initialize, unless it is one that needs no session. A request
// of the modern era opens the pipe for older ones too.
func (c *connection) begin(m *message, e era) *jsonrpc.Error {
	c.begun = c.begun || e.modern
	if c.begun {
		return nil
	}
	switch m.method {
	case "initialize", "ping", "server/discover", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		return nil
	}
	return fault(jsonrpc.CodeInvalidRequest, "%.128q came before the session was initialized; send initialize first, or name a protocol version in _meta", m.method)
}

// serve hands a request to the server.
func (c *connection) serve(m *message, e era) {
	b := c.session(e)
	if b == nil {
		c.refuse(m, fault(jsonrpc.CodeInternalError, "the server cannot begin a session"))
		return
	}
	r := &request{id: m.id, method: m.method, size: len(m.line), bridge: b, server: serverID(m.id)}
	if !c.register(r) {
		c.refuse(m, inUse(m))
		return
	}
	b.deliver(&jsonrpc.Request{ID: r.server, Method: m.method, Params: m.params.raw})
}

// initialize begins an older session, in place of the one before: the library's server would refuse a second initialize,
// and one after a request of the modern era, and a client that tries that first, and then falls back, would be stuck.
func (c *connection) initialize(m *message) {
	var p mcp.InitializeParams
	if !m.params.isObject() || json.Unmarshal(m.params.raw, &p) != nil {
		return // The server refuses it whatever the session, and says why.
	}
	c.begun, c.client, c.greeted = true, "", nil
	if p.ClientInfo != nil {
		c.client = p.ClientInfo.Name
	}
	c.open(&c.legacy, &mcp.ServerSessionState{})
}

// session returns the server's session for requests of an era. It keeps one for each: some of its answers go by what a
// session has begun with.
func (c *connection) session(e era) *bridge {
	if !e.modern && c.legacy == nil && c.greeted != nil {
		c.open(&c.legacy, c.greeted.state())
	}
	if !e.modern && c.legacy != nil {
		return c.legacy
	}
	if c.modern == nil {
		// It counts as begun, so that the server refuses no request because of what it has not seen: who may ask for what
		// is judged in front of it.
		c.open(&c.modern, &mcp.ServerSessionState{InitializeParams: &mcp.InitializeParams{ProtocolVersion: firstModern}})
	}
	return c.modern
}

// open begins a session, of which the server knows so much already.
func (c *connection) open(which **bridge, state *mcp.ServerSessionState) {
	c.fill()
	b, err := openBridge(c.ctx, c.Server, state, c.fromServer)
	if err != nil && c.Errors != nil {
		c.Errors(fmt.Errorf("begin a session: %w", err))
	}
	c.replace(which, b)
}

// replace puts a session in the place of another, which ends when what it was asked has been answered.
func (c *connection) replace(which **bridge, b *bridge) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := *which; old != nil {
		old.retired = true
		old.closeIfUnused()
	}
	if *which = b; b != nil && c.ctx.Err() != nil {
		_ = b.Close() // It came too late for hangUp.
	}
}

// fromServer passes on what the server says.
func (c *connection) fromServer(m jsonrpc.Message) error {
	answer, ok := m.(*jsonrpc.Response)
	if !ok {
		encoded, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			return err
		}
		return c.out.send(func(e *encoder) { e.bytes(encoded) })
	}
	c.mu.Lock()
	r := c.served[answer.ID]
	c.mu.Unlock()
	if r == nil {
		return nil
	}
	c.finish(r, func() error {
		if answer.Error != nil {
			return c.out.refuse(r.id, serverError(r.method, answer.Error))
		}
		return c.out.answer(r.id, answer.Result)
	})
	return nil
}
