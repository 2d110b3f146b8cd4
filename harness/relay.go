package harness

import (
	"sync"
	"time"
)

// handOver is for how long a call may keep its reader from reading on, and calls that may run side by side from doing so.
// Nearly every call is over before. A cancellation waits for no longer, and nobody notices that.
const handOver = 5 * time.Millisecond

// relay passes the reading of lines from one goroutine to the next, so that there is always one, and lets a reader make a
// call itself:
//
//	reader ──line──► call, over soon ─────────────► reads on
//	                 call, not over after handOver ─► another goroutine reads on, and this one ends with its call
//
// To give each call a goroutine is to wake a thread for it or for the reading, and that is half of a small call's time. It
// may be used from several goroutines.
type relay struct {
	read func() // reads on, until there is no more to read or somebody else does

	mu    sync.Mutex // guards the fields below
	timer *time.Timer
	armed bool      // The timer has not fired since it was set.
	busy  bool      // The reader makes a call,
	since time.Time // since then.
	lap   int       // how often the reading was passed on
}

// run makes a call in the reader's goroutine, and reports whether that is the reader still. If not, it must not read on.
func (r *relay) run(call func()) (reader bool) {
	lap := r.begin()
	returned := false
	defer func() {
		if !returned && r.end(lap) { // The call has ended this goroutine.
			go r.read()
		}
	}()
	call()
	returned = true
	return r.end(lap)
}

// begin notes the beginning of a call. The timer is left alone while calls follow each other closely: to set it anew for
// each would wake a thread.
func (r *relay) begin() (lap int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy, r.since = true, time.Now()
	if !r.armed {
		r.armed = true
		r.set(handOver)
	}
	return r.lap
}

// end notes the end of a call, and reports whether the reading was not passed on since it began.
func (r *relay) end(lap int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if lap != r.lap {
		return false
	}
	r.busy = false
	return true
}

// set has look called after that time. The caller holds mu.
func (r *relay) set(after time.Duration) {
	if r.timer == nil {
		r.timer = time.AfterFunc(after, r.look)
		return
	}
	r.timer.Reset(after)
}

// look passes the reading on if the call that is under way has kept the reader for long enough.
func (r *relay) look() {
	if r.isDue() {
		r.read()
	}
}

func (r *relay) isDue() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy {
		if left := handOver - time.Since(r.since); left > 0 {
			r.set(left)
			return false
		}
		r.busy = false
		r.lap++
		r.armed = false
		return true
	}
	r.armed = false
	return false
}
