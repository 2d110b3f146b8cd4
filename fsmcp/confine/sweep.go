package confine

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
)

const (
	// sweepDirLimit is how many entries a directory may have to be swept: reading more would be felt beside a write.
	sweepDirLimit = 1000
	// sweepTreeLimit bounds the entries that the sweep of a whole root looks at.
	sweepTreeLimit = 200_000
	// sweptMemory bounds how many directories a root remembers to have swept, some hundred kilobytes.
	sweptMemory = 4096
)

// errEnough ends a sweep that has looked at as much as it may.
var errEnough = errors.New("swept as much as may be")

// withoutTemps leaves out of a list, in place, the files that are being prepared or were left by a crash. It is asked for
// every list that leaves the package, so that no tool shows, hashes or searches one.
func withoutTemps(list []Entry) []Entry {
	return slices.DeleteFunc(list, func(e Entry) bool { return e.Kind == Regular && IsTemp(e.Name) })
}

// Sweep removes what crashed processes left in the directory: regular files of our user whose whole name [IsTemp] knows
// and whose maker's lock is free. A directory of more than 1,000 entries is left as it is, and so is what cannot be
// removed. It returns how many it removed.
func (d *Dir) Sweep(ctx context.Context) (removed int, err error) {
	f, err := d.h.openSelf()
	if err != nil {
		return 0, err
	}
	defer f.Close()
	names, err := f.Readdirnames(sweepDirLimit + 1)
	if err != nil && err != io.EOF {
		return 0, bare(err)
	}
	if len(names) > sweepDirLimit {
		return 0, nil
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return removed, err
		}
		if IsTemp(name) && d.sweepOne(name) {
			removed++
		}
	}
	return removed, nil
}

// sweepBelow sweeps a directory of this one, and says whether that changed anything.
func (d *Dir) sweepBelow(name string) bool {
	dir, err := d.OpenDir(name)
	if err != nil {
		return false
	}
	defer dir.Close()
	removed, _ := dir.Sweep(context.Background())
	return removed > 0
}

// sweepOne removes a file if its maker is dead. It is removed by name: that a file of the same random name has taken its
// place is out of the question.
func (d *Dir) sweepOne(name string) bool {
	f, info, err := d.openOld(name, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return isMine(info) && tryLock(f) == nil && d.h.remove(name, Regular) == nil
}

// Sweep is [Dir.Sweep] for every directory of the root, ended after 200,000 entries. It is meant for the background.
func (r *Root) Sweep(ctx context.Context) (removed int, err error) {
	top, err := r.current()
	if err != nil {
		return 0, err
	}
	defer top.Close()
	if removed, err = top.Sweep(ctx); err != nil {
		return removed, err
	}
	seen := 0
	err = top.Walk(ctx, FilesFirst, func(s *Step) error {
		if seen++; seen > sweepTreeLimit {
			return errEnough
		}
		if s.Kind != Directory || s.Err != nil {
			return nil
		}
		dir, err := s.Dir.OpenDir(s.Name)
		if err != nil {
			return nil
		}
		defer dir.Close()
		// One that cannot be swept is no reason to leave the others.
		n, _ := dir.Sweep(ctx)
		removed += n
		return nil
	})
	if err == errEnough {
		err = nil
	}
	return removed, err
}

// Sweep is [Dir.Sweep] for the location's parent, once for each directory of a root: whoever writes to a directory would
// otherwise read it every time.
func (l *Location) Sweep(ctx context.Context) (removed int, err error) {
	if !l.root.swept.isNew(strings.Join(l.above, "/")) {
		return 0, nil
	}
	return l.dir.Sweep(ctx)
}

// swept remembers the directories of a root that have been swept.
type swept struct {
	mu   sync.Mutex // guards dirs
	dirs map[string]bool
}

// isNew says whether the directory has not been asked for before, as far as is remembered.
func (s *swept) isNew(dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dirs[dir] {
		return false
	}
	if s.dirs == nil || len(s.dirs) >= sweptMemory {
		s.dirs = make(map[string]bool)
	}
	s.dirs[dir] = true
	return true
}
