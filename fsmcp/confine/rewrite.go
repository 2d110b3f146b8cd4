package confine

import "os"

// InPlace is an existing regular file that was inside its root when it was opened, to be written where it stands. What
// is written shows at once, half of it too: it is for files that cannot be replaced. It is used by one goroutine.
type InPlace struct {
	f    *os.File
	info Info
}

// OpenInPlace opens the file for writing, and changes nothing yet. Anything but a regular file is refused.
func (d *Dir) OpenInPlace(name string) (*InPlace, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	f, info, err := d.openOld(name, os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	return &InPlace{f: f, info: info}, nil
}

// Info is what the file was when it was opened.
func (w *InPlace) Info() Info { return w.info }

// Stat asks again.
func (w *InPlace) Stat() (Info, error) { return statFile(w.f) }

// Reserve sets room aside for a file of size bytes, where the file system can. The file's length stays.
func (w *InPlace) Reserve(size int64) error { return reserve(w.f, size) }

// WriteAt writes all of b at the offset, or says why not.
func (w *InPlace) WriteAt(b []byte, offset int64) (int, error) {
	n, err := w.f.WriteAt(b, offset)
	return n, bare(err)
}

// Truncate gives the file the length, in bytes, and gives back what was reserved beyond it.
func (w *InPlace) Truncate(size int64) error { return bare(w.f.Truncate(size)) }

// Sync waits until the file's bytes are on the disk.
func (w *InPlace) Sync() error { return bare(w.f.Sync()) }

// Close closes the file.
func (w *InPlace) Close() error { return bare(w.f.Close()) }
