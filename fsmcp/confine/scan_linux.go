package confine

import "golang.org/x/sys/unix"

// pageSize is the granularity in which a read of a regular file may end before the file does: on FUSE and in /proc a read
// gives as many pages as the file system likes to hand out at once.
const pageSize = 4096

// readSeen opens one name without following a link, which cannot leave the tree, and reads once. A read that ends
// within the buffer and within a page has reached the end of the file; only one that ends on a page's edge has to ask.
func readSeen(h handle, name string, buf []byte, closings *Closings) (int, *File, error) {
	d, ok := h.(fdDir)
	if !ok {
		return readSeenSlowly(h, name, buf)
	}
	fd, err := openOne(d, name)
	if err == unix.EMFILE || err == unix.ENFILE {
		closings.Flush()
		fd, err = openOne(d, name)
	}
	if err != nil {
		return 0, nil, err
	}
	n := 0
	for n < len(buf) {
		got, err := unix.Read(fd, buf[n:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			closings.add(fd)
			return 0, nil, err
		}
		n += got
		if got == 0 || n < len(buf) && n%pageSize != 0 {
			closings.add(fd)
			return n, nil, nil
		}
	}
	return n, &File{f: &fdFile{fd: fd}}, nil
}

func openOne(d fdDir, name string) (int, error) {
	for {
		fd, err := unix.Openat(int(d), name, unix.O_RDONLY|unix.O_NOFOLLOW|always, 0)
		switch err {
		case unix.EINTR:
			continue
		case unix.ELOOP:
			return -1, errLink
		}
		return fd, err
	}
}

// Seek makes a file that is read from its beginning again one that [File.Rewind] can rewind.
func (f *fdFile) Seek(offset int64, whence int) (int64, error) {
	return unix.Seek(f.fd, offset, whence)
}
