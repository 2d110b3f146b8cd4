package confine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// The reasons for which a path argument is refused, for errors.Is.
var (
	// ErrName means that the text of the argument is not a usable relative path.
	ErrName = errors.New("not a usable path")
	// ErrOutside means that the argument leads outside the root, whether or not anything is there.
	ErrOutside = errors.New("outside the root")
	// ErrNotExist means that nothing is at the location. It is [fs.ErrNotExist].
	ErrNotExist = fs.ErrNotExist
	// ErrNotDirectory means that a directory was wanted, at the location or on the way to it.
	ErrNotDirectory = errors.New("not a directory")
	// ErrNotRegular means that a file was wanted and something else is there.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooManyLinks means a cycle of symbolic links, or more than 40 on one path.
	ErrTooManyLinks = errors.New("too many symbolic links")
	// ErrPermission means that the operating system denied it to this process. It is [fs.ErrPermission].
	ErrPermission = fs.ErrPermission
	// ErrExist means that something is there already. It is [fs.ErrExist].
	ErrExist = fs.ErrExist
	// ErrRootGone means that the root itself cannot be opened any more.
	ErrRootGone = errors.New("the root directory has gone")
)

// Error is a refusal: one sentence that a model may read, with the path as the caller wrote it and no path of the host.
type Error struct {
	Arg  string // as the caller wrote it
	Err  error  // one of the sentinels above, or what the operating system said
	Text string // the sentence
}

func (e *Error) Error() string { return e.Text }

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.Err }

// Refusal marks the sentence as one that a model may be shown.
func (e *Error) Refusal() string { return e.Text }

func refuse(arg string, kind error, format string, a ...any) *Error {
	return &Error{Arg: arg, Err: kind, Text: fmt.Sprintf(format, a...)}
}

// outside is the one text for every place outside the root: were it to depend on what is there, errors would tell
// which outside files exist.
func outside(arg string) *Error {
	return refuse(arg, ErrOutside, "%s leads outside the root", Quote(arg))
}

// changed is the refusal of a path in which links keep appearing while it is looked up.
func changed(arg string) *Error {
	return refuse(arg, ErrTooManyLinks, "%s was changed while it was being looked up; try again", Quote(arg))
}

func notDirectory(arg string) *Error {
	return refuse(arg, ErrNotDirectory, "%s is not a directory", Quote(arg))
}

// isShortage says whether an error is for want of descriptors, which says nothing about a path.
func isShortage(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Explain turns what the operating system said about a location into a sentence about arg. An error that is a
// sentence already is returned as it is.
func Explain(arg string, err error) error {
	var done *Error
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err // It says nothing about arg.
	}
	if err == nil || errors.As(err, &done) {
		return err
	}
	var kind notRegular
	if errors.As(err, &kind) {
		return NotRegular(arg, Kind(kind))
	}
	q := Quote(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse(arg, err, "%s does not exist", q)
	case errors.Is(err, fs.ErrPermission):
		return refuse(arg, err, "permission denied: %s", q)
	case errors.Is(err, ErrNotDirectory), errors.Is(err, syscall.ENOTDIR):
		return notDirectory(arg)
	case errors.Is(err, ErrTooManyLinks), errors.Is(err, syscall.ELOOP):
		return refuse(arg, ErrTooManyLinks, "too many symbolic links in %s", q)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return refuse(arg, err, "the name %s is too long", q)
	case isShortage(err):
		return refuse(arg, err, "too many open files; try again")
	case errors.Is(err, syscall.EROFS):
		return refuse(arg, err, "the file system is read-only; %s is unchanged", q)
	}
	return refuse(arg, err, "%s: %s", q, plain(err))
}

// plain says what the operating system said, without the operation and the path that Go's errors carry: a path of the
// host has no place in an answer.
func plain(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	text := err.Error()
	if strings.ContainsAny(text, `/\`) {
		return "the operating system refused it"
	}
	return text
}

// NotRegular is the refusal of a location that is not a file.
func NotRegular(arg string, k Kind) error {
	if k == Directory {
		return refuse(arg, ErrNotRegular, "%s is a directory", Quote(arg))
	}
	return refuse(arg, ErrNotRegular, "%s is not a regular file (%s)", Quote(arg), k)
}
