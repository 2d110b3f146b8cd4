package readstate

import "context"

type trackerKey struct{}

// With returns a context whose calls belong to the session that t remembers. Whoever serves a connection sets it, once
// for all of its calls: a connection over a pipe is a session, and so is a session of HTTP, but a request that belongs to
// none has no tracker (D8).
func With(ctx context.Context, t *Tracker) context.Context {
	return context.WithValue(ctx, trackerKey{}, t)
}

// From returns the session's tracker, or nil where there is no session.
func From(ctx context.Context) *Tracker {
	t, _ := ctx.Value(trackerKey{}).(*Tracker)
	return t
}
