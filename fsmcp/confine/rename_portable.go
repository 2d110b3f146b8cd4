package confine

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// rename knows no call between two directories but by their paths from the top, which someone may change meanwhile: then
// it acts elsewhere, though never outside. Nor is there one that never replaces. A second name does not, so a file gets
// that and loses the first; a directory, or any entry where the file system has no hard links, is moved after a check, and
// what appears after that is replaced.
func (d rootDir) rename(name string, to handle, toName string) error {
	dst, ok := to.(rootDir)
	if !ok || dst.top != d.top {
		return errors.ErrUnsupported
	}
	if err := cmp.Or(d.checkPath(), dst.checkPath()); err != nil {
		return err
	}
	seen, err := d.r.Lstat(name)
	if err != nil {
		return bare(err)
	}
	if _, err := dst.r.Lstat(toName); err == nil {
		return fs.ErrExist
	}
	from, target := filepath.Join(d.path, name), filepath.Join(dst.path, toName)
	if !seen.IsDir() {
		switch err := d.top.Link(from, target); {
		case err == nil:
			return d.dropOldName(name, dst, toName, seen)
		case errors.Is(err, fs.ErrExist):
			return bare(err)
		}
	}
	return bare(d.top.Rename(from, target))
}

// dropOldName ends a move that has given the entry its second name. It first looks whether both names are of the entry
// that was seen: better a name too many than a file too few.
func (d rootDir) dropOldName(name string, dst rootDir, newName string, seen fs.FileInfo) error {
	there, err := dst.r.Lstat(newName)
	if err != nil || !os.SameFile(there, seen) {
		return errMoved
	}
	here, err := d.r.Lstat(name)
	if err != nil || !os.SameFile(here, seen) {
		return errMoved
	}
	if err := d.r.Remove(name); err != nil {
		dst.r.Remove(newName)
		return bare(err)
	}
	return nil
}

// checkPath says whether the directory is still where it was reached.
func (d rootDir) checkPath() error {
	there, err := d.top.Lstat(d.path)
	if err != nil {
		return bare(err)
	}
	here, err := d.r.Stat(".")
	if err == nil && !os.SameFile(here, there) {
		err = errMoved
	}
	return bare(err)
}
