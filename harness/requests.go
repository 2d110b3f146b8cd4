package harness

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// request is what has been read and not been answered.
type request struct {
	id     []byte
	method string
	size   int                // of its line, in bytes
	cancel context.CancelFunc // of a tool call

	bridge *bridge    // where the server has been given it; nil for what is answered here
	server jsonrpc.ID // and under which id

	cancelled bool // guarded by requests.mu
}

// isStanding reports whether the request is a subscription, which ends when its client says so.
func (r *request) isStanding() bool { return r.method == "subscriptions/listen" }

// register notes a request that is under way, and returns false when another of the same id is.
func (c *connection) register(r *request) bool {
	key := idKey(r.id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests[key] != nil || r.bridge != nil && c.served[r.server] != nil {
		return false
	}
	c.requests[key] = r
	if r.bridge != nil {
		c.served[r.server] = r
		r.bridge.pending++
	}
	c.load.add(r.size, r.isStanding())
	return true
}

// finish ends a request with an answer; but a cancelled one gets none, in either era: the client has stopped waiting for
// it, and both specifications say so. The id is free again before the answer is written, because its reader may use it.
func (c *connection) finish(r *request, answer func() error) {
	c.mu.Lock()
	delete(c.requests, idKey(r.id))
	if r.bridge != nil {
		delete(c.served, r.server)
		r.bridge.pending--
		r.bridge.closeIfUnused()
	}
	silent := r.cancelled
	c.mu.Unlock()
	if !silent {
		_ = answer() // That nothing can be written any more is noticed elsewhere, and ends the session.
	}
	if r.cancel != nil {
		r.cancel()
	}
	c.load.remove(r.size, r.isStanding())
}

// cancel ends a request whose client does not want its answer any more. What names no request under way is ignored: its
// answer may have been on the way already.
func (c *connection) cancel(m *message) {
	values, ok, err := members(m.params.raw, "requestId")
	if !ok || err != nil {
		return
	}
	c.mu.Lock()
	r := c.requests[idKey(values[0])]
	if r == nil || r.method == "initialize" { // which may not be cancelled, and may have neither of the below
		c.mu.Unlock()
		return
	}
	r.cancelled = true
	c.mu.Unlock()
	if r.cancel != nil {
		r.cancel()
	} else if n, err := cancellation(r.server); err == nil {
		r.bridge.deliver(n)
	}
}

// inUse refuses a request whose id another one has that is under way. It carries the id all the same: a client that mixes
// its requests up is better told of an error twice than given the answer to another question.
func inUse(m *message) *jsonrpc.Error {
	id := m.id[:min(len(m.id), maxToolName)]
	return fault(jsonrpc.CodeInvalidRequest, "the id %s is in use by a request that has not been answered", id)
}
