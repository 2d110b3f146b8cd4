package confine

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// What a search of a whole tree needs: to read many small files in as few system calls as there are, to read through the
// links that it meets, and to tell a search program where to look.

// ReadSeen reads the beginning of a file that a list has just shown to be regular. Where the whole file fits into buf, it
// is closed again, at the latest by closings' Flush, and rest is nil; else rest goes on behind what was read and is to be
// closed. A link is refused.
//
// Little more than two system calls read a small file, because nobody looks at what was opened. Whoever swaps a device or a
// FIFO in after the list was read costs one open that does not wait, and gives bytes that he could as well have put into a
// file.
func (d *Dir) ReadSeen(name string, buf []byte, closings *Closings) (n int, rest *File, err error) {
	if err := checkName(name); err != nil {
		return 0, nil, err
	}
	return readSeen(d.h, name, buf, closings)
}

// readSeenSlowly is ReadSeen by the calls that every handle has.
func readSeenSlowly(h handle, name string, buf []byte) (int, *File, error) {
	f, err := regular(h.openSeen(name))
	if err != nil {
		return 0, nil, err
	}
	n, err := io.ReadFull(f, buf)
	switch err {
	case nil:
		return n, f, nil
	case io.EOF, io.ErrUnexpectedEOF:
		return n, nil, f.Close()
	}
	f.Close()
	return 0, nil, err
}

// Rewind goes back to the beginning of a file.
func (f *File) Rewind() error {
	s, ok := f.f.(io.Seeker)
	if !ok {
		return errors.ErrUnsupported
	}
	_, err := s.Seek(0, io.SeekStart)
	return bare(err)
}

// OpenBelow opens the regular file at a path below the location, following links through the full resolver.
func (l *Location) OpenBelow(path string) (*File, error) {
	return l.root.Open("path", l.below(path))
}

// below is a path from the root, given one from the location.
func (l *Location) below(path string) string {
	if l.IsRoot() {
		return path
	}
	return l.Rel() + "/" + path
}

// HostPath is the location's absolute path, for a program that is started to look there, and never for an answer. ok says
// whether that is still where the location was found. What the program then finds is looked up anew by it, so that its
// word may choose among files but never name one.
func (l *Location) HostPath() (path string, ok bool) {
	path = l.root.Path()
	if !l.IsRoot() {
		names := append(l.above[:len(l.above):len(l.above)], l.tail...)
		path = strings.TrimSuffix(path, string(os.PathSeparator)) + string(os.PathSeparator) + filepath.Join(names...)
	}
	id, err := identify(path)
	return path, err == nil && id == l.Info.ID && id != ID{}
}
