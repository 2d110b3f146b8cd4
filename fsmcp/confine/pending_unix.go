//go:build unix

package confine

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errLocked means that another process, which is alive, holds the lock of a file.
var errLocked error = unix.EWOULDBLOCK

// tryLock takes the lock by which a sweep knows a file whose maker is alive: the kernel gives it back when the maker
// dies. Where a file system has no locks, every file looks like one in use and none is swept.
func tryLock(f *os.File) error {
	return ignoringEINTR(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
}

// isMine says whether a file belongs to the user that this process acts as.
func isMine(info Info) bool { return int64(info.UID) == int64(os.Geteuid()) }

// keepOwner gives f the owner of the old file. A process without privileges can only give its own files to its own
// groups; an owner that has no number in this user namespace is EINVAL.
func keepOwner(f *os.File, was Info) error {
	mine, err := statFile(f)
	if err != nil {
		return err
	}
	if mine.UID == was.UID && mine.GID == was.GID {
		return nil
	}
	err = bare(f.Chown(int(was.UID), int(was.GID)))
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) {
		return &KeepError{What: "owner", Err: err}
	}
	return err
}

// isBusy is never true: nobody can keep a file here from being replaced by holding it open.
func isBusy(error) bool { return false }
