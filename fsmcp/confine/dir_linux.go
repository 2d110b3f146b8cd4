package confine

import (
	"golang.org/x/sys/unix"
)

// fdDir is a directory descriptor from which openat2 opens with no link, no magic link and no way up in the path.
// Measured, that is both the strictest and the quickest way to open a path.
type fdDir int

const (
	// beneath makes a swap between check and open a refusal: a link that appears anywhere in the path is ELOOP.
	beneath = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS
	// always keeps an open from blocking on a FIFO and from giving us a terminal, and children from inheriting it.
	always = unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY
	// againLimit bounds the retries of openat2, which answers EAGAIN while something below the root is being renamed.
	againLimit = 64
)

func openat2(dir int, path string, flags, resolve uint64) (int, error) {
	how := unix.OpenHow{Flags: flags, Resolve: resolve}
	for again := 0; ; {
		fd, err := unix.Openat2(dir, path, &how)
		switch {
		case err == nil:
			return fd, nil
		case err == unix.EINTR:
		case err == unix.EAGAIN && again < againLimit:
			again++
		case err == unix.ELOOP:
			return -1, errLink
		default:
			return -1, err
		}
	}
}

// openRootHandle opens a physical absolute path with no link in any component, with the best means there is.
func openRootHandle(path string) (handle, error) {
	fd, err := openat2(unix.AT_FDCWD, path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_NO_MAGICLINKS)
	if err == unix.ENOSYS || err == unix.EPERM || err == unix.EINVAL {
		// An old kernel, or a sandbox that does not know the call.
		return openPortable(path)
	}
	if err != nil {
		return nil, err
	}
	return fdDir(fd), nil
}

func (d fdDir) close() error { return unix.Close(int(d)) }

func (d fdDir) stat(name string) (Info, error) {
	var st unix.Stat_t
	flags := unix.AT_SYMLINK_NOFOLLOW
	if name == "." {
		name, flags = "", unix.AT_EMPTY_PATH
	}
	if err := ignoringEINTR(func() error { return fstatat(int(d), name, &st, flags) }); err != nil {
		return Info{}, err
	}
	return infoOf(&st), nil
}

func (d fdDir) readLink(name string) (string, error) {
	buf := make([]byte, 256)
	for {
		n, err := unix.Readlinkat(int(d), name, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return "", err
		}
		if n < len(buf) {
			return string(buf[:n]), nil
		}
		buf = make([]byte, 2*len(buf))
	}
}

func (d fdDir) openDir(path string, within mounts) (handle, error) {
	return d.enter(path, unix.O_PATH, within)
}

// enter opens a directory. NO_XDEV also knows a bind mount of the same disk, which has no device number of its own.
func (d fdDir) enter(path string, flags uint64, within mounts) (handle, error) {
	resolve := uint64(beneath)
	if within == oneMount {
		resolve |= unix.RESOLVE_NO_XDEV
	}
	fd, err := openat2(int(d), path, flags|unix.O_DIRECTORY|unix.O_CLOEXEC, resolve)
	switch {
	case err == unix.EXDEV && within == oneMount:
		return nil, ErrMount
	case err != nil:
		return nil, err
	}
	return fdDir(fd), nil
}

// openParent opens "..", which leaves the tree when the directory was moved meanwhile: the caller compares identities.
func (d fdDir) openParent() (handle, error) {
	fd, err := openat2(int(d), "..", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, unix.RESOLVE_NO_SYMLINKS)
	if err != nil {
		return nil, err
	}
	return fdDir(fd), nil
}

// openFile looks before it opens: opening a device may act. The look goes by path and a swap may fool it, so a special
// file is reported only after it was looked at through a descriptor that cannot have left the tree.
func (d fdDir) openFile(path string) (file, error) {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Fstatat(int(d), path, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return nil, d.surely(path)
	}
	if statKind(st.Mode) == Regular {
		return d.openSeen(path)
	}
	f, err := d.open(path, unix.O_PATH|unix.O_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if info, err := f.stat(); err == nil && info.Kind == Regular {
		f.Close() // It took the place of something else after the look, and such a descriptor cannot be read.
		return nil, errLink
	}
	return f, nil
}

func (d fdDir) openSeen(name string) (file, error) { return d.open(name, unix.O_RDONLY|always) }

func (d fdDir) open(path string, flags uint64) (file, error) {
	fd, err := openat2(int(d), path, flags, beneath)
	if err != nil {
		return nil, err
	}
	return &fdFile{fd: fd}, nil
}

// surely gives the error that a confined look at path gives, in place of one that a look through an outside link may have
// given. Should there be none, the path was changed between the two, and has to be looked up again.
func (d fdDir) surely(path string) error {
	fd, err := openat2(int(d), path, unix.O_PATH|unix.O_CLOEXEC, beneath)
	if err == nil {
		unix.Close(fd)
		return errLink
	}
	return err
}

func (d fdDir) mkdir(name string) error {
	return ignoringEINTR(func() error { return unix.Mkdirat(int(d), name, 0o777) })
}

func (d fdDir) remove(name string, k Kind) error {
	flags := 0
	if k == Directory {
		flags = unix.AT_REMOVEDIR
	}
	return ignoringEINTR(func() error { return unix.Unlinkat(int(d), name, flags) })
}

// identify says what is at a physical path now, for comparison with what was opened.
func identify(path string) (ID, error) {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Lstat(path, &st) }); err != nil {
		return ID{}, err
	}
	return ID{Dev: uint64(st.Dev), Ino: st.Ino}, nil
}
