package confine

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"sync"

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
	if err := ignoringEINTR(func() error { return unix.Fstatat(int(d), name, &st, flags) }); err != nil {
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
	flags := uint64(unix.O_RDONLY | always)
	if statKind(st.Mode) != Regular {
		flags = unix.O_PATH | unix.O_CLOEXEC
	}
	return d.open(path, flags)
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

func (d fdDir) rename(name string, to handle, toName string) error {
	dst, ok := to.(fdDir)
	if !ok {
		return errors.ErrUnsupported
	}
	err := ignoringEINTR(func() error {
		return unix.Renameat2(int(d), name, int(dst), toName, unix.RENAME_NOREPLACE)
	})
	if err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOTSUP {
		return renameChecked(d, name, dst, toName)
	}
	return err
}

// renameChecked renames where the file system has no RENAME_NOREPLACE (NFS, FUSE, 9p). A hard link never replaces, so
// a file moves safely. For a directory, and where there are no hard links either, a check comes first: an empty directory,
// or a file, that appears after it is replaced.
func renameChecked(from fdDir, name string, to fdDir, toName string) error {
	info, err := from.stat(name)
	if err != nil {
		return err
	}
	if info.Kind != Directory {
		err := ignoringEINTR(func() error { return unix.Linkat(int(from), name, int(to), toName, 0) })
		if err == nil {
			if err = from.remove(name, info.Kind); err != nil {
				to.remove(toName, info.Kind)
			}
			return err
		}
		if !noHardLinks(err) {
			return err
		}
	}
	if _, err := to.stat(toName); err != unix.ENOENT {
		if err == nil {
			err = unix.EEXIST
		}
		return err
	}
	return ignoringEINTR(func() error { return unix.Renameat(int(from), name, int(to), toName) })
}

// noHardLinks says whether an error of a link means that there are none to be had, or not for us: EPERM is also what a
// kernel that protects other users' files says, and EMLINK that a file has as many as it can.
func noHardLinks(err error) bool {
	return err == unix.EPERM || err == unix.EOPNOTSUPP || err == unix.ENOSYS || err == unix.EMLINK
}

// direntBuffers holds buffers for getdents64; 32 KiB take about a thousand names a call.
var direntBuffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

func (d fdDir) entries() ([]Entry, error) {
	// The descriptor may be an O_PATH one, which needs no read permission and cannot list.
	h, list, err := d.list(".", anyMount)
	if err == nil {
		h.close()
	}
	return list, err
}

func (d fdDir) list(name string, within mounts) (handle, []Entry, error) {
	h, err := d.enter(name, unix.O_RDONLY|always, within)
	if err != nil {
		return nil, nil, err
	}
	list, err := readEntries(h.(fdDir))
	if err != nil {
		h.close()
		return nil, nil, err
	}
	return h, list, nil
}

func readEntries(d fdDir) ([]Entry, error) {
	buf := direntBuffers.Get().(*[]byte)
	defer direntBuffers.Put(buf)
	var list []Entry
	for {
		n, err := unix.Getdents(int(d), *buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, err
		case n == 0:
			return d.resolveUnknown(list)
		}
		list = appendEntries(list, (*buf)[:n])
	}
}

// kindUnknown stands in a list until resolveUnknown has looked: some file systems tell no type with the name.
const kindUnknown Kind = 0xff

// appendEntries reads linux_dirent64 records: inode (8 bytes), offset (8), record length (2), type (1), name, NUL.
func appendEntries(list []Entry, b []byte) []Entry {
	for len(b) > 19 {
		size := binary.NativeEndian.Uint16(b[16:])
		rec := b[:size]
		b = b[size:]
		name := rec[19:]
		for i, c := range name {
			if c == 0 {
				name = name[:i]
				break
			}
		}
		if string(name) == "." || string(name) == ".." {
			continue
		}
		list = append(list, Entry{Name: string(name), Kind: direntKind(rec[18]), ID: binary.NativeEndian.Uint64(rec)})
	}
	return list
}

func direntKind(t byte) Kind {
	switch t {
	case unix.DT_REG:
		return Regular
	case unix.DT_DIR:
		return Directory
	case unix.DT_LNK:
		return Link
	case unix.DT_FIFO:
		return FIFO
	case unix.DT_SOCK:
		return Socket
	case unix.DT_CHR, unix.DT_BLK:
		return Device
	}
	return kindUnknown
}

// resolveUnknown looks at the entries without a kind, and drops those that have gone meanwhile.
func (d fdDir) resolveUnknown(list []Entry) ([]Entry, error) {
	known := list[:0]
	for _, e := range list {
		if e.Kind == kindUnknown {
			info, err := d.stat(e.Name)
			if err == unix.ENOENT {
				continue
			}
			if err != nil {
				return nil, err
			}
			e.Kind = info.Kind
		}
		known = append(known, e)
	}
	return known, nil
}

// fdFile is a descriptor read without the poller that os.File brings: a regular file is always ready.
type fdFile struct{ fd int } // -1 once closed

func (f *fdFile) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(f.fd, p)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// Close forgets the number, because closing it twice would close whatever has got it meanwhile.
func (f *fdFile) Close() error {
	if f.fd < 0 {
		return fs.ErrClosed
	}
	fd := f.fd
	f.fd = -1
	return unix.Close(fd)
}

func (f *fdFile) stat() (Info, error) {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Fstat(f.fd, &st) }); err != nil {
		return Info{}, err
	}
	return infoOf(&st), nil
}

func infoOf(st *unix.Stat_t) Info {
	mode := fs.FileMode(st.Mode & 0o777)
	if st.Mode&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if st.Mode&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if st.Mode&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return Info{
		ID:         ID{Dev: uint64(st.Dev), Ino: st.Ino},
		Kind:       statKind(st.Mode),
		Mode:       mode,
		Size:       st.Size,
		ModTime:    st.Mtim.Nano(),
		ChangeTime: st.Ctim.Nano(),
		Links:      uint64(st.Nlink),
		UID:        st.Uid,
		GID:        st.Gid,
	}
}

func statKind(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return Regular
	case unix.S_IFDIR:
		return Directory
	case unix.S_IFLNK:
		return Link
	case unix.S_IFIFO:
		return FIFO
	case unix.S_IFSOCK:
		return Socket
	}
	return Device
}

// identify says what is at a physical path now, for comparison with what was opened.
func identify(path string) (ID, error) {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Lstat(path, &st) }); err != nil {
		return ID{}, err
	}
	return ID{Dev: uint64(st.Dev), Ino: st.Ino}, nil
}
