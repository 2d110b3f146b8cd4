package search

import "context"

// A cancelled search is to return within 50 ms, whatever it is at. Between two files, two reads and two lists of a
// directory it looks at its context, and these never take long. What may take long in between counts its steps.

// stepsBetweenLooks is how much is done between two looks. A step is what takes some ten nanoseconds, such as to move a
// thread of an automaton, so this is about a millisecond.
const stepsBetweenLooks = 1 << 16

// watch looks at a context now and then. It is used by one goroutine.
type watch struct {
	ctx   context.Context
	steps int  // since the last look
	ended bool // the context was seen to have ended
}

// mustStop counts some steps, and says whether the search has been cancelled.
func (w *watch) mustStop(steps int) bool {
	if w.steps += steps; w.steps > stepsBetweenLooks {
		return w.look()
	}
	return w.ended
}

func (w *watch) look() bool {
	w.steps = 0
	w.ended = w.ctx.Err() != nil
	return w.ended
}
