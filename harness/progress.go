package harness

import (
	"sync"
	"time"
)

// progressInterval is the least time between two reports of one call, and from its start to the first: a person sees
// about four a second, and most calls are over before one is due.
const progressInterval = 250 * time.Millisecond

// progress passes on how far a call has come, not too often, always forwards, and never after the call. It may be used
// from several goroutines.
type progress struct {
	send func(done, total int64, message string)

	mu    sync.Mutex // guards the fields below, and is held while sending, so that nothing is sent after end
	due   time.Time  // when the next report may be sent
	done  int64      // of the last report
	ended bool
}

func newProgress(send func(done, total int64, message string)) *progress {
	return &progress{send: send, due: time.Now().Add(progressInterval)}
}

func (p *progress) report(done, total int64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.ended || done <= p.done || now.Before(p.due) {
		return
	}
	p.done, p.due = done, now.Add(progressInterval)
	p.send(done, total, message)
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}
