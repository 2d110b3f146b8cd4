package harness

import (
	"context"
	"sync"
)

const (
	// maxHeld is how many bytes of requests may be waiting or under way before no further line is read. It bounds the
	// memory that a flood of lines takes to this, one line more and the answers under way; and it is far more than a
	// client sends at once, so that a cancellation is read while thousands of calls are in front of it.
	maxHeld = 16 << 20
	// requestCost is what a request costs beside its line, in bytes.
	requestCost = 512
)

// load counts the requests that have been read and not been answered. It may be used from several goroutines, of which
// one at a time waits.
type load struct {
	changed chan struct{} // has an item when a request has been answered since it was last looked at

	mu       sync.Mutex // guards the fields below
	held     int        // bytes
	requests int
}

func newLoad() *load { return &load{changed: make(chan struct{}, 1)} }

// add counts the request whose line has so many bytes. A standing request, which is answered only when its client ends
// it, costs memory, but nobody waits for its answer.
func (l *load) add(line int, standing bool) {
	l.update(line+requestCost, 1, standing)
}

// remove takes back what add counted.
func (l *load) remove(line int, standing bool) {
	l.update(-line-requestCost, -1, standing)
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *load) update(held, requests int, standing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held += held
	if !standing {
		l.requests += requests
	}
}

func (l *load) hasRoom() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held < maxHeld
}

func (l *load) isIdle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests == 0
}

// wait returns when the condition holds, or when ctx is done, and reports which.
func (l *load) wait(ctx context.Context, condition func() bool) bool {
	for !condition() {
		select {
		case <-l.changed:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
