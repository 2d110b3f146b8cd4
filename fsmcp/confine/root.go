// Package confine opens files: every file that it opened was inside the root at the moment it was opened.
//
// A path argument goes through three layers, each of which holds on its own: rules about its text (rules.go), our own
// chase of symbolic links to a physical path that is compared with the root by whole components (chase.go), and an
// open relative to the root's descriptor in which no link may stand (dir_linux.go; os.Root elsewhere, dir_portable.go).
// What the chase says is never trusted: a link swapped in afterwards makes the open fail, and the path is chased again.
//
// Invariant: nothing is opened by a path string outside this package, and no answer of it holds a path of the host.
//
// Not promised: that a directory stays in the root after it was opened (whoever may rename it can carry it away), or
// that a hard link or a mount inside the root leads to nothing foreign: those cannot be told apart.
//
// Everything may be used from several goroutines, except that a [File] and a [Location] belong to one at a time.
package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"syscall"
)

// chaseLimit bounds how often a path is chased again because a link appeared in it after the last chase.
const chaseLimit = 8

// Root is an opened directory that no path argument can leave.
type Root struct {
	path  string                       // physical and absolute
	comps []string                     // the same, split
	open  func(string) (handle, error) // how path is opened
	swept swept                        // by writes

	mu sync.Mutex // guards what follows
	// dir and id are what was at path when it was last opened. The directory is nil once the root is closed.
	dir *Dir
	id  ID
}

// OpenRoot opens a directory, which may be given through links, as a root.
func OpenRoot(dir string) (*Root, error) { return openRootWith(dir, openRootHandle) }

// openRootWith is OpenRoot with one of the two kinds of handle.
func openRootWith(dir string, open func(physical string) (handle, error)) (*Root, error) {
	path, err := PhysicalPath(dir, 0)
	if err != nil {
		return nil, err
	}
	base, names, err := hostPlatform().locate(nil, path)
	if err != nil {
		return nil, err
	}
	r := &Root{path: path, comps: slices.Concat(base, names), open: open}
	if err := r.reopen(); err != nil {
		return nil, fmt.Errorf("open the root %s: %w", dir, err)
	}
	return r, nil
}

// Close closes the root, for good. Locations and files opened from it stay usable until they are closed.
func (r *Root) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dir == nil {
		return nil
	}
	err := r.dir.Close()
	r.dir = nil
	return err
}

// Path is the physical path of the root. It is for the operator, never for an answer.
func (r *Root) Path() string { return r.path }

// ID identifies the directory that the root was when it was last used.
func (r *Root) ID() ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.id
}

// reopen opens what is at the root's path now. The caller holds the mutex, save in the beginning.
func (r *Root) reopen() error {
	h, err := r.open(r.path)
	if err != nil {
		return err
	}
	info, err := h.stat(".")
	if err == nil && info.Kind != Directory {
		err = ErrNotDirectory
	}
	if err != nil {
		h.close()
		return err
	}
	if r.dir != nil {
		r.dir.Close()
	}
	r.dir, r.id = newDir(h), info.ID
	return nil
}

// current gives the root's directory, opened anew if another one has taken its place. The caller closes it.
func (r *Root) current() (*Dir, error) {
	id, err := identify(r.path)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dir == nil {
		return nil, &Error{Err: fs.ErrClosed, Text: "the root has been closed"}
	}
	if err != nil || id != r.id {
		if err := r.reopen(); isShortage(err) {
			return nil, Explain(".", err)
		} else if err != nil {
			return nil, &Error{Err: ErrRootGone, Text: ErrRootGone.Error()}
		}
	}
	return r.dir.Retain(), nil
}

// Resolve finds the location that arg names, following links, a last one too. The file, and directories on the way to
// it, may be missing. The parameter's name, key, is for the refusal of an empty argument. Errors are of type [*Error].
func (r *Root) Resolve(key, arg string) (*Location, error) { return r.locate(key, arg, true) }

// ResolveEntry is Resolve for the entry itself: a link at the end of the path is not followed.
func (r *Root) ResolveEntry(key, arg string) (*Location, error) { return r.locate(key, arg, false) }

