package textfile

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"lookfirst/fsmcp/confine"
)

// whyInPlace gives the reason for writing the file where it stands, after err has shown that it cannot be replaced; empty
// when writing it in place would fail as well or is not what failed. denied is the reason for a denial.
func (s *store) whyInPlace(err error, denied string) string {
	var keep *confine.KeepError
	switch {
	case s.isNew():
		return ""
	case errors.As(err, &keep):
		return keep.Error()
	case errors.Is(err, syscall.EBUSY):
		// One file mounted on another, as containers are given their configuration.
		return "it is a mount point"
	case errors.Is(err, fs.ErrPermission):
		return denied
	}
	return ""
}

// orInPlace gives p up and writes the file in place, if that is what err calls for.
func (s *store) orInPlace(ctx context.Context, p *confine.Pending, err error) (Stored, error) {
	why := s.whyInPlace(err, "it cannot be replaced in its directory")
	if why == "" {
		return Stored{}, err
	}
	p.Close() // It may hold the room that is needed.
	return s.overwrite(ctx, why)
}

// overwrite writes the content over the old bytes. A file with other hard links is left alone: they need not be in the
// root, and nothing outside it may change.
func (s *store) overwrite(ctx context.Context, why string) (Stored, error) {
	f, err := s.dir.OpenInPlace(s.name)
	if err != nil {
		return Stored{}, err
	}
	defer f.Close()
	switch now := f.Info(); {
	case s.opt.Before != nil && !now.Same(*s.opt.Before):
		return Stored{}, s.refuseChanged("edited")
	case now.ID != s.was.ID:
		return Stored{}, s.refuseChanged("written")
	case now.Links > 1:
		return Stored{}, s.refuseLinked(why, now.Links)
	}
	if err := ctx.Err(); err != nil {
		return Stored{}, err
	}
	if err := s.grow(f); err != nil {
		return Stored{}, err
	}
	if err := s.cover(f); err != nil {
		return Stored{}, s.refuseDamaged(err)
	}
	info, err := f.Stat()
	return s.finish(Stored{Info: info, Note: "(not atomic: " + why + ")"}, errors.Join(err, f.Close()))
}

// grow writes what is longer than the old file, and takes it off again when there is no room for it: what can fail is
// done first, while the old bytes are still there.
func (s *store) grow(f *confine.InPlace) error {
	size := f.Info().Size
	err := f.Reserve(int64(len(s.content)))
	if err == nil && int64(len(s.content)) > size {
		_, err = f.WriteAt(s.content[size:], size)
	}
	if err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	return nil
}

// cover writes over the old bytes and takes off what is left of them. No look at the context: it must not end halfway.
func (s *store) cover(f *confine.InPlace) error {
	size := f.Info().Size
	if _, err := f.WriteAt(s.content[:min(int64(len(s.content)), size)], 0); err != nil {
		return err
	}
	if int64(len(s.content)) < size {
		if err := f.Truncate(int64(len(s.content))); err != nil {
			return err
		}
	}
	if s.opt.Sync {
		return f.Sync()
	}
	return nil
}
