package confine

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// rootDir is a directory opened as an os.Root: the second implementation, for systems without openat2. An os.Root
// follows a link that stays inside it, so each open compares what it got with what a look before it saw.
type rootDir struct {
	r    *os.Root
	top  *os.Root // the root that r was reached from: only within one os.Root can a name move
	path string   // of r below top
}

// openPortable opens a physical absolute path. os.OpenRoot follows links in it, so that there are none is asked after it
// has opened, and then whether what is there is what was opened.
func openPortable(path string) (handle, error) {
	r, err := os.OpenRoot(path)
	if err != nil {
		return nil, bare(err)
	}
	var seen fs.FileInfo
	if _, err = PhysicalPath(path, -1); err != nil {
		err = errLink
	} else {
		seen, err = os.Lstat(path)
	}
	if err != nil {
		r.Close()
		return nil, bare(err)
	}
	return sameDir(rootDir{r: r, top: r, path: "."}, seen)
}

// sameDir keeps d only if it is the directory that was seen.
func sameDir(d rootDir, seen fs.FileInfo) (handle, error) {
	got, err := d.r.Stat(".")
	if err == nil && !os.SameFile(got, seen) {
		err = errLink
	}
	if err != nil {
		d.r.Close()
		return nil, bare(err)
	}
	return d, nil
}

// moved is bare for what os.Root says of a name that was just looked at. Its only errors without a number of the system
// are that a link leads out of it, and that there are too many: a link has appeared.
func moved(err error) error {
	if errors.As(err, new(syscall.Errno)) {
		return bare(err)
	}
	return errLink
}

// bare takes the operation and the path of the host off an error.
func bare(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) && errno == syscall.ELOOP {
		return errLink
	}
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}

func (d rootDir) close() error { return d.r.Close() }

func (d rootDir) stat(name string) (Info, error) {
	fi, err := d.r.Lstat(name)
	if err != nil {
		return Info{}, bare(err)
	}
	return portableInfo(fi), nil
}

func (d rootDir) readLink(name string) (string, error) {
	target, err := d.r.Readlink(name)
	return target, bare(err)
}

// openDir goes down one component at a time: os.Root would follow a link in the middle without saying so.
func (d rootDir) openDir(path string, within mounts) (handle, error) {
	var at handle = d
	for name := range strings.SplitSeq(path, "/") {
		next, err := at.(rootDir).openChild(name, within)
		if at != d {
			at.close()
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func (d rootDir) openChild(name string, within mounts) (handle, error) {
	seen, err := d.r.Lstat(name)
	switch {
	case err != nil:
		return nil, bare(err)
	case seen.Mode()&fs.ModeSymlink != 0:
		return nil, errLink
	case !seen.IsDir():
		return nil, syscall.ENOTDIR
	}
	if within == oneMount {
		if here, err := d.stat("."); err != nil || here.ID.Dev != portableInfo(seen).ID.Dev {
			return nil, cmp.Or(err, ErrMount)
		}
	}
	r, err := d.r.OpenRoot(name)
	if err != nil {
		return nil, moved(err)
	}
	return sameDir(rootDir{r: r, top: d.top, path: filepath.Join(d.path, name)}, seen)
}

func (d rootDir) openFile(path string) (file, error) {
	dir, name := filepath.Split(path)
	at := d
	if dir != "" {
		h, err := d.openDir(strings.TrimSuffix(dir, "/"), anyMount)
		if err != nil {
			return nil, err
		}
		defer h.close()
		at = h.(rootDir)
	}
	seen, err := at.r.Lstat(name)
	if err != nil {
		return nil, bare(err)
	}
	if kind := kindOf(seen.Mode()); kind == Link {
		return nil, errLink
	} else if kind != Regular {
		return nil, notRegular(kind)
	}
	f, err := at.r.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, moved(err)
	}
	got, err := f.Stat()
	if err == nil && !os.SameFile(got, seen) {
		err = errLink
	}
	if err != nil {
		f.Close()
		return nil, bare(err)
	}
	return osFile{f}, nil
}

func (d rootDir) openSeen(name string) (file, error) { return d.openFile(name) }

func (d rootDir) list(ctx context.Context, name string, within mounts) (handle, []Entry, error) {
	h, err := d.openDir(name, within)
	if err != nil {
		return nil, nil, err
	}
	list, err := h.entries(ctx, nil)
	if err != nil {
		h.close()
		return nil, nil, err
	}
	return h, list, nil
}

func (d rootDir) entries(ctx context.Context, told listener) ([]Entry, error) {
	const atOnce = 1024 // names between two looks at the context
	f, err := d.r.Open(".")
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	var list []Entry
	for {
		found, err := f.ReadDir(atOnce)
		from := len(list)
		for _, e := range found {
			list = append(list, Entry{Name: e.Name(), Kind: kindOf(e.Type()), Nth: uint32(len(list))})
		}
		if told != nil && len(list) > from {
			told(list[from:])
		}
		switch {
		case err == io.EOF:
			return list, nil
		case err != nil:
			return nil, bare(err)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}

func (d rootDir) mkdir(name string) error { return bare(d.r.Mkdir(name, 0o777)) }

// remove looks first, since os.Root removes an empty directory as gladly as a file.
func (d rootDir) remove(name string, k Kind) error {
	seen, err := d.r.Lstat(name)
	switch {
	case err != nil:
		return bare(err)
	case seen.IsDir() && k != Directory:
		return syscall.EISDIR
	case !seen.IsDir() && k == Directory:
		return syscall.ENOTDIR
	}
	return bare(d.r.Remove(name))
}

type osFile struct{ *os.File }

func (f osFile) stat() (Info, error) {
	fi, err := f.File.Stat()
	if err != nil {
		return Info{}, bare(err)
	}
	return portableInfo(fi), nil
}
