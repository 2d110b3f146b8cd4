// Package mutation changes things: between comparing a location with what the caller expects and acting on it, nobody
// else of ours writes.
//
// One change, in order: lock → resolve → compare, else ask the session's tracker → act → new revisions → tell the tracker
// (D6, D7). Every mutator of every pack goes through [Tree.Do],
// and every tool that answers with a revision observes under [Tree.Observe], the same lock shared.
//
// Invariant: an error from Do means that nothing was changed, unless the act itself says otherwise in its sentence (a
// recursive deletion that was stopped half-way); and nothing in the module changes a file outside an Act.
//
// Not promised: exclusion of programs that do not take the lock. What they have completed is found by the comparison;
// what they do between it and the act is not.
//
// A Tree may be used from several goroutines.
package mutation

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/revision"
	"lookfirst/fsmcp/toolkit"
	"lookfirst/readstate"
)

// ErrMismatch means that a location is not in the state that the caller expects.
var ErrMismatch = errors.New("revision mismatch")

// Tree is a root with what its tools share: the digests that are remembered, and the lock.
type Tree struct {
	Root   *confine.Root
	Hasher *revision.Hasher
	Lock   Options // of the lock, which is the root's

	last atomic.Pointer[rootsLock] // the lock that was used last
}

// rootsLock is the lock of a directory that was the root.
type rootsLock struct {
	id   confine.ID
	lock *Lock
}

// lock is that of the directory that is the root now: another one may have taken its place.
func (t *Tree) lock() *Lock {
	id := t.Root.ID()
	if last := t.last.Load(); last != nil && last.id == id {
		return last.lock
	}
	lock := For(t.Root.Path(), id, t.Lock)
	t.last.Store(&rootsLock{id, lock})
	return lock
}

// Place is one location argument of a call.
type Place struct {
	Key string // the parameter: "path", "from" or "to"
	Arg string // as the caller wrote it
	// Entry means the name itself: a link at the end of the path is not followed.
	Entry bool
}

// Effect is what a change that has worked means to the session's tracker.
type Effect uint8

const (
	// Makes puts nothing there that could have been read, as a new directory.
	Makes Effect = iota
	// Writes makes Landed the revision of the file at its one place.
	Writes
	// Moves carries what is at its first place to its second.
	Moves
	// Deletes takes away what is at its one place.
	Deletes
)

// Landed is a file as an act has left it. It is not observed: another program may have been quicker, and what it wrote is
// nothing that the caller has seen.
type Landed struct {
	Revision revision.Revision // of the bytes that were written
	Info     confine.Info      // what the system told of the file through the handle that wrote it
}

// Change is one call that changes something.
type Change struct {
	Places []Place
	// Locate finds a place, following links or not; if nil, in the tree's root.
	Locate func(Place) (*confine.Location, error)
	// Check refuses what has nothing to do with revisions, before they are compared. If nil, nothing is.
	Check func(ctx context.Context, at []*confine.Location) error
	// Guard refuses to change an existing file that the session has not seen as it is, when there are no expected
	// revisions (D7).
	Guard bool
	// Effect is what the change does. The zero value is Makes.
	Effect Effect
	// Landed is what the act of a change that Writes has put there, asked after the act.
	Landed func() Landed
	// Expected holds a token for each place by its key, or is nil for a change without a condition.
	Expected map[string]string
	// Act makes the change, with the places located in the same order, and says what it did. It runs under the lock.
	Act func(ctx context.Context, at []*confine.Location) (string, error)
}

// Observe takes the lock for reading. Several observers run side by side, a change alone.
func (t *Tree) Observe(ctx context.Context) (release func(), err error) { return t.lock().Read(ctx) }

// Do makes a change, and returns what it did in words and the revisions of its places afterwards.
func (t *Tree) Do(ctx context.Context, c Change) (string, revision.Set, error) {
	release, err := t.lock().Write(ctx)
	if err != nil {
		return "", nil, err
	}
	defer release()

	at, err := t.locate(c, c.Places)
	defer closeAll(at)
	if err != nil {
		return "", nil, err
	}
	if c.Check != nil {
		if err := c.Check(ctx, at); err != nil {
			return "", nil, err
		}
	}
	if err := t.compare(ctx, c, at); err != nil {
		return "", nil, err
	}
	for _, loc := range at {
		t.Hasher.Forget(loc.Info.ID)
	}
	text, err := c.Act(ctx, at)
	if err != nil {
		return "", nil, err
	}
	if c.Effect == Writes {
		return text, t.written(ctx, c, at[0]), nil
	}
	c.teach(readstate.From(ctx), at)
	return text, t.revisions(ctx, c), nil
}

func (t *Tree) locate(c Change, places []Place) (at []*confine.Location, err error) {
	for _, p := range places {
		loc, err := c.locate(t.Root, p)
		if err != nil {
			return at, err
		}
		at = append(at, loc)
	}
	return at, nil
}

func (c Change) locate(root *confine.Root, p Place) (*confine.Location, error) {
	switch {
	case c.Locate != nil:
		return c.Locate(p)
	case p.Entry:
		return root.ResolveEntry(p.Key, p.Arg)
	}
	return root.Resolve(p.Key, p.Arg)
}

func closeAll(at []*confine.Location) {
	for _, loc := range at {
		loc.Close()
	}
}

