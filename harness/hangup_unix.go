//go:build unix

package harness

import (
	"context"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// isBrokenPipe is for systems that do not call it EPIPE.
func isBrokenPipe(error) bool { return false }

// watch returns a channel that is closed when nobody reads what is written to w any more, be it that nothing is being
// written; or nil where that cannot be seen. It looks until ctx is done. A thread of the system waits for that, asleep: a
// program that serves nobody for hours should not wake up to look.
func watch(ctx context.Context, w io.Writer) <-chan struct{} {
	file, ok := w.(*os.File)
	if !ok {
		return nil
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return nil
	}
	wake, end, err := os.Pipe()
	if err != nil {
		return nil
	}
	context.AfterFunc(ctx, func() { end.Close() })
	gone := make(chan struct{})
	go func() {
		defer wake.Close()
		if hungUp(conn, wake) {
			close(gone)
		}
	}()
	return gone
}

// hungUp waits until the far end of a file is closed, or that of the pipe wake, and reports whether it is the former. What
// the system cannot look at, as some cannot at a terminal, is POLLNVAL, and not hung up.
func hungUp(conn syscall.RawConn, wake *os.File) bool {
	// Without any event asked for, poll tells of errors and of hanging up alone.
	fds := []unix.PollFd{{}, {Fd: int32(wake.Fd())}}
	err := conn.Control(func(fd uintptr) {
		fds[0].Fd = int32(fd)
		for {
			if _, err := unix.Poll(fds, -1); err != unix.EINTR { // as by the signals of the scheduler
				return
			}
		}
	})
	return err == nil && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