// Open opens the regular file that arg names for reading, following links.
func (r *Root) Open(key, arg string) (*File, error) {
	comps, isDir, err := components(hostPlatform(), key, arg)
	if err != nil {
		return nil, err
	}
	if isDir {
		loc, err := r.locate(key, arg, true)
		if err != nil {
			return nil, err
		}
		defer loc.Close()
		return loc.Open()
	}
	top, err := r.current()
	if err != nil {
		return nil, err
	}
	defer top.Close()
	rel := joined(comps)
	f, err := openRegular(top.h, rel)
	var linked bool
	if err != nil {
		again := func(physical []string) (err error) {
			rel = joined(physical)
			f, err = openRegular(top.h, rel)
			return err
		}
		if linked, err = r.chased(arg, comps, true, err, again); err != nil {
			return nil, err
		}
	}
	f.Linked, f.root, f.rel = linked, r, rel
	return f, nil
}

func (r *Root) locate(key, arg string, follow bool) (*Location, error) {
	comps, isDir, err := components(hostPlatform(), key, arg)
	if err != nil {
		return nil, err
	}
	top, err := r.current()
	if err != nil {
		return nil, err
	}
	defer top.Close()
	loc := &Location{Arg: arg, root: r, isDir: isDir}
	if err := loc.reach(top, comps, follow); err != nil {
		again := func(physical []string) error { return loc.reach(top, physical, follow) }
		linked, err := r.chased(arg, comps, follow, err, again)
		if err != nil {
			return nil, err
		}
		loc.Linked = linked && follow
	}
	if isDir && loc.Info.Kind != Absent && loc.Info.Kind != Directory {
		loc.Close()
		return nil, notDirectory(arg)
	}
	return loc, nil
}

// chased goes on where an act on the components as they stand has failed. If that was for a link, the act is tried with
// the physical path instead, which has none, and again when one has appeared in that; linked then says whether the last
// component is one. Any other error is explained.
func (r *Root) chased(arg string, comps []string, follow bool, err error, act func(physical []string) error) (linked bool, _ error) {
	for again := 0; errors.Is(err, errLink) && again < chaseLimit; again++ {
		var physical []string
		if physical, linked, err = r.chase(arg, comps, follow); err != nil {
			return false, err
		}
		err = act(physical)
	}
	switch {
	case errors.Is(err, errLink):
		return false, changed(arg)
	case errors.Is(err, syscall.ENOTDIR):
		return false, refuse(arg, ErrNotDirectory, "%s leads through something that is not a directory", Quote(arg))
	}
	return linked, Explain(arg, err)
}

// chase works out where the components really lead, below the root.
func (r *Root) chase(arg string, comps []string, follow bool) ([]string, bool, error) {
	physical, linked, err := hostChaser().chase(r.comps, comps, follow)
	if err != nil {
		return nil, false, r.explainChase(arg, err)
	}
	rel, ok := within(hostPlatform(), r.comps, physical)
	if !ok {
		return nil, false, outside(arg)
	}
	return rel, linked, nil
}

// explainChase words why a path could not be chased. What is said depends on what is inside the root alone: where the
// chase had got outside, or to a place that cannot be judged, there is the one text for that.
func (r *Root) explainChase(arg string, err error) error {
	var stop *chaseError
	if !errors.As(err, &stop) || !r.holds(stop.place) {
		return outside(arg)
	}
	q := Quote(arg)
	switch {
	case errors.Is(err, ErrTooManyLinks):
		return refuse(arg, ErrTooManyLinks, "too many symbolic links in %s", q)
	case errors.Is(err, ErrPermission):
		return refuse(arg, ErrPermission, "permission denied: %s", q)
	case errors.Is(err, ErrNotExist):
		return refuse(arg, ErrNotExist, "%s leads through something that does not exist", q)
	case errors.Is(err, ErrNotDirectory):
		return refuse(arg, ErrNotDirectory, "%s leads through something that is not a directory", q)
	}
	return outside(arg)
}

// holds says whether a physical path of the host is inside the root.
func (r *Root) holds(path string) bool {
	base, names, err := hostPlatform().locate(nil, path)
	if err != nil {
		return false
	}
	_, ok := within(hostPlatform(), r.comps, slices.Concat(base, names))
	return ok
}
