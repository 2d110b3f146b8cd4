// Package mutation changes things: between comparing a location with what the caller expects and acting on it, nobody
// else of ours writes.
//
// One change, in order: lock → resolve → compare → act → new revisions. Every mutator of every pack goes through [Tree.Do],
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

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/revision"
	"lookfirst/fsmcp/toolkit"
)

// ErrMismatch means that a location is not in the state that the caller expects.
var ErrMismatch = errors.New("revision mismatch")

// Tree is a root with what its tools share: the digests that are remembered, and the lock.
type Tree struct {
	Root   *confine.Root
	Hasher *revision.Hasher
	Lock   Options // of the lock, which is the root's
}

// lock is that of the directory that is the root now: another one may have taken its place.
func (t *Tree) lock() *Lock { return For(t.Root.Path(), t.Root.ID(), t.Lock) }

// Place is one location argument of a call.
type Place struct {
	Key string // the parameter: "path", "from" or "to"
	Arg string // as the caller wrote it
	// Entry means the name itself: a link at the end of the path is not followed.
	Entry bool
}

// Change is one call that changes something.
type Change struct {
	Places []Place
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

	at, err := t.locate(c.Places)
	defer closeAll(at)
	if err != nil {
		return "", nil, err
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
	return text, t.revisions(ctx, c.Places), nil
}

func (t *Tree) locate(places []Place) (at []*confine.Location, err error) {
	for _, p := range places {
		resolve := t.Root.Resolve
		if p.Entry {
			resolve = t.Root.ResolveEntry
		}
		loc, err := resolve(p.Key, p.Arg)
		if err != nil {
			return at, err
		}
		at = append(at, loc)
	}
	return at, nil
}

func closeAll(at []*confine.Location) {
	for _, loc := range at {
		loc.Close()
	}
}

// compare refuses the change unless every place has the revision that is expected of it. Nothing remembered is used.
func (t *Tree) compare(ctx context.Context, c Change, at []*confine.Location) error {
	if c.Expected == nil {
		return nil
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
			return mismatch(p, now)
		}
	}
	return nil
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

func mismatch(p Place, now revision.Revision) error {
	q := confine.Quote(p.Arg)
	if now.State == revision.Absent {
		return toolkit.Refuse("%s does not exist, which is not the revision that was expected; nothing was changed; look at it again and use its new revision%w", q, quietly{ErrMismatch})
	}
	return toolkit.Refuse("%s has changed since the revision that was expected; nothing was changed; read it again and use its new revision%w", q, quietly{ErrMismatch})
}

// quietly lets errors.Is see an error whose text is not for the sentence.
type quietly struct{ error }

func (quietly) Error() string { return "" }

func (q quietly) Unwrap() error { return q.error }

// revisions observes the places anew: what a change has made of them may lie elsewhere than what it found.
func (t *Tree) revisions(ctx context.Context, places []Place) revision.Set {
	set := revision.Set{}
	for _, p := range places {
		set[p.Key] = t.revision(ctx, p)
	}
	return set
}

func (t *Tree) revision(ctx context.Context, p Place) revision.Revision {
	at, err := t.locate([]Place{p})
	defer closeAll(at)
	if err != nil {
		return revision.Revision{State: revision.Unknown}
	}
	return t.Hasher.Observe(ctx, at[0])
}