// compare refuses the change unless every place has the revision that is expected of it; nothing remembered is used for
// that. Where none is expected, the tracker is asked.
func (t *Tree) compare(ctx context.Context, c Change, at []*confine.Location) error {
	if c.Expected == nil {
		return t.guard(ctx, c, at)
	}
	if err := checkKeys(c); err != nil {
		return err
	}
	for i, p := range c.Places {
		now, err := t.Hasher.Fresh(ctx, at[i])
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return toolkit.Refuse("the revision of %s could not be computed, so nothing was changed: %w", confine.Quote(p.Arg), confine.Explain(p.Arg, err))
		}
		if string(now.Token) != c.Expected[p.Key] {
			return mismatch(p, c.Expected[p.Key], now)
		}
	}
	return nil
}

// guard asks the session's tracker about every file that is there. A digest that the memo vouches for stands for the
// bytes here: that a file is as the session has seen it is an observation, and not a comparison that a caller asked for.
func (t *Tree) guard(ctx context.Context, c Change, at []*confine.Location) error {
	if !c.Guard {
		return nil
	}
	seen := readstate.From(ctx)
	for _, loc := range at {
		if loc.Info.Kind != confine.Regular {
			continue
		}
		if err := t.guardFile(ctx, seen, loc); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree) guardFile(ctx context.Context, seen *readstate.Tracker, loc *confine.Location) error {
	path := loc.Physical()
	if !seen.Has(path) {
		return seen.Check(path, "")
	}
	now := t.Hasher.Named(ctx, loc).Token
	if now == "" {
		return guardUnknown(ctx, seen, loc)
	}
	return seen.Check(path, now)
}

// guardUnknown judges a file that the session has seen and of which there is no token now. To call one changed that may
// be written and not read would send its caller off to read it, again and again.
func guardUnknown(ctx context.Context, seen *readstate.Tracker, loc *confine.Location) error {
	readable, _ := loc.Access()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case seen.Left(loc.Physical(), loc.Info):
		return nil
	case readable:
		return readstate.ErrChanged // It is being changed right now, or has gone.
	}
	return toolkit.Refuse("%s may not be read, so it cannot be told whether it has changed; nothing was changed; it can be written once it may be read",
		confine.Quote(loc.Arg))
}

// written tells the tracker what has landed, and gives the revision of the place, which was a link or not.
func (t *Tree) written(ctx context.Context, c Change, at *confine.Location) revision.Set {
	landed := c.Landed()
	rev := landed.Revision
	readstate.From(ctx).Wrote(at.Physical(), rev.Token, landed.Info)
	if at.Linked {
		rev = t.Hasher.Through(at, rev)
	}
	return revision.Set{c.Places[0].Key: rev}
}

// teach tells the tracker where the files have gone that it knows. The places are those from before the change.
func (c Change) teach(seen *readstate.Tracker, at []*confine.Location) {
	switch c.Effect {
	case Moves:
		seen.Moved(at[0].Physical(), at[1].Physical())
	case Deletes:
		seen.Forget(at[0].Physical())
	}
}

func checkKeys(c Change) error {
	keys := make([]string, len(c.Places))
	for i, p := range c.Places {
		keys[i] = "'" + p.Key + "'"
		if _, ok := c.Expected[p.Key]; !ok {
			return toolkit.Refuse("'_expected-revisions' has no token for '%s'; send one for each location of the call", p.Key)
		}
	}
	for key := range c.Expected {
		if !slices.Contains(keys, "'"+key+"'") {
			return toolkit.Refuse("'_expected-revisions' has a token for %s, which is no location of this call; send tokens for %s alone", confine.Quote(key), strings.Join(keys, " and "))
		}
	}
	return nil
}

// mismatch says what is the matter with a place. One that was expected to be absent and is there may never have been seen,
// so it is not said to have changed.
func mismatch(p Place, expected string, now revision.Revision) error {
	q := confine.Quote(p.Arg)
	switch {
	case now.State == revision.Absent:
		return toolkit.Refuse("%s does not exist, which is not the revision that was expected; nothing was changed; look at it again and use its new revision%w", q, quietly{ErrMismatch})
	case expected == string(revision.AbsentToken):
		return toolkit.Refuse("%s exists, and was expected to be absent; nothing was changed; read it first and use its revision%w", q, quietly{ErrMismatch})
	}
	return toolkit.Refuse("%s has changed since the revision that was expected; nothing was changed; read it again and use its new revision%w", q, quietly{ErrMismatch})
}

// quietly lets errors.Is see an error whose text is not for the sentence.
type quietly struct{ error }

func (quietly) Error() string { return "" }

func (q quietly) Unwrap() error { return q.error }

// revisions observes the places anew: what a change has made of them may lie elsewhere than what it found.
func (t *Tree) revisions(ctx context.Context, c Change) revision.Set {
	set := revision.Set{}
	for _, p := range c.Places {
		set[p.Key] = t.revision(ctx, c, p)
	}
	return set
}

func (t *Tree) revision(ctx context.Context, c Change, p Place) revision.Revision {
	at, err := t.locate(c, []Place{p})
	defer closeAll(at)
	if err != nil {
		return revision.Revision{State: revision.Unknown}
	}
	return t.Hasher.Observe(ctx, at[0])
}
