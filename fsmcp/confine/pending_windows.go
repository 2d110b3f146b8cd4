package confine

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// errLocked means that another process, which is alive, holds the lock of a file.
var errLocked error = windows.ERROR_LOCK_VIOLATION

// lockAt is where the one locked byte lies: locks are binding here, and at this place no content ever is.
const lockAt = 1 << 30

// tryLock takes the lock by which a sweep knows a file whose maker is alive.
func tryLock(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: lockAt}
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &at)
}

// isMine is true of every file with our name: the system's own rules say whether it may be removed.
func isMine(Info) bool { return true }

// keepOwner leaves the owner to the directory: giving a file away needs a privilege here.
func keepOwner(*os.File, Info) error { return nil }

// isBusy says whether a rename may have failed because another program has the file open and shares it with nobody. A
// denial can mean that too.
func isBusy(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
