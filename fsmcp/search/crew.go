package search

import "sync"

// crew is some goroutines. A panic in one of them ends them all and is the caller's.
type crew struct {
	group    sync.WaitGroup
	mu       sync.Mutex // guards panicked
	panicked any
}

func (c *crew) run(cancel func(), f func()) {
	c.group.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				cancel()
				c.mu.Lock()
				c.panicked = p
				c.mu.Unlock()
			}
		}()
		f()
	})
}

func (c *crew) wait() {
	c.group.Wait()
	if c.panicked != nil {
		panic(c.panicked)
	}
}
