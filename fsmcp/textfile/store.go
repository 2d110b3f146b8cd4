package textfile

import (
	"cmp"
	"context"
	"errors"
	"io/fs"

	"lookfirst/fsmcp/confine"
)

// StoreOptions says how a file is stored. The zero value stores it quickly, whatever was there.
type StoreOptions struct {
	// Sync has the bytes, and then the name, on the disk before Store returns; without it a loss of power (not a crash
	// of the program) may leave an empty file.
	Sync bool
	// Before is the file as its content was read: Store refuses if it is another by now. Nil asks for nothing.
	Before *confine.Info
}

// Stored says what Store did.
type Stored struct {
	Created bool         // there was no file
	Info    confine.Info // the file as it is now
	// Note is what the caller should be told, in brackets, or empty: that other hard links keep the old text, or that the
	// file had to be written in place.
	Note string
}

// writeChunk is how many bytes are written between two looks at the context.
const writeChunk = 1 << 20

// Store makes content the file at loc. The file is the old one or the new one at every moment, also when the program, or
// with Sync the machine, is stopped in the midst of it: the new one is prepared beside it, with the old one's owner,
// permissions, access list and extended attributes, and takes its name in one step. Its inode and its time of birth are
// new, setuid and setgid are dropped as by any write, and other hard links keep the old file.
//
// Where a file cannot be replaced (its directory is not writable, its owner cannot be given to another file) and has no
// other hard links, it is written in place, which is not atomic; Stored.Note says so.
//
// A new file gets the permissions that the umask leaves of 0666, or the directory's default access list. It never takes
// the place of one that has appeared since loc was found.
//
// Errors are those of ctx, which is asked until the new file takes the name, and of type [confine.Error]: nothing was
// changed then, unless they are [ErrTouched] too. Those that another program brought about are [ErrConflict]. The
// location's Info is not brought up to date.
func Store(ctx context.Context, loc *confine.Location, content []byte, opt StoreOptions) (Stored, error) {
	s := &store{loc: loc, dir: loc.Parent(), name: loc.Name(), content: content, opt: opt}
	if err := ctx.Err(); err != nil {
		return Stored{}, err
	}
	if err := s.look(); err != nil {
		return Stored{}, s.explain(err)
	}
	stored, err := s.replace(ctx, s.dir.Prepare)
	if errors.Is(err, confine.ErrNameless) {
		stored, err = s.replace(ctx, s.dir.PrepareNamed)
	}
	if err != nil {
		return Stored{}, s.explain(err)
	}
	// What another process left here is none of this call's business: it succeeds without.
	_, _ = loc.Sweep(ctx)
	return stored, nil
}

// store is one call of Store.
type store struct {
	loc     *confine.Location
	dir     *confine.Dir
	name    string
	content []byte
	opt     StoreOptions
	was     confine.Info // the file as it was when the call began
}

// look refuses what can be refused before anything is done.
func (s *store) look() error {
	switch {
	case confine.IsTemp(s.name):
		return s.refuseTemp()
	case s.loc.Missing() > 1:
		return s.refuseParent()
	case s.loc.Missing() == 1 && s.loc.SaysDirectory():
		return s.refuseSlash()
	}
	var err error
	if s.was, err = s.dir.Stat(s.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.compare(s.was); err != nil || s.isNew() {
		return err
	}
	return s.dir.MayWrite(s.name)
}

// isNew says whether there was no file when the location was found, which is what the caller knows.
func (s *store) isNew() bool { return s.loc.Missing() > 0 }

// lookAgain is for the time that preparing the new file has taken.
func (s *store) lookAgain() (now confine.Info, err error) {
	if now, err = s.dir.Stat(s.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return now, err
	}
	return now, s.compare(now)
}

// compare refuses to go on when now, which is what stands at the name, is not what may be replaced.
func (s *store) compare(now confine.Info) error {
	switch {
	case s.opt.Before != nil && !now.Same(*s.opt.Before):
		return s.refuseChanged("edited")
	case s.isNew():
		return nil // What has appeared meanwhile is found by Create, which never replaces.
	case now.Kind == confine.Absent:
		return s.refuseChanged("written")
	case now.Kind != confine.Regular:
		return confine.NotRegular(s.loc.Arg, now.Kind)
	}
	return nil
}

// replace prepares the new file and publishes it.
func (s *store) replace(ctx context.Context, prepare func(fs.FileMode) (*confine.Pending, error)) (Stored, error) {
	// Until it has the old file's permissions, the new one is nobody else's to read.
	perm := fs.FileMode(0o600)
	if s.isNew() {
		perm = 0o666
	}
	p, err := prepare(perm)
	if err != nil {
		if why := s.whyInPlace(err, "the directory is not writable"); why != "" {
			return s.overwrite(ctx, why)
		}
		return Stored{}, err
	}
	defer p.Close()
	if err := s.fill(ctx, p); err != nil {
		return Stored{}, err
	}
	if !s.isNew() {
		if err := p.TakeOver(s.name); err != nil {
			_, changed := s.lookAgain()
			return s.orInPlace(ctx, p, cmp.Or(changed, err))
		}
	}
	if s.opt.Sync {
		if err := p.Sync(); err != nil {
			return Stored{}, err
		}
	}
	return s.publish(ctx, p)
}

// fill writes the content.
func (s *store) fill(ctx context.Context, p *confine.Pending) error {
	if err := p.Reserve(int64(len(s.content))); err != nil {
		return err
	}
	for rest := s.content; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := p.Write(rest[:min(len(rest), writeChunk)])
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	return ctx.Err()
}

// publish gives the old file up for the new one. From there on the call has succeeded.
func (s *store) publish(ctx context.Context, p *confine.Pending) (Stored, error) {
	now, err := s.lookAgain()
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return Stored{}, err
	}
	if s.isNew() {
		err = p.Create(s.name)
	} else {
		err = p.Replace(s.name)
	}
	if err != nil {
		return s.orInPlace(ctx, p, err)
	}
	stored := Stored{Created: s.isNew(), Note: noteLinks(now.Links)}
	if s.opt.Sync {
		// The new file has the name by now. A directory that may be written but not read cannot be synced.
		_ = s.dir.Sync()
	}
	stored.Info, err = p.Info()
	return s.finish(stored, errors.Join(err, p.Close()))
}
