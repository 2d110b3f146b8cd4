package confine

import (
	"iter"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Closings are files that have been read and are still to be closed: descriptors that are neighbours are closed by one
// call. A search of a tree makes a quarter fewer system calls with it. The zero value is ready; Flush closes what is left.
// It may be used from several goroutines.
type Closings struct {
	mu  sync.Mutex
	fds []int // fewer than closingsRoom()
}

// closingsRoom is how many descriptors are kept before they are closed: few enough that they are not missed by anybody, even
// where many search at once. It goes by the limit at the first search.
var closingsRoom = sync.OnceValue(func() int {
	const most, share = 64, 64
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1
	}
	return int(max(1, min(most, limit.Cur/share)))
})

// add closes a descriptor, now or later. Nobody else may use it any more.
func (c *Closings) add(fd int) {
	c.mu.Lock()
	c.fds = append(c.fds, fd)
	var full []int
	if len(c.fds) >= closingsRoom() {
		full, c.fds = c.fds, make([]int, 0, len(c.fds))
	}
	c.mu.Unlock()
	closeAll(full)
}

// Flush closes what has been kept.
func (c *Closings) Flush() {
	c.mu.Lock()
	left := c.fds
	c.fds = nil
	c.mu.Unlock()
	closeAll(left)
}

// closeAll closes descriptors. An old kernel, or a sandbox that does not know the call, refuses to close a run, and has closed
// nothing then.
func closeAll(fds []int) {
	for first, last := range runsOf(fds) {
		if first == last || unix.CloseRange(uint(first), uint(last), 0) != nil {
			closeEach(first, last)
		}
	}
}

// runsOf gives the first and the last of the descriptors that are neighbours. None that lies between runs is in one: that is
// somebody else's.
func runsOf(fds []int) iter.Seq2[int, int] {
	slices.Sort(fds)
	return func(yield func(first, last int) bool) {
		for len(fds) > 0 {
			n := 1
			for n < len(fds) && fds[n] == fds[0]+n {
				n++
			}
			if !yield(fds[0], fds[n-1]) {
				return
			}
			fds = fds[n:]
		}
	}
}

func closeEach(first, last int) {
	for fd := first; fd <= last; fd++ {
		unix.Close(fd)
	}
}
