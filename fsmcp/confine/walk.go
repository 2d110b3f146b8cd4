package confine

import (
	"context"
	"errors"
	"io/fs"
	"slices"
)

const (
	// maxOpenDirs bounds the descriptors of one walk: above it the directories nearest the top are closed, and opened
	// again from below when the walk comes back.
	maxOpenDirs = 64
	// maxDepth bounds the levels of one walk, and so its memory.
	maxDepth = 10_000
)

// ErrTooDeep is the error of a directory that would be the 10,001st level of a walk.
var ErrTooDeep = errors.New("nested too deeply")

// ErrMount ends a walk that was to stay on one mount, at a directory where another is mounted.
var ErrMount = errors.New("a mount point")

// SkipDir, returned for a directory before its content is visited, leaves that out. Else it means nothing.
//
//lint:ignore ST1012 It is named as that of io/fs, which it is like.
var SkipDir = errors.New("skip this directory")

// Step is one entry that a walk meets. It is valid until the visit returns.
type Step struct {
	Entry
	Dir    *Dir   // holds the entry; Retain it to keep it
	Prefix []byte // the path from the walk's beginning to Dir, with a slash at its end unless empty; not to be kept
	// Err is set on a second visit of a directory that could not be opened or read.
	Err error
}

// Path is the entry's path from where the walk began.
func (s *Step) Path() string { return string(s.Prefix) + s.Name }

// Walk visits every entry below d in the given order, without following links. It holds at most 64 descriptors where
// the system lets a directory be reached from below (Linux), else one a level. A directory that cannot be read is
// visited a second time with Err set and the walk goes on; any error that visit returns ends it, as does ctx.
func (d *Dir) Walk(ctx context.Context, order Order, visit func(*Step) error) error {
	w := walker{ctx: ctx, order: order, within: anyMount, visit: visit}
	return w.run(d)
}

// WalkListed is Walk where [Dir.Entries] has just given the entries of d, and spares reading them again. The list must be
// sorted by name, and is left as it is.
func (d *Dir) WalkListed(ctx context.Context, order Order, list []Entry, visit func(*Step) error) error {
	w := walker{ctx: ctx, order: order, within: anyMount, visit: visit}
	todo := withDescents(list)
	if len(todo) > len(list) { // What a directory holds is all that may stand elsewhere than its name does.
		w.sort(todo)
	}
	return w.from(d, todo)
}

// WalkOneMount is Walk, ended by [ErrMount] at a directory where something else is mounted. Without openat2 that is known
// by the device number, which a bind mount has in common with its disk; on Windows it is not known at all.
func (d *Dir) WalkOneMount(ctx context.Context, order Order, visit func(*Step) error) error {
	w := walker{ctx: ctx, order: order, within: oneMount, visit: visit}
	return w.run(d)
}

type walker struct {
	ctx    context.Context
	order  Order
	within mounts
	visit  func(*Step) error
	step   Step
	stack  []frame // from the walk's beginning down to where it is; never empty while it goes on
	path   []byte  // of the last of them, with a slash at its end
}

// frame is a directory on the way down to where the walk is.
type frame struct {
	dir    *Dir // nil while closed for want of descriptors
	id     ID   // set when it is closed
	todo   []Entry
	prefix int // length of the path to what it holds
}

// deed is what a walk has to do where it meets an entry.
type deed uint8

const (
	show    deed = iota
	descend      // into a directory that was visited
	pass         // what was to be descended into, and is left out
)

// upward is a handle from which the directory above can be opened.
type upward interface{ openParent() (handle, error) }

func (w *walker) run(d *Dir) error {
	list, err := d.h.entries(w.ctx, nil)
	if err != nil {
		return err
	}
	return w.from(d, w.plan(withoutTemps(list)))
}

func (w *walker) from(d *Dir, todo []Entry) error {
	defer w.closeAll()
	w.stack = append(w.stack, frame{dir: d.Retain(), todo: todo})
	for len(w.stack) > 0 {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.next(); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) next() error {
	top := &w.stack[len(w.stack)-1]
	if len(top.todo) == 0 {
		return w.pop()
	}
	e := top.todo[0]
	top.todo = top.todo[1:]
	switch e.deed {
	case pass:
		return nil
	case descend:
		return w.descend(top, e)
	}
	err := w.see(top, e, nil)
	if err == SkipDir {
		w.leaveOut(top, e)
		return nil
	}
	return err
}

// leaveOut drops the descent into a directory that is still to come. The search keeps it cheap where every one of very
// many is skipped.
func (w *walker) leaveOut(f *frame, e Entry) {
	e.deed = descend
	i, ok := slices.BinarySearchFunc(f.todo, e, w.order.compare)
	if ok {
		f.todo[i].deed = pass
	}
}

func (w *walker) see(f *frame, e Entry, problem error) error {
	w.step = Step{Entry: e, Dir: f.dir, Prefix: w.path[:f.prefix], Err: problem}
	return w.visit(&w.step)
}

// descend opens a directory and plans its entries. One that has gone since its name was read was never there.
func (w *walker) descend(f *frame, e Entry) error {
	if len(w.stack) >= maxDepth {
		return w.see(f, e, ErrTooDeep)
	}
	h, list, err := f.dir.h.list(w.ctx, e.Name, w.within)
	switch {
	case err == nil:
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, ErrMount):
		return w.stopAt(f, e, err)
	default:
		if err := w.see(f, e, err); err != SkipDir {
			return err
		}
		return nil
	}
	w.path = append(append(w.path[:f.prefix], e.Name...), '/')
	w.stack = append(w.stack, frame{dir: newDir(h), todo: w.plan(withoutTemps(list)), prefix: len(w.path)})
	return w.limitOpen()
}

// stopAt is the error of a walk that ends at an entry, with the path from the walk's beginning.
func (w *walker) stopAt(f *frame, e Entry, err error) error {
	return &fs.PathError{Op: "walk", Path: string(w.path[:f.prefix]) + e.Name, Err: err}
}

// limitOpen closes the directory that is maxOpenDirs levels up. The walk's first directory is the caller's and stays.
func (w *walker) limitOpen() error {
	i := len(w.stack) - maxOpenDirs
	if i < 1 {
		return nil
	}
	f := &w.stack[i]
	if _, ok := f.dir.h.(upward); !ok {
		return nil
	}
	info, err := f.dir.Stat(".")
	if err != nil {
		return err
	}
	f.id = info.ID
	f.dir.Close()
	f.dir = nil
	return nil
}

// pop leaves a directory, and opens the one above from it if that was closed. A directory that was moved meanwhile
// has another one above it: what is there is no part of this walk.
func (w *walker) pop() error {
	top := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	defer top.dir.Close()
	if len(w.stack) == 0 || w.stack[len(w.stack)-1].dir != nil {
		return nil
	}
	above := &w.stack[len(w.stack)-1]
	h, err := top.dir.h.(upward).openParent()
	if err != nil {
		return err
	}
	above.dir = newDir(h)
	info, err := above.dir.Stat(".")
	if err == nil && info.ID != above.id {
		err = &fs.PathError{Op: "walk", Path: string(w.path[:top.prefix-1]), Err: errMoved}
	}
	return err
}

// errMoved ends a walk whose directories were moved under it.
var errMoved = errors.New("moved during the walk")

func (w *walker) closeAll() {
	for _, f := range w.stack {
		if f.dir != nil {
			f.dir.Close()
		}
	}
}
