package mutation

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/toolkit"
)

// Lock order. A call takes them from top to bottom and never one above what it holds:
//
//	1. the turn    a queue in this process, one per root: readers share, mutators exclude, first come first served
//	2. the gate    an advisory lock of the operating system, one per root: readers only pass, mutators stay
//	3. the file    the same again: what keeps the mutators of one process from the readers and mutators of another
//	4. any mutex of the packs (memo, tracker, caches), held for no longer than it takes to touch what it guards
//
// A call takes the lock of one root, once: asking again while holding it would wait for a mutator in the queue that
// in turn waits for the holder. The gate is there because flock lets a reader join other readers while a mutator
// waits, so that readers who overlap for ever would keep it out; a mutator at the gate lets those inside leave and
// nobody else in.

// lockWait is how long at most anyone waits for another process. D9
const lockWait = 10 * time.Second

// ErrHeld means that another process held the directory for as long as a mutator would wait.
var ErrHeld = errors.New("another process holds the directory")

// Options says where the lock of a root is kept.
type Options struct {
	// Dir is the directory of the lock files, made when it is missing. If empty, lookfirst/locks in the user's cache
	// directory: outside the tree, which would otherwise show files that nobody put there.
	Dir string
	// Warn is told, once per process and Dir, that the lock files cannot be used, in a text for the operator. If nil,
	// nobody is told.
	Warn func(string)
	// Wait is how long to wait for another process. If zero, 10 seconds.
	Wait time.Duration
}

// Lock keeps the mutators of one physical root from its readers and from each other, in this process and, as far as
// the lock files can be used, in every other process of the same user.
//
// Not promised: that programs which do not know the lock keep out; that roots of which one lies in the other exclude
// each other; that it reaches a process which sees the root under another device number (from another container or
// host) or uses another cache directory; that a lock file removed while it is held still keeps newcomers out before
// its holder is done. It may be used from several goroutines.
type Lock struct {
	key   lockKey
	warn  func(string)
	wait  time.Duration
	noDir error // why there is no directory for lock files, when key.dir is empty
}

// lockKey names the lock of a root: the same key is the same lock.
type lockKey struct{ dir, name string }

// For gives the lock of the root whose physical path is root and whose directory is id. It neither fails nor touches
// the disk, and there is nothing to close: two Locks of one root are the same lock, however they came about.
func For(root string, id confine.ID, opt Options) *Lock {
	l := &Lock{warn: opt.Warn, wait: opt.Wait}
	if l.wait <= 0 {
		l.wait = lockWait
	}
	l.key.name = lockName(root, id)
	if opt.Dir != "" {
		l.key.dir = filepath.Clean(opt.Dir)
	} else if cache, err := os.UserCacheDir(); err != nil {
		l.noDir = err
	} else {
		l.key.dir = filepath.Join(cache, "lookfirst", "locks")
	}
	return l
}

// lockName names the root in its lock files: a directory found by two paths has one identity. The path stands in
// where the platform tells no identity; hashed, since it may be longer than a file name can be.
func lockName(root string, id confine.ID) string {
	if id == (confine.ID{}) {
		return fmt.Sprintf("path-%x", sha256.Sum256([]byte(root)))
	}
	return fmt.Sprintf("%d-%d", id.Dev, id.Ino)
}

// Read keeps mutators out until release is called; other readers share the time. It waits for mutators of this
// process until ctx is done, which is its only error. For another process it waits [Options].Wait, and then goes on
// all the same: what it reads may be half of a change, but an observation harms nothing (D9).
//
// Calling release again does nothing.
func (l *Lock) Read(ctx context.Context) (release func(), err error) {
	return l.take(ctx, shared)
}

// Write keeps readers and other mutators out until release is called. It waits for those of this process until ctx
// is done. When another process holds the directory for longer than [Options].Wait, the error is a
// [toolkit.Refusal] that is [ErrHeld].
//
// Calling release again does nothing.
func (l *Lock) Write(ctx context.Context) (release func(), err error) {
	return l.take(ctx, exclusive)
}

func (l *Lock) take(ctx context.Context, m mode) (func(), error) {
	r := process.enter(l.key)
	if err := r.turn.Acquire(ctx, m.weight()); err != nil {
		process.leave(r)
		return nil, fmt.Errorf("wait for the lock of the directory: %w", err)
	}
	h := &hold{root: r, mode: m}
	var err error
	if h.claim, err = l.claim(ctx, r, m); err == nil {
		return h.release, nil
	}
	switch {
	case ctx.Err() != nil:
		h.release()
		return nil, fmt.Errorf("wait for the lock of the directory: %w", ctx.Err())
	case !errors.Is(err, ErrHeld):
		process.warnOnce(l.key.dir, l.warn, err)
	case m == exclusive:
		h.release()
		return nil, toolkit.Refuse("%w, so nothing was changed; send the call again", ErrHeld)
	}
	return h.release, nil
}

func (l *Lock) claim(ctx context.Context, r *rootLock, m mode) (*claim, error) {
	if l.noDir != nil {
		return nil, l.noDir
	}
	return r.acquire(ctx, m, l.wait)
}

// hold is a lock that was taken and not yet released.
type hold struct {
	root  *rootLock
	mode  mode
	claim *claim // nil when other processes are not kept out
	over  atomic.Bool
}

func (h *hold) release() {
	if h.over.Swap(true) {
		return
	}
	if h.claim != nil {
		h.claim.unlock()
		h.root.keep(h.claim)
	}
	h.root.turn.Release(h.mode.weight())
	process.leave(h.root)
}
