package textfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"lookfirst/fsmcp/confine"
)

var (
	// ErrConflict is what the refusals of [Store] are that another program brought about by changing the file meanwhile.
	ErrConflict = errors.New("changed by another program")
	// ErrLinked is the refusal of a file that can only be written in place and has other hard links.
	ErrLinked = errors.New("has other hard links")
	// ErrTouched is what the errors of Store are after which the file is not what it was: it is damaged, or was written
	// and the system complained afterwards. Whatever else such an error is, its sentence has to be passed on.
	ErrTouched = errors.New("no longer what it was")
)

func (s *store) refuse(kind error, format string, a ...any) error {
	return &confine.Error{Arg: s.loc.Arg, Err: kind, Text: fmt.Sprintf(format, a...)}
}

func (s *store) quoted() string { return confine.Quote(s.loc.Arg) }

func (s *store) refuseTemp() error {
	return s.refuse(confine.ErrName, "%s is a name that is kept for temporary files; use another name", s.quoted())
}

func (s *store) refuseParent() error {
	return s.refuse(confine.ErrNotExist, "Parent directory of %s does not exist; create it with the mkdir tool first", s.quoted())
}

func (s *store) refuseSlash() error {
	return s.refuse(confine.ErrName, "%s ends as the name of a directory does; send the name of a file, without the slash", s.quoted())
}

func (s *store) refuseChanged(being string) error {
	return s.refuse(ErrConflict, "%s changed while it was being %s; read it again", s.quoted(), being)
}

func (s *store) refuseAppeared() error {
	return s.refuse(ErrConflict, "%s was made by another program meanwhile and is left as it is; read it first", s.quoted())
}

func (s *store) refuseLinked(why string, links uint64) error {
	return s.refuse(ErrLinked, "%s can only be written in place (%s), and would change under all of its %d hard links; it is unchanged",
		s.quoted(), why, links)
}

func (s *store) refuseDamaged(err error) error {
	return s.refuse(errors.Join(ErrTouched, err), "%s is damaged: it had to be written in place, and that broke off (%s); write it again", s.quoted(), reason(err))
}

// finish ends a call whose new file has the name. An error that comes now does not undo that.
func (s *store) finish(stored Stored, err error) (Stored, error) {
	if err != nil {
		return Stored{}, s.refuse(errors.Join(ErrTouched, err), "%s was written, but the system reports an error (%s); read it again", s.quoted(), reason(err))
	}
	return stored, nil
}

// explain turns an error of the operating system into a sentence. Nothing has been changed.
func (s *store) explain(err error) error {
	var done *confine.Error
	outcome := s.quoted() + " is unchanged"
	if s.isNew() {
		outcome = s.quoted() + " was not created"
	}
	switch {
	case errors.As(err, &done), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, syscall.EROFS):
		return s.refuse(err, "the file system is read-only; %s", outcome)
	case errors.Is(err, confine.ErrBusy):
		return s.refuse(err, "%s is open in another program; it is unchanged", s.quoted())
	case errors.Is(err, confine.ErrExist):
		return s.refuseAppeared()
	case errors.Is(err, syscall.EACCES) && !s.isNew():
		return s.refuse(err, "%s is read-only", s.quoted())
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return confine.Explain(s.loc.Arg, err)
	case errors.Is(err, fs.ErrNotExist):
		return s.refuseParent()
	}
	return s.refuse(err, "%s; %s", reason(err), outcome)
}

// reason says what the operating system said, and nothing of the host's paths.
func reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return "the operating system refused it"
}

// noteLinks tells of other names of a file that was replaced under one of them.
func noteLinks(links uint64) string {
	if links < 2 {
		return ""
	}
	return fmt.Sprintf("(it had %d hard links; the others keep the old text)", links)
}
