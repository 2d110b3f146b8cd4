package console

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// patience is how long a call that was cancelled may take to end before the console leaves it alone.
const patience = 800 * time.Millisecond

var (
	errLeft   = errors.New("it was cancelled and has not ended; it is not known what it has done")
	errFailed = errors.New("it failed inside the program; nothing more is known here, the details are on standard error")
)

// run does what may take long. Ctrl-C cancels it, and so does the end of ctx; where it does not end then, it is left
// alone, with what it would have returned. A panic in it is an error.
func run[T any](ctx context.Context, c *console, f func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan outcome, 1)
	c.settle()
	go func() {
		o := outcome{err: errFailed}
		defer func() { // Also of a goroutine that was ended.
			if p := recover(); p != nil {
				o = outcome{err: errFailed}
				newPrinter(c.Errors, false).note(fmt.Sprintf("console: panic: %v\n%s", p, debug.Stack()))
			}
			done <- o
		}()
		o.value, o.err = f(ctx)
	}()
	ended := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case o := <-done:
			return o.value, o.err
		case <-c.interrupts:
			c.interrupted = true
			cancel()
		case <-ended:
			ended, late = nil, time.After(patience)
		case <-late:
			return *new(T), errLeft
		}
	}
}

// settle forgets Ctrl-C, so that one which was pressed before does not cancel what comes.
func (c *console) settle() {
	c.interrupted = false
	select {
	case <-c.interrupts:
	default:
	}
}
