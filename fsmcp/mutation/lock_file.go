package mutation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The paths in this file are those of lock files, which the program names itself and which lie outside every tree it
// serves; no argument of a caller takes part in them. They are opened by string, with os.OpenFile, os.Lstat and
// os.MkdirAll, because other processes must find them by the same string.

const (
	// reopenLimit bounds how often a lock file is opened again because another one had taken its place by the time
	// it was locked.
	reopenLimit = 100
	// strayLimit bounds the waits of one root that were given up but not yet ended. Such a wait is a thread in the
	// operating system, which cannot be called back: without a bound, every call would leave one behind for as long
	// as a stopped process holds the directory. Beyond it nobody waits: those before have waited long enough.
	strayLimit = 8
)

// mode says whether a lock tolerates others of its kind.
type mode int

const (
	shared mode = iota
	exclusive
)

// weight is what the mode takes of everyone.
func (m mode) weight() int64 {
	if m == exclusive {
		return everyone
	}
	return 1
}

// claim is what one holder locks: an open file description of the gate and one of the file. They are its own, since
// advisory locks belong to the description: through a common one, the second reader would add nothing and the first
// to leave would unlock for both.
type claim struct {
	mode mode
	gate *os.File
	file *os.File
	info fs.FileInfo // what file is
}

// acquire gives a claim that is locked, in at most wait if another process is in the way. Then the error is
// [ErrHeld]; it is that of ctx when that is done first, and anything else means that the lock files are of no use.
func (r *rootLock) acquire(ctx context.Context, m mode, wait time.Duration) (*claim, error) {
	var expired <-chan time.Time
	for range reopenLimit {
		c := r.spare()
		if c == nil {
			var err error
			if c, err = openClaim(r.key); err != nil {
				return nil, err
			}
		}
		c.mode = m
		err := c.lock()
		if errors.Is(err, ErrHeld) {
			if expired == nil {
				expired = time.After(wait)
			}
			err = r.await(ctx, c, expired)
		} else if err != nil {
			c.close()
		}
		if err != nil {
			return nil, err
		}
		if c.inPlace() {
			return c, nil
		}
		c.close()
	}
	return nil, fmt.Errorf("lock %s: it was replaced %d times in a row", r.key.path(".lock"), reopenLimit)
}

func (k lockKey) path(ext string) string { return filepath.Join(k.dir, k.name+ext) }

func openClaim(key lockKey) (*claim, error) {
	gate, _, err := openLockFile(key.path(".gate"))
	if err != nil {
		return nil, err
	}
	file, info, err := openLockFile(key.path(".lock"))
	if err != nil {
		gate.Close()
		return nil, err
	}
	return &claim{gate: gate, file: file, info: info}, nil
}

// openLockFile opens a lock file and makes it when it is missing. It stays empty and is never removed: whoever
// removed it could not know that nobody was about to lock it. It is opened for writing because NFS wants that for
// an exclusive lock.
func openLockFile(path string) (*os.File, fs.FileInfo, error) {
	const flags = os.O_RDWR | os.O_CREATE | noFollow
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, nil, fmt.Errorf("make the directory of lock files: %w", err)
		}
		f, err = os.OpenFile(path, flags, 0o600)
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// lock takes the claim without waiting; the error is [ErrHeld] when it would have to wait, and nothing is held then.
// With [claim.inPlace] and [claim.unlock] it costs five system calls, a reader's and a mutator's alike: four flock
// and one lstat.
func (c *claim) lock() error {
	if err := lockFile(c.gate, c.mode, false); err != nil {
		return err
	}
	err := lockFile(c.file, c.mode, false)
	if err != nil || c.mode == shared {
		unlockFile(c.gate)
	}
	return err
}

func (c *claim) unlock() {
	unlockFile(c.file)
	if c.mode == exclusive {
		unlockFile(c.gate)
	}
}

// inPlace says whether a newcomer would find the file that is locked: one that was deleted meanwhile, or has another
// in its place, keeps nobody out. The gate need not be asked: without it a mutator may wait longer, no more.
func (c *claim) inPlace() bool {
	now, err := os.Lstat(c.file.Name())
	return err == nil && os.SameFile(now, c.info)
}

// close gives the claim up, whatever it holds. Closing alone would leave the locks to a child process that was just
// forked and has not yet let go of its copies.
func (c *claim) close() {
	unlockFile(c.file)
	unlockFile(c.gate)
	c.file.Close()
	c.gate.Close()
}
