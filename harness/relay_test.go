package harness

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestRelay(t *testing.T) {
	nothing := func() {}
	cases := []struct {
		name   string
		calls  []func()
		reader []bool // after each call that returns
		passed int64  // how often another goroutine has read on
	}{
		{"it reads on after a call", []func(){nothing}, []bool{true}, 0},
		{"it reads on after many short calls", []func(){pause(handOver / 2), pause(handOver / 2), pause(handOver - 1)}, []bool{true, true, true}, 0},
		{"it passes the reading on in a long call", []func(){pause(handOver + 1)}, []bool{false}, 1},
		{"it passes the reading on once in a very long call", []func(){pause(9 * handOver)}, []bool{false}, 1},
		{"it passes the reading on in a long call after a short one", []func(){pause(handOver / 2), pause(2 * handOver)}, []bool{true, false}, 1},
		{"it passes the reading on when a call ends its goroutine", []func(){runtime.Goexit}, nil, 1},
		{"it passes the reading on once when a long call ends its goroutine", []func(){func() { time.Sleep(2 * handOver); runtime.Goexit() }}, nil, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var passed atomic.Int64
				r := &relay{read: func() { passed.Add(1) }}
				done := make(chan struct{})
				go func() {
					defer close(done)
					for i, call := range c.calls {
						if got := r.run(call); got != c.reader[i] {
							t.Errorf("after call %d it is the reader: %t, want %t", i, got, c.reader[i])
						}
					}
				}()
				<-done
				time.Sleep(9 * handOver) // Nothing is passed on when no call is under way.
				synctest.Wait()
				if got := passed.Load(); got != c.passed {
					t.Errorf("the reading was passed on %d times, want %d", got, c.passed)
				}
			})
		})
	}
}

// A reader that has passed the reading on does not take the next one's call for its own.
func TestRelayKeepsReadersApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var second, passed atomic.Int64
		r := &relay{}
		r.read = func() {
			if passed.Add(1) == 1 && r.run(pause(handOver/2)) {
				second.Add(1)
			}
		}
		if r.run(pause(handOver + handOver/4)) {
			t.Error("the first is the reader still")
		}
		time.Sleep(9 * handOver)
		synctest.Wait()
		if passed.Load() != 1 || second.Load() != 1 {
			t.Errorf("the reading was passed on %d times and kept %d times, want 1 and 1", passed.Load(), second.Load())
		}
	})
}

func pause(d time.Duration) func() { return func() { time.Sleep(d) } }
