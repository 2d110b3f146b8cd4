//go:build unix

package harness

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// isBrokenPipe is for systems that do not call it EPIPE.
func isBrokenPipe(error) bool { return false }

// pollInterval is how often stop is looked at while an output is being watched.
const pollInterval = 100 * time.Millisecond

// watch returns a channel that is closed when nobody reads what is written to w any more, be it that nothing is being
// written; and false where that cannot be seen. It looks until stop is closed.
func watch(w io.Writer, stop <-chan struct{}) (<-chan struct{}, bool) {
	file, ok := w.(*os.File)
	if !ok {
		return nil, false
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, false
	}
	gone := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if hungUp(conn.Control) {
				close(gone)
				return
			}
		}
	}()
	return gone, true
}

// hungUp waits for up to pollInterval, and reports whether the far end has been closed.
func hungUp(control func(func(fd uintptr)) error) bool {
	fds := []unix.PollFd{{}} // Without any event asked for, poll tells of errors and of hanging up alone.
	err := control(func(fd uintptr) {
		fds[0].Fd = int32(fd)
		_, _ = unix.Poll(fds, int(pollInterval.Milliseconds()))
	})
	return err != nil || fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0
}
