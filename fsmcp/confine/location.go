package confine

import (
	"errors"
	"io/fs"
	"strings"
)

// Location is a place inside the root, with the directory that holds it opened: what is done to its name is done in
// that directory, wherever links point by then. Close it.
type Location struct {
	Arg  string // as the caller wrote it
	Info Info   // what is there; Kind is [Absent] when nothing is
	// Linked says that the last component of Arg is a symbolic link, which [Root.Resolve] has followed. After
	// [Root.ResolveEntry], which follows none, it is false, and Info.Kind is [Link].
	Linked bool

	root  *Root
	via   *Reach   // that resolved Arg, in place of root alone; else nil
	dir   *Dir     // the deepest directory on the way that exists
	above []string // the physical path of dir, relative to the root
	tail  []string // from dir on; more than one name when directories are missing
	isDir bool     // Arg says that it is a directory, by a slash at its end
}

// reach opens the directory that holds the last of comps, or as much of the way to it as exists.
func (l *Location) reach(top *Dir, comps []string, follow bool) error {
	if len(comps) == 0 {
		info, err := top.Stat(".")
		if err != nil {
			return err
		}
		l.dir, l.tail, l.above, l.Info = top.Retain(), []string{"."}, nil, info
		return nil
	}
	last := len(comps) - 1
	dir, err := openBelow(top, comps[:last])
	if errors.Is(err, fs.ErrNotExist) {
		return l.reachPart(top, comps, follow)
	}
	if err != nil {
		return err
	}
	return l.settle(dir, comps, last, follow)
}

// settle makes dir, which it takes over, the directory of the location, with comps[at:] below it.
func (l *Location) settle(dir *Dir, comps []string, at int, follow bool) error {
	info, err := dir.Stat(comps[at])
	if errors.Is(err, fs.ErrNotExist) {
		info, err = Info{}, nil
	}
	if err == nil && info.Kind == Link && (follow || at < len(comps)-1) {
		err = errLink
	}
	if err != nil {
		dir.Close()
		return err
	}
	l.dir, l.above, l.tail, l.Info = dir, comps[:at], comps[at:], info
	if at < len(comps)-1 {
		l.Info = Info{}
	}
	return nil
}

// reachPart goes down one component at a time to the deepest directory that exists.
func (l *Location) reachPart(top *Dir, comps []string, follow bool) error {
	dir := top.Retain()
	for at := range len(comps) - 1 {
		next, err := dir.OpenDir(comps[at])
		if errors.Is(err, fs.ErrNotExist) {
			return l.settle(dir, comps, at, follow)
		}
		dir.Close()
		if err != nil {
			return err
		}
		dir = next
	}
	return l.settle(dir, comps, len(comps)-1, follow)
}

func openBelow(top *Dir, comps []string) (*Dir, error) {
	if len(comps) == 0 {
		return top.Retain(), nil
	}
	h, err := top.h.openDir(joined(comps), anyMount)
	if err != nil {
		return nil, err
	}
	return newDir(h), nil
}

// joined spells components as the handles take them, and none as the directory itself.
func joined(comps []string) string {
	if len(comps) == 0 {
		return "."
	}
	return strings.Join(comps, "/")
}

// Close closes the directory that holds the location.
func (l *Location) Close() error {
	if l.dir == nil {
		return nil
	}
	err := l.dir.Close()
	l.dir = nil
	return err
}

// Name is the location's name in [Location.Parent]; "." for the root itself.
func (l *Location) Name() string { return l.tail[0] }

// Missing is how many names of the path do not exist: 0 when something is there, 1 when only the last is missing.
func (l *Location) Missing() int {
	if l.Info.Kind != Absent {
		return 0
	}
	return len(l.tail)
}

// Tail is the names from [Location.Parent] on; all but the last are directories that are missing.
func (l *Location) Tail() []string { return l.tail }

// Parent is the opened directory that holds the location, or of a path with missing directories the deepest one that
// exists. It belongs to the location.
func (l *Location) Parent() *Dir { return l.dir }

// IsRoot says whether the location is the root itself.
func (l *Location) IsRoot() bool { return l.tail[0] == "." }

// Rel is the physical path relative to the root, with slashes; "." for the root.
func (l *Location) Rel() string {
	return strings.Join(append(l.above[:len(l.above):len(l.above)], l.tail...), "/")
}

// SaysDirectory reports whether the caller's path ends as a directory's does ("a/").
func (l *Location) SaysDirectory() bool { return l.isDir }

// Open opens the regular file at the location. A link, at which only [Root.ResolveEntry] ends, is none.
func (l *Location) Open() (*File, error) {
	switch {
	case l.Missing() > 0:
		return nil, Explain(l.Arg, fs.ErrNotExist)
	case l.Info.Kind == Link:
		return nil, NotRegular(l.Arg, Link)
	}
	f, err := l.dir.OpenFile(l.Name())
	if err != nil {
		return nil, l.explain(err)
	}
	f.Linked, f.root, f.rel = l.Linked, l.root, l.Rel()
	return f, nil
}

// OpenDir opens the directory at the location.
func (l *Location) OpenDir() (*Dir, error) {
	switch {
	case l.Missing() > 0:
		return nil, Explain(l.Arg, fs.ErrNotExist)
	case l.Info.Kind == Link:
		return nil, notDirectory(l.Arg)
	case l.IsRoot():
		return l.dir.Retain(), nil
	}
	d, err := l.dir.OpenDir(l.Name())
	if err != nil {
		return nil, l.explain(err)
	}
	return d, nil
}

// ReadLink gives the target text of the link at the location.
func (l *Location) ReadLink() (string, error) {
	text, err := l.dir.ReadLink(l.Name())
	return text, l.explain(err)
}

// Entry is the location of the same argument's entry itself, with a link at its end not followed. It is a new
// resolution, to be closed on its own.
func (l *Location) Entry() (*Location, error) {
	if l.via != nil {
		return l.via.ResolveEntry(l.Arg)
	}
	return l.root.ResolveEntry("path", l.Arg)
}

// Target is the location that the same argument leads to, with a link at its end followed.
func (l *Location) Target() (*Location, error) {
	if l.via != nil {
		return l.via.Resolve(l.Arg)
	}
	return l.root.Resolve("path", l.Arg)
}

// explain is [Explain], where a link that has appeared since the location was found has a sentence of its own.
func (l *Location) explain(err error) error {
	if errors.Is(err, errLink) {
		return changed(l.Arg)
	}
	return Explain(l.Arg, err)
}
