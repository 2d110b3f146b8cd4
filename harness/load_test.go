package harness

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoad()
		l.add(maxHeld-2*requestCost, false)
		if !l.hasRoom() {
			t.Error("it has no room below the limit")
		}
		l.add(0, true)
		if l.hasRoom() {
			t.Error("it has room at the limit")
		}
		waited := make(chan bool)
		go func() { waited <- l.wait(t.Context(), l.hasRoom) }()
		synctest.Wait()
		select {
		case <-waited:
			t.Error("it did not wait for room")
		default:
		}
		l.remove(maxHeld-2*requestCost, false)
		if !<-waited {
			t.Error("it did not find the room that there was")
		}
		if !l.isIdle() {
			t.Error("a standing request counts as one that is waited for")
		}
		l.remove(0, true)
		l.add(0, false)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if l.wait(ctx, l.isIdle) {
			t.Error("it found itself idle with a request under way")
		}
	})
}
