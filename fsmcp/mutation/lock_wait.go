package mutation

import (
	"context"
	"sync"
	"time"
)

// A wait for another process is a goroutine that sleeps in the operating system until it is its turn, so that there is
// no delay of polling and a place in the system's queue:
//
//	call      await ── starts ──> run          waits for the result, for ctx, or for the time to be over
//	goroutine run   ── result ──> await        or, when the call has left: unlocks and ends by itself
//
// Nothing can call it back while it sleeps. Who leaves tells it so, and it then lives until the other process lets
// go, without harm: it keeps nobody waiting, since the gate is unlocked for it at once.

// waiter is one such goroutine and the call that it works for.
type waiter struct {
	root   *rootLock
	claim  *claim
	result chan error // holds one, so that sending never blocks

	mu     sync.Mutex // guards what follows
	gone   bool       // the call has left
	done   bool       // the result was sent
	inGate bool       // the gate is locked and the file is being waited for
}

// await locks c, waiting until expired. On an error c is no longer the caller's.
func (r *rootLock) await(ctx context.Context, c *claim, expired <-chan time.Time) error {
	r.mu.Lock()
	tooMany := r.stray >= strayLimit
	r.mu.Unlock()
	if tooMany {
		c.close()
		return ErrHeld
	}
	w := &waiter{root: r, claim: c, result: make(chan error, 1)}
	go w.run()
	select {
	case err := <-w.result:
		return err
	case <-ctx.Done():
		return w.leave(ctx.Err())
	case <-expired:
		return w.leave(ErrHeld)
	}
}

func (w *waiter) run() {
	err := lockFile(w.claim.gate, w.claim.mode, true)
	if err == nil && w.enterGate() {
		err = lockFile(w.claim.file, w.claim.mode, true)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		w.claim.close()
		w.root.strayEnds()
		return
	}
	if err != nil {
		w.claim.close()
	} else if w.claim.mode == shared {
		unlockFile(w.claim.gate)
	}
	w.done = true
	w.result <- err
}

// enterGate notes that the gate is locked, and says whether anybody still wants the file.
func (w *waiter) enterGate() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inGate = !w.gone
	return w.inGate
}

// leave ends the call's part for the reason given, unless the lock has come at the same moment: then that counts.
func (w *waiter) leave(reason error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return <-w.result
	}
	w.gone = true
	w.root.strayBegins()
	if w.inGate {
		unlockFile(w.claim.gate)
	}
	return reason
}

// strayBegins counts a wait that was given up. It goes on using the root, whose count must not be lost.
func (r *rootLock) strayBegins() {
	process.enter(r.key)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stray++
}

func (r *rootLock) strayEnds() {
	r.mu.Lock()
	r.stray--
	r.mu.Unlock()
	process.leave(r)
}
