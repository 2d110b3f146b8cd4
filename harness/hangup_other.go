//go:build !unix

package harness

import (
	"context"
	"errors"
	"io"
	"syscall"
)

// isBrokenPipe reports whether err is how Windows says that the far end of a pipe has been closed: ERROR_BROKEN_PIPE or
// ERROR_NO_DATA.
func isBrokenPipe(err error) bool {
	return errors.Is(err, syscall.Errno(109)) || errors.Is(err, syscall.Errno(232))
}

// watch would tell that nobody reads what is written to w. That cannot be seen here without writing.
func watch(context.Context, io.Writer) <-chan struct{} { return nil }
