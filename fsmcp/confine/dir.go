package confine

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

// errLink means that a symbolic link stands where none may: the path has to be chased (again).
var errLink = errors.New("a symbolic link in the way")

// handle is an opened directory in one of two ways: a descriptor with openat2 (dir_linux.go), or an os.Root
// (dir_portable.go). Names are single components; no method follows a link, and one that would have to says errLink.
// A directory on another mount, where that was not wanted, is ErrMount. Other errors are what the operating system said,
// without a path.
type handle interface {
	stat(name string) (Info, error) // "." is the directory itself
	readLink(name string) (string, error)
	openFile(path string) (file, error)                 // for reading; path may have several components
	openSeen(name string) (file, error)                 // the same without a look at what it is, where that saves one
	openDir(path string, within mounts) (handle, error) // path may have several components
	// list opens a directory and reads its entries, unsorted, in as few system calls as there are.
	list(ctx context.Context, name string, within mounts) (handle, []Entry, error)
	entries(ctx context.Context, told listener) ([]Entry, error) // unsorted

	mkdir(name string) error
	remove(name string, k Kind) error                   // syscall.EISDIR or ENOTDIR when one of k and the entry is a directory and the other is not
	rename(name string, to handle, toName string) error // never replaces
	close() error
	writes
}

// listener, if not nil, gets the entries of a directory while they are read, a piece at a time, as the directory tells them:
// the kind of one may still be unknown, and what is left out of lists is among them. A piece is not to be kept.
type listener func([]Entry)

// file is an opened regular file in one of the same two ways.
type file interface {
	io.ReadCloser
	stat() (Info, error)
}

// mounts says whether a directory may be entered that lies on another mount than its parent.
type mounts bool

const (
	anyMount mounts = false
	oneMount mounts = true
)

// Dir is a directory that was inside its root when it was opened, and the only place from which names are reached.
// Names are single components. It counts its users: Close gives back one use, and the last closes it.
// It may be used from several goroutines.
type Dir struct {
	h    handle
	refs atomic.Int32
}

func newDir(h handle) *Dir {
	d := &Dir{h: h}
	d.refs.Store(1)
	return d
}

// Retain adds a user; each needs its own Close.
func (d *Dir) Retain() *Dir {
	d.refs.Add(1)
	return d
}

// Close gives back one use.
func (d *Dir) Close() error {
	if d.refs.Add(-1) == 0 {
		return d.h.close()
	}
	return nil
}

// checkName refuses what is no single component. Names come out of [Root.Resolve] and of directories, where there are no
// others: this holds the invariant against a caller's mistake.
func checkName(name string) error {
	if name == "" || name == ".." {
		return ErrName
	}
	for i := range len(name) { // A walk asks about every name, and strings.ContainsAny takes ten times as long.
		if c := name[i]; c == '/' || c == 0 || c == os.PathSeparator {
			return ErrName
		}
	}
	return nil
}

// Stat describes the entry; "." is the directory itself. A link is described, never followed.
func (d *Dir) Stat(name string) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, err
	}
	return d.h.stat(name)
}

// ReadLink gives the target text of a link.
func (d *Dir) ReadLink(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	return d.h.readLink(name)
}

// OpenDir opens a directory in this one. A link is refused.
func (d *Dir) OpenDir(name string) (*Dir, error) { return d.openDir(name, anyMount) }

func (d *Dir) openDir(name string, within mounts) (*Dir, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	h, err := d.h.openDir(name, within)
	if err != nil {
		return nil, err
	}
	return newDir(h), nil
}

// OpenFile opens a regular file in this one for reading. Anything else, a link too, is refused and never opened.
func (d *Dir) OpenFile(name string) (*File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return openRegular(d.h, name)
}

// OpenSeen is OpenFile for a name that has just been seen to be a regular file, and spares the look.
func (d *Dir) OpenSeen(name string) (*File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return regular(d.h.openSeen(name))
}

// Entries lists the directory, unsorted, without "." and "..".
func (d *Dir) Entries() ([]Entry, error) { return d.EntriesInPieces(nil) }

// EntriesInPieces is Entries, and tells of them while it reads on: for whoever can begin with a file before the last one is
// known. A file that is told of need not be in the list, nor its kind be known. A piece is not to be kept.
func (d *Dir) EntriesInPieces(told func([]Entry)) ([]Entry, error) {
	list, err := d.h.entries(context.Background(), told)
	return withoutTemps(list), err
}

// Mkdir makes a directory with the permissions that the umask leaves of 0777.
func (d *Dir) Mkdir(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return d.h.mkdir(name)
}

// Remove deletes the entry, which was seen to be of kind k: where one of the two is a directory and the other is not, it
// is refused. A directory must be empty; a link goes and its target stays.
func (d *Dir) Remove(name string, k Kind) error {
	if err := checkName(name); err != nil {
		return err
	}
	err := d.h.remove(name, k)
	if k == Directory && errors.Is(err, fs.ErrExist) && d.sweepBelow(name) {
		// What it held was no more than the leftovers of a crash, which nobody was shown.
		err = d.h.remove(name, k)
	}
	return err
}

// Rename moves the entry to another name, also of another directory of the same root. It never replaces: [ErrExist] says
// that something, be it a dangling link, has the new name. One exception: where the system has no such call (not Linux,
// and there NFS and FUSE), a check comes first, and what appears after it is replaced, if it is an empty directory for a
// directory, or if the file system has no hard links.
func (d *Dir) Rename(name string, to *Dir, toName string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := checkName(toName); err != nil {
		return err
	}
	return d.h.rename(name, to.h, toName)
}

// File is a regular file that was inside its root when it was opened, for reading. It is used by one goroutine.
type File struct {
	f    file
	info Info
	root *Root  // nil when it was opened by its name in a directory
	rel  string // the physical path below root
	// Linked says that the last component of the path that the caller sent is a symbolic link.
	Linked bool
}

// openRegular opens path below h when a regular file is there. The handle looks before it opens, since opening a
// device may act; a swap between the two costs one non-blocking open at most, and is found out here.
func openRegular(h handle, path string) (*File, error) {
	return regular(h.openFile(path))
}

func regular(f file, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.stat()
	if err == nil && info.Kind != Regular {
		err = notRegular(info.Kind)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &File{f: f, info: info}, nil
}

// notRegular is the error of an entry that is not a file, by its kind.
type notRegular Kind

func (k notRegular) Error() string { return "a " + Kind(k).String() + ", not a regular file" }

func (k notRegular) Unwrap() error { return ErrNotRegular }

// Info is what the file was when it was opened.
func (f *File) Info() Info { return f.info }

// Stat asks again.
func (f *File) Stat() (Info, error) { return f.f.stat() }

func (f *File) Read(p []byte) (int, error) { return f.f.Read(p) }

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }
