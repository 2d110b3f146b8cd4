package harness

import "sync"

// maxSideBySide is how many reading calls run at once. A machine has few disks and cores, and each call holds its answer.
const maxSideBySide = 8

// queue runs calls so that they take effect in the order in which they were put in: neighbouring reading calls side by
// side, a changing one alone, after all before it and before all after it (D24). A call that waits costs no goroutine.
//
//	enter ─┬─────────────────► run, by the caller ───► leave, next
//	       └──► waiting ─┬───► run, in a goroutine ──► leave, next
//	                     └─────────────────────────────────────┘
//
// It may be used from several goroutines.
type queue struct {
	running sync.WaitGroup // nothing is added once closed

	mu       sync.Mutex // guards the fields below
	waiting  []job
	readers  int
	changing bool
	closed   bool
}

// job is a call in a queue.
type job struct {
	readOnly bool
	run      func()
	dropped  func() // is called in place of run where the queue was closed before its turn; may be nil
}

// enter reports whether it is the call's turn at once: then the caller makes it and calls leave when it is over. Otherwise
// it is put at the end of the line, and run is called in a goroutine when its turn has come; the turn ends when that
// returns, in whatever way.
func (q *queue) enter(j job) bool {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		drop(j)
		return false
	}
	defer q.mu.Unlock()
	switch {
	case len(q.waiting) > 0 || !q.mayStart(j):
		q.waiting = append(q.waiting, j)
		return false
	}
	q.start(j)
	return true
}

// leave ends the turn of a call.
func (q *queue) leave(j job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j.readOnly {
		q.readers--
	} else {
		q.changing = false
	}
	q.next()
	q.running.Done()
}

// close drops the calls that wait, and returns a channel that is closed when those that run are over.
func (q *queue) close() <-chan struct{} {
	q.mu.Lock()
	q.closed = true
	waiting := q.waiting
	q.waiting = nil
	q.mu.Unlock()
	drop(waiting...)
	over := make(chan struct{})
	go func() {
		q.running.Wait()
		close(over)
	}()
	return over
}

func drop(jobs ...job) {
	for _, j := range jobs {
		if j.dropped != nil {
			j.dropped()
		}
	}
}

// next starts the calls whose turn it is. The caller holds mu.
func (q *queue) next() {
	for len(q.waiting) > 0 && q.mayStart(q.waiting[0]) {
		j := q.waiting[0]
		q.waiting[0] = job{} // The slice would hold on to it.
		q.waiting = q.waiting[1:]
		q.start(j)
		go func() {
			defer q.leave(j)
			j.run()
		}()
	}
}

// start begins the turn of a call. The caller holds mu.
func (q *queue) start(j job) {
	q.running.Add(1)
	if j.readOnly {
		q.readers++
	} else {
		q.changing = true
	}
}

func (q *queue) mayStart(j job) bool {
	if j.readOnly {
		return !q.changing && q.readers < maxSideBySide
	}
	return !q.changing && q.readers == 0
}
