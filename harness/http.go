package harness

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A request passes these on its way, each in a file of its own:
//
//	request ─► names and origins ─► body and era ─┬─ 2026-07-28 ─► without sessions ─┐
//	            (403, preflight)   (400, 413, 503) └─ older ──────► with sessions ────┴─► server ─► middleware ─► Tool.Call
//	            http_origin.go      http_route.go                  the library's handlers           http_calls.go
//
// Both eras share one path and one server. What the library's handlers would let pass, or answer with an error that no
// client can act on, is caught in front of them or in the middleware.

// HTTPOptions are what an HTTP serves.
type HTTPOptions struct {
	// Server answers every request; it is one that NewServer has made. NewHTTP gives it middleware, so it should serve
	// nothing else.
	Server *mcp.Server
	// Path is the one path that is served, as "/mcp".
	Path string
	// Host is the name or the address that clients may call the server by, beside the names of the machine itself. It may
	// be empty.
	Host string
	// Origins are the web origins whose pages may talk to the server, beside those of the machine itself.
	Origins []Origin
	// Revisions says where answers carry revisions.
	Revisions Placement
	// Errors is told what went wrong without a client to tell it to; it may be called from several goroutines. If nil,
	// nobody is.
	Errors func(error)
}

const (
	// sessionIdle is how long a session of an older client is kept without a request. A client that comes back later
	// gets 404 and has to initialize again, as the specification asks of it. Nobody closes most sessions, and one takes
	// some 8 KiB; a person's night should not end theirs.
	sessionIdle = 12 * time.Hour
	// maxSessions bounds the sessions at one time, and with them the memory that clients can take by beginning more.
	maxSessions = 1000
	// headerTime is how long a client may take to send the header of a request.
	headerTime = 10 * time.Second
	// bodyTime is the same for its body, which may be 64 MiB over a slow line.
	bodyTime = 5 * time.Minute
	// maxHeader bounds the header of a request, in bytes.
	maxHeader = 64 << 10
	// keepAlive is how long a connection is kept without a request.
	keepAlive = 2 * time.Minute

	// stopGrace is how long the calls under way get to finish once the server is to stop, before they are cancelled.
	// The three bounds together are less than a second (D26).
	stopGrace = 500 * time.Millisecond
	// cancelGrace is how long a cancelled call gets to leave things whole and say so.
	cancelGrace = 250 * time.Millisecond
	// flushGrace is how long the last answers may take to be sent.
	flushGrace = 150 * time.Millisecond
)

// HTTP serves any number of clients over Streamable HTTP, in both eras of the protocol. It is an [http.Handler], for use
// in a server of the caller's own, and can serve by itself.
type HTTP struct {
	server      *mcp.Server
	path        string
	host        string
	origins     []Origin
	placement   Placement
	errors      func(error)
	sessions    http.Handler // for older clients
	sessionless http.Handler

	load     *load           // requests and calls under way
	stopping context.Context // done when no more is accepted, and what only waits has to end
	stop     context.CancelFunc
	calls    context.Context // done when the calls under way have to end
	cancel   context.CancelFunc
}

// NewHTTP returns an HTTP. Its sessions last until they have been idle for twelve hours or the process ends.
func NewHTTP(o HTTPOptions) *HTTP {
	h := &HTTP{
		server:    o.Server,
		path:      o.Path,
		host:      hostname(o.Host),
		origins:   o.Origins,
		placement: o.Revisions,
		errors:    o.Errors,
		load:      newLoad(),
	}
	if h.errors == nil {
		h.errors = func(error) {}
	}
	h.stopping, h.stop = context.WithCancel(context.Background())
	h.calls, h.cancel = context.WithCancel(context.Background())
	get := func(*http.Request) *mcp.Server { return o.Server }
	common := mcp.StreamableHTTPOptions{
		MaxRequestBodyBytes:        maxLine,
		DisableLocalhostProtection: true, // Our own check of the host knows more names, and runs first.
	}
	old, modern := common, common
	old.SessionTimeout = sessionIdle
	modern.Stateless, modern.PropagateRequestCancellation = true, true
	h.sessions, h.sessionless = mcp.NewStreamableHTTPHandler(get, &old), mcp.NewStreamableHTTPHandler(get, &modern)
	o.Server.AddReceivingMiddleware(Guard(h.errors), h.middleware)
	return h
}

// Serve serves the listener until ctx is done, which is no error. Then nothing more is accepted, streams end at once,
// and calls under way get a moment to finish, another to end when they are cancelled, and no more: Serve returns within a
// second. Serve closes the listener, and can be called once.
func (h *HTTP) Serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       keepAlive,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(lineWriter(h.errors), "", 0),
	}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	select {
	case err := <-failed:
		h.stop()
		h.cancel()
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	_ = l.Close() // Whoever comes now shall be refused by the system, not wait in line.
	h.stop()
	h.settle(stopGrace)
	h.cancel()
	h.settle(cancelGrace)
	flush, done := context.WithTimeout(context.Background(), flushGrace)
	defer done()
	if s.Shutdown(flush) != nil {
		_ = s.Close() // What is still open then is given up.
	}
	return nil
}

// settle waits until nothing is under way, but no longer than the limit.
func (h *HTTP) settle(limit time.Duration) {
	ctx, done := context.WithTimeout(context.Background(), limit)
	defer done()
	h.load.wait(ctx, h.load.isIdle)
}

// lineWriter passes on what the library of HTTP has to say.
type lineWriter func(error)

func (w lineWriter) Write(line []byte) (int, error) {
	w(errors.New(strings.TrimSpace(string(line))))
	return len(line), nil
}
