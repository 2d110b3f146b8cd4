//go:build unix && !aix

package mutation

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// noFollow keeps a link that somebody planted from choosing where an empty file is made.
const noFollow = unix.O_NOFOLLOW

// lockFile locks f with flock(2): unlike a lock of fcntl(2) it belongs to the open file description, so that two
// holders in one process exclude each other and closing some other descriptor of the file unlocks nothing. Without
// block, the error is [ErrHeld] when somebody else has it.
func lockFile(f *os.File, m mode, block bool) error {
	how := unix.LOCK_SH
	if m == exclusive {
		how = unix.LOCK_EX
	}
	if !block {
		how |= unix.LOCK_NB
	}
	err := flock(f, how)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return ErrHeld
	}
	return fmt.Errorf("lock %s: %w", f.Name(), err)
}

// unlockFile unlocks f, which need not be locked. It has no error that a caller could act on: f is open.
func unlockFile(f *os.File) { _ = flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
