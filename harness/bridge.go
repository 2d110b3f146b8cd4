package harness

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bridge is a session of the server inside this process: what is not a tool call is handed to it as a message and comes
// back as one. It is a transport and its one connection.
type bridge struct {
	in    chan jsonrpc.Message
	write func(jsonrpc.Message) error

	// The connection guards these.
	pending int  // requests that the server has not answered
	retired bool // no more requests come

	once   sync.Once
	closed chan struct{}
}

// openBridge starts a session in a state.
func openBridge(ctx context.Context, server *mcp.Server, state *mcp.ServerSessionState, write func(jsonrpc.Message) error) (*bridge, error) {
	b := &bridge{in: make(chan jsonrpc.Message), write: write, closed: make(chan struct{})}
	if _, err := server.Connect(ctx, b, &mcp.ServerSessionOptions{State: state}); err != nil {
		return nil, err
	}
	return b, nil
}

// closeIfUnused ends the session when nobody has a use for it any more. The server drops answers once it closes, so it must
// have given them before.
func (b *bridge) closeIfUnused() {
	if b.retired && b.pending == 0 {
		_ = b.Close() // It has no error.
	}
}

// deliver hands a message to the server. After the end of the session it does nothing.
func (b *bridge) deliver(m jsonrpc.Message) {
	select {
	case b.in <- m:
	case <-b.closed:
	}
}

// Connect implements [mcp.Transport].
func (b *bridge) Connect(context.Context) (mcp.Connection, error) { return b, nil }

// Read implements [mcp.Connection].
func (b *bridge) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-b.in:
		return m, nil
	case <-b.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements [mcp.Connection].
func (b *bridge) Write(_ context.Context, m jsonrpc.Message) error { return b.write(m) }

// Close implements [mcp.Connection].
func (b *bridge) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// SessionID implements [mcp.Connection]. A pipe has one session and no name for it.
func (b *bridge) SessionID() string { return "" }

// serverID returns an id for a request as the server can hold it, which makes floating-point numbers of integers: one that
// would not survive is handed over as a string.
func serverID(id []byte) jsonrpc.ID {
	const exact = 1 << 53
	var value any
	if json.Unmarshal(id, &value) != nil {
		value = string(id)
	}
	if f, ok := value.(float64); ok && (f >= exact || f <= -exact) {
		value = string(id)
	}
	made, _ := jsonrpc.MakeID(value) // It takes any string and any number.
	return made
}

// serverError makes the error that is sent of one that the server gives back. Some of its errors have no code, or 0, which
// tells a client nothing.
func serverError(method string, err error) *jsonrpc.Error {
	sent := &jsonrpc.Error{Message: err.Error()}
	var coded *jsonrpc.Error
	if errors.As(err, &coded) {
		sent.Code, sent.Data = coded.Code, coded.Data
	}
	switch {
	case sent.Code != 0:
	case method == "initialize":
		sent.Code = jsonrpc.CodeInvalidParams // All that can be wrong with it are its parameters.
	default:
		sent.Code = jsonrpc.CodeInternalError
	}
	return sent
}

// cancellation tells the server that a request is cancelled, by the id under which it knows it.
func cancellation(id jsonrpc.ID) (*jsonrpc.Request, error) {
	params, err := json.Marshal(mcp.CancelledParams{RequestID: id.Raw()})
	return &jsonrpc.Request{Method: "notifications/cancelled", Params: params}, err
}
