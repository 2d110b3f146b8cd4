package mutation

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// noFollow has no meaning here: making a link takes a privilege.
const noFollow = 0

// wholeFile is the length of the locked range in two halves: a range may lie beyond the end of the file.
const wholeFile = ^uint32(0)

// lockFile locks f with LockFileEx, which belongs to the handle. Without block, the error is [ErrHeld] when somebody
// else has it.
func lockFile(f *os.File, m mode, block bool) error {
	var flags uint32
	if m == exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if !block {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, wholeFile, wholeFile, new(windows.Overlapped))
	switch {
	case err == nil:
		return nil
	case !block && (errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING)):
		return ErrHeld
	}
	return fmt.Errorf("lock %s: %w", f.Name(), err)
}

// unlockFile unlocks f. That nothing was locked is an error here, which nobody needs to know.
func unlockFile(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, wholeFile, wholeFile, new(windows.Overlapped))
}
