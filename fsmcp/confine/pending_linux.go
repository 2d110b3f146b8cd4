package confine

import (
	"errors"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// mayWrite asks for the effective user, as the opening of the file would.
func (d fdDir) mayWrite(name string) error {
	return ignoringEINTR(func() error {
		return unix.Faccessat(int(d), name, unix.W_OK, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW)
	})
}

func (d fdDir) makeUnnamed(perm fs.FileMode) (*os.File, error) {
	f, err := d.make(".", unix.O_TMPFILE, perm)
	switch err {
	case unix.EOPNOTSUPP, unix.EISDIR, unix.EINVAL, unix.ENOSYS:
		// The file system, or a kernel that takes the flag for O_DIRECTORY, does not know it.
		return nil, errors.ErrUnsupported
	}
	return f, err
}

func (d fdDir) makeNamed(name string, perm fs.FileMode) (*os.File, error) {
	return d.make(name, unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, perm)
}

// make needs no openat2: the path is one name and what it makes is new, so there is nothing to follow.
func (d fdDir) make(name string, flags int, perm fs.FileMode) (*os.File, error) {
	var fd int
	err := ignoringEINTR(func() (err error) {
		fd, err = unix.Openat(int(d), name, flags|unix.O_WRONLY|unix.O_CLOEXEC, uint32(perm.Perm()))
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// giveName links by the descriptor alone, which kernels before 6.10 allow to privileged processes only, else by its
// entry in /proc, which is not mounted everywhere.
func (d fdDir) giveName(f *os.File, name string) error {
	fd := int(f.Fd())
	err := ignoringEINTR(func() error { return unix.Linkat(fd, "", int(d), name, unix.AT_EMPTY_PATH) })
	if err == unix.ENOENT || err == unix.EINVAL || err == unix.EPERM {
		entry := "/proc/self/fd/" + strconv.Itoa(fd)
		err = ignoringEINTR(func() error {
			return unix.Linkat(unix.AT_FDCWD, entry, int(d), name, unix.AT_SYMLINK_FOLLOW)
		})
	}
	switch err {
	case unix.ENOENT, unix.EOPNOTSUPP, unix.EINVAL, unix.ENOSYS, unix.EXDEV:
		return ErrNameless
	}
	return err
}

func (d fdDir) settle(from, to string) error { return d.rename(from, d, to) }

func (d fdDir) replace(from, to string) error {
	return ignoringEINTR(func() error { return unix.Renameat(int(d), from, int(d), to) })
}

func (d fdDir) openOld(name string, flag int) (*os.File, error) {
	return d.openOne(name, flag|always)
}

func (d fdDir) openSelf() (*os.File, error) {
	return d.openOne(".", unix.O_RDONLY|unix.O_DIRECTORY|always)
}

func (d fdDir) openOne(name string, flags int) (*os.File, error) {
	fd, err := openat2(int(d), name, uint64(flags), beneath)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// reserve says only that there is no room: what else it might say, and whatever file systems cannot reserve, the write
// that follows finds out.
func reserve(f *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	err := ignoringEINTR(func() error {
		return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
	})
	if err == unix.ENOSPC || err == unix.EDQUOT {
		return err
	}
	return nil
}
