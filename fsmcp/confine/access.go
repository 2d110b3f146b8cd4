package confine

import "io/fs"

// reads is what a handle tells of the right to read.
type reads interface{ mayRead(name string) error }

// Access says whether this process may read and write what is at the location, as far as permissions go: a read-only
// file system shows only on writing.
func (l *Location) Access() (readable, writable bool) {
	name := l.Name()
	return l.dir.h.(reads).mayRead(name) == nil, l.dir.h.mayWrite(name) == nil
}

// OpenDirSameMount is OpenDir, refused with [ErrMount] when something else is mounted at the name. Where a system cannot
// tell (see [Dir.WalkOneMount]), it is OpenDir.
func (d *Dir) OpenDirSameMount(name string) (*Dir, error) { return d.openDir(name, oneMount) }

// mayRead tries it, since there is no other way to ask on every system. What must not be opened, or has to be followed,
// is judged by its permission bits.
func (d rootDir) mayRead(name string) error {
	seen, err := d.r.Lstat(name)
	switch {
	case err != nil:
		return bare(err)
	case !seen.IsDir() && !seen.Mode().IsRegular():
		if seen.Mode()&0o444 == 0 {
			return fs.ErrPermission
		}
		return nil
	}
	f, err := d.r.OpenFile(name, nonBlocking, 0)
	if err != nil {
		return moved(err)
	}
	return f.Close()
}
