package harness

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/readstate"
)

// TrackSessions gives each session of HTTP that the server has a memory of what it has seen, which ends with the session.
// A request that belongs to none has no memory, and is told what to send in its place (D8). Over a pipe the process is the
// session, in both eras: there, whoever serves it puts one tracker into the context (see readstate.With), which is kept.
func TrackSessions(server *mcp.Server) {
	s := sessions{trackers: map[*mcp.ServerSession]*readstate.Tracker{}}
	server.AddReceivingMiddleware(s.middleware)
}

// sessions are those that have made a call and are not over.
type sessions struct {
	mu       sync.Mutex // guards trackers
	trackers map[*mcp.ServerSession]*readstate.Tracker
}

func (s *sessions) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if call, ok := req.(*mcp.CallToolRequest); ok && readstate.From(ctx) == nil {
			if t := s.of(call.Session); t != nil {
				ctx = readstate.With(ctx, t)
			}
		}
		return next(ctx, method, req)
	}
}

// of gives the tracker of a session, or nil for a request without one: the library makes a session for each, without an id.
func (s *sessions) of(session *mcp.ServerSession) *readstate.Tracker {
	if session == nil || session.ID() == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.trackers[session]
	if t == nil {
		t = readstate.New()
		s.trackers[session] = t
		go s.forget(session)
	}
	return t
}

// forget waits for the end of a session.
func (s *sessions) forget(session *mcp.ServerSession) {
	_ = session.Wait() // It is over, whatever ended it.
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.trackers, session)
}
