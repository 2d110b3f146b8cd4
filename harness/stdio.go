package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A connection answers tool calls itself, and initialize where it can (hello.go). It hands everything else to the server of
// the library:
//
//	In ─► lines ─► parse ─┬─ tools/call ─► queue ─► Tool.Call ─┬─► output ─► Out
//	                      ├─ all else ───► bridge ─► server ───┤
//	                      └─ no message ─► error ──────────────┘
//
// The library decodes and encodes a call several times over; here a text is encoded once (D24). One goroutine reads, and
// makes the call that it has read, unless it takes long: then another one reads on (see relay.go). A call that had to wait
// for its turn has a goroutine, and each error on its way out; the library has its own. Serve waits for them all at the end
// of input; but a reader that waits for input cannot be woken.

// Options are what Serve serves.
type Options struct {
	// Server answers everything but tool calls. It must support every protocol version of the library; Tools should be
	// mounted on it, so that it lists them.
	Server *mcp.Server
	// Hello, if not nil, answers initialize in the place of Server.
	Hello *Hello
	// Identity is what Server was made with.
	Identity *mcp.Implementation
	// Tools are what is called.
	Tools *Toolset
	// In and Out are the streams of the client. They are not closed.
	In  io.Reader
	Out io.Writer
	// Errors is told of lines that nobody could be blamed for by their id, one at a time. If nil, nobody is.
	Errors func(error)
	// Revisions says where answers carry revisions.
	Revisions Placement
}

const (
	// closeGrace is how long the calls under way get at a sudden end, so that a change in hand lands or leaves no trace.
	// With it the program ends within a second of its client (D26).
	closeGrace = 500 * time.Millisecond
	// drainWatched is how long answers are waited for after the end of input, while it can be seen that somebody may
	// still read them.
	drainWatched = 10 * time.Minute
	// drainBlind is the same where that cannot be seen.
	drainBlind = 5 * time.Second
)

// Serve serves one client over a pair of streams, in both eras of the protocol, and returns when the session is over:
//
//   - at the end of input, when all that was asked has been answered, be it that this takes minutes;
//   - when the far end of Out is closed, which is how a client that has died differs from one that has said all it had to
//     say; where that cannot be seen (not a file of the system, or no Unix), when Out cannot be written to;
//   - when ctx is done: then what is under way is cancelled, and a change in hand gets closeGrace to land.
//
// Each of these is no error, save that reading or writing failed for another reason than that the client closed its end.
// A goroutine may be left behind that reads from In. Where Out is standard output, the program must see to it that SIGPIPE
// does not kill it.
func Serve(ctx context.Context, o Options) error {
	identity, err := json.Marshal(o.Identity)
	if err != nil {
		return fmt.Errorf("encode the server's identity: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &connection{
		Options:    o,
		ctx:        ctx,
		out:        newOutput(o.Out),
		load:       newLoad(),
		serverInfo: identity,
		requests:   map[string]*request{},
		served:     map[jsonrpc.ID]*request{},
		lines:      newLines(o.In, maxLine),
		ended:      make(chan error, 1),
		fill:       o.Hello.filling(),
	}
	c.relay.read = c.read
	go c.read()
	gone := watch(ctx, o.Out)

	var readErr error
	select {
	case readErr = <-c.ended:
		c.drain(gone)
	case <-ctx.Done():
	case <-c.out.failed:
	case <-gone:
	}
	cancel()
	c.stop()
	return errors.Join(readErr, c.out.err())
}

// connection is the session of one client.
type connection struct {
	Options
	ctx        context.Context // done at the end of the session
	out        *output
	load       *load
	queue      queue
	relay      relay
	ended      chan error // gets one value from the last reader, nil at the end of input
	serverInfo []byte     // Identity, encoded

	// The reader alone uses these.
	lines  *lines
	eras   eras
	begun  bool   // an older request may be served: there was an initialize, or a request of the modern era
	client string // the name that initialize gave

	greeted *greeting // what initialize has begun if we have answered it; else nil
	fill    func()    // fills the server, once

	// The reader alone uses these, but sets them under mu, for hangUp.
	modern *bridge // the server's session for requests of the modern era; nil before the first
	legacy *bridge // that which initialize has begun

	mu       sync.Mutex              // guards the fields below, and request.cancelled
	requests map[string]*request     // under way, by idKey
	served   map[jsonrpc.ID]*request // those of them that the server has been given
}

// read reads to the end of input, or of the session, or until another goroutine reads.
func (c *connection) read() {
	for c.load.wait(c.ctx, c.load.hasRoom) {
		line, err := c.lines.next()
		switch {
		case errors.Is(err, io.EOF):
			c.ended <- nil
			return
		case err != nil:
			c.ended <- fmt.Errorf("read: %w", err)
			return
		case line == nil:
			c.refuse(&message{}, fault(jsonrpc.CodeInvalidRequest, "a line is longer than %d MiB, which is the limit", maxLine>>20))
			continue
		}
		if m, fault := parse(line); fault != nil {
			c.refuse(m, fault)
		} else if !c.accept(m) {
			return
		}
	}
	c.ended <- nil
}

// drain waits for the answers to all that was asked, as long as somebody may read them.
func (c *connection) drain(gone <-chan struct{}) {
	limit := drainWatched
	if gone == nil {
		limit = drainBlind
	}
	ctx, cancel := context.WithTimeout(c.ctx, limit)
	defer cancel()
	go func() {
		select {
		case <-gone:
		case <-c.out.failed:
		case <-ctx.Done():
		}
		cancel()
	}()
	c.load.wait(ctx, c.load.isIdle)
}

// stop waits for the calls that run, and sees to it that nothing is written afterwards; but it does not wait long, neither
// for a handler nor for a client that does not read.
func (c *connection) stop() {
	grace, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), closeGrace)
	defer cancel()
	select {
	case <-c.queue.close():
	case <-grace.Done():
	}
	c.hangUp()
	select {
	case <-c.out.close():
	case <-grace.Done():
	}
}

// hangUp ends the server's sessions.
func (c *connection) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range []*bridge{c.modern, c.legacy} {
		if b != nil {
			_ = b.Close() // It has no error.
		}
	}
	for _, r := range c.served { // which may belong to a session that was replaced
		_ = r.bridge.Close()
	}
}

// refuse sends an error. It does not wait for it to be written, because the reader must not.
func (c *connection) refuse(m *message, fault *jsonrpc.Error) {
	id := bytes.Clone(m.id) // The line need not be kept.
	if id == nil && c.Errors != nil {
		c.Errors(fmt.Errorf("a line cannot be answered by its id: %w", fault))
	}
	c.load.add(len(id), false)
	go func() {
		defer c.load.remove(len(id), false)
		_ = c.out.refuse(id, fault) // That nothing can be written any more is noticed elsewhere.
	}()
}
