package confine

import (
	"io"
	"io/fs"

	"golang.org/x/sys/unix"
)

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
