package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// defaultHops is how many links a path may lead through: Linux follows 40 and refuses the 41st.
const defaultHops = 40

// maxSteps bounds the names that one chase walks: twice as many as a path of 4,095 bytes can hold. 40 links could be made to
// hold twenty times that, and keep the chase busy for seconds.
const maxSteps = 4096

// ErrBlocked means a path that cannot be resolved: a link that cannot be read or that names no place which could be
// judged, or a path that has grown too long on the way.
var ErrBlocked = errors.New("path cannot be resolved")

// PhysicalPath returns the absolute, native spelling of the place that the operating system would reach by path: without
// links as far as the path exists, and with the rest of it kept. A relative path starts at the working directory. Every
// component that is a link (on Windows a junction too) is replaced by its target, and the walk goes on from there.
//
// ".." follows the rule of the system. POSIX resolves it physically: it is the parent of wherever the walk has got to.
// Windows resolves it by name, before anything is followed, in a path and in a link's target alike.
//
// It fails rather than guess, with an error that holds the host's path and is of one of these kinds:
//   - [ErrTooManyLinks]: more than maxHops links (0 means 40; a negative number follows none)
//   - [ErrNotExist]: ".." after a component that does not exist (POSIX)
//   - [ErrNotDirectory]: the path goes on after what is neither a directory nor a link
//   - [ErrPermission]: a directory on the way may not be searched
//   - [ErrBlocked]: a link that cannot be read; a path or target that is empty or holds a NUL byte; a path that on the way
//     has more than 4,095 bytes or, with all its targets, 4,096 names; on Windows also a device path, a path relative to a
//     drive's working directory, and a segment that Win32 would take for another name
//
// To compare two paths, resolve both and compare whole components. What no resolver can promise is that the file system
// stays as it was: open through a [Root]. PhysicalPath may be called from several goroutines.
func PhysicalPath(path string, maxHops int) (string, error) {
	var dir string
	if !filepath.IsAbs(path) {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return "", fmt.Errorf("find the working directory: %w", err)
		}
	}
	c := hostChaser()
	if maxHops != 0 {
		c.maxHops = maxHops
	}
	physical, err := c.physical(dir, path)
	if err != nil {
		return "", err
	}
	return c.platform.join(physical), nil
}

// chaseKind is what the chase has to know about a place.
type chaseKind int

const (
	chaseAbsent chaseKind = iota
	chaseLink
	chaseDirectory
	chaseOther
)

// links answers the one question that the chase has about a path whose components before the last are no links: what is
// there, and if it is a link, to what. That nothing is there is an answer and no error.
type links interface {
	readlink(path string) (target string, kind chaseKind, err error)
}

// osLinks asks the operating system.
type osLinks struct{}

func (osLinks) readlink(path string) (string, chaseKind, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", chaseAbsent, nil
	case err != nil:
		return "", chaseOther, err
	case info.IsDir():
		return "", chaseDirectory, nil
	}
	mayLead := fs.ModeSymlink
	if runtime.GOOS == "windows" {
		// Go calls a junction irregular, as it does other reparse points. What redirects a path and is no link that can
		// be read makes os.Readlink fail, and so is refused.
		mayLead |= fs.ModeIrregular
	}
	if info.Mode()&mayLead == 0 {
		return "", chaseOther, nil
	}
	target, err := os.Readlink(path)
	return target, chaseLink, err
}

// chaser resolves paths as its platform does, in what links says is there. It keeps nothing between calls.
type chaser struct {
	platform platform
	links    links
	maxHops  int
}

// hostChaser resolves as this system does, over 40 links at most.
func hostChaser() chaser {
	return chaser{platform: hostPlatform(), links: osLinks{}, maxHops: defaultHops}
}

// chase resolves rest, the components of an argument, from start, a physical place that exists and is a directory. With
// followLast off the last of rest is kept as it is, even when it is a link; linked says in either case whether it is one.
//
// An error is of a kind that [PhysicalPath] lists; its text names a place on the host and is not for a model.
func (c chaser) chase(start, rest []string, followLast bool) (physical []string, linked bool, err error) {
	t := trail{chaser: c, at: slices.Clone(start), kind: chaseDirectory, ahead: rest, followLast: followLast}
	for len(t.ahead) > 0 {
		if err := t.step(); err != nil {
			return nil, t.linked, err
		}
	}
	return t.at, t.linked, nil
}

// physical resolves a path that is absolute, or else relative to the absolute path dir.
func (c chaser) physical(dir, path string) ([]string, error) {
	var from []string
	if dir != "" {
		base, names, err := c.platform.locate(nil, dir)
		if err != nil {
			return nil, &chaseError{kind: ErrBlocked, place: dir, cause: err}
		}
		from = slices.Concat(base, names)
	}
	// The two are joined before anything is followed, because on Windows ".." in path takes away names of dir.
	base, names, err := c.platform.locate(from, path)
	if err != nil {
		return nil, &chaseError{kind: ErrBlocked, place: path, cause: err}
	}
	top := c.platform.top(base)
	physical, _, err := c.chase(top, slices.Concat(base[len(top):], names), true)
	return physical, err
}

// trail is one chase under way.
type trail struct {
	chaser
	at         []string  // the physical place reached so far
	kind       chaseKind // what is there; a link is followed at once
	ahead      []string  // names still to walk; "." and ".." only out of a path or a target, never out of an argument
	steps      int
	hops       int
	followLast bool
	linked     bool // the last name of the argument was a link
}

// step walks the next name.
func (t *trail) step() error {
	name := t.ahead[0]
	t.ahead = t.ahead[1:]
	t.steps++
	switch {
	case t.steps > maxSteps:
		return t.stop(ErrBlocked, errors.New("path too long"))
	case t.kind == chaseOther:
		return t.stop(ErrNotDirectory, nil)
	case name == ".":
		return nil
	case name == "..":
		return t.up()
	}
	t.at = append(t.at, name)
	path := t.platform.join(t.at)
	if len(path) > maxPathBytes {
		return t.stop(ErrBlocked, errors.New("path too long"))
	}
	target, kind, err := t.links.readlink(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return t.stop(ErrPermission, err)
	case err != nil:
		return t.stop(ErrBlocked, err)
	case kind == chaseLink:
		return t.follow(target)
	}
	t.kind = kind
	return nil
}

// up goes to the parent, as POSIX does: above '/' there is '/', and above nothing there is nothing.
func (t *trail) up() error {
	if t.kind == chaseAbsent {
		return t.stop(ErrNotExist, nil)
	}
	if len(t.at) > len(t.platform.top(t.at)) {
		t.at = t.at[:len(t.at)-1]
	}
	return nil
}

// follow puts the target of the link that has been reached in the place of its name.
func (t *trail) follow(target string) error {
	// What a target adds goes before the rest of the argument, so nothing is ahead of its last name alone, and then of the
	// links that this one leads through.
	if len(t.ahead) == 0 {
		t.linked = true
		if !t.followLast {
			return nil
		}
	}
	if t.hops++; t.hops > t.maxHops {
		return t.stop(ErrTooManyLinks, nil)
	}
	base, names, err := t.platform.locate(t.at[:len(t.at)-1], target)
	if err != nil {
		return t.stop(ErrBlocked, err)
	}
	t.at, t.ahead, t.kind = base, slices.Concat(names, t.ahead), chaseDirectory
	return nil
}

func (t *trail) stop(kind, cause error) error {
	return &chaseError{kind: kind, place: t.platform.join(t.at), cause: cause}
}

// chaseError says why a chase ended, and where on the host.
type chaseError struct {
	kind  error  // one that PhysicalPath lists
	place string // absolute and without links before its last name; the path as given when that could not be read
	cause error  // what the system said, or what is wrong with the text; nil where kind says it all
}

func (e *chaseError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("resolve %s: %v", e.place, e.kind)
	}
	return fmt.Sprintf("resolve %s: %v: %v", e.place, e.kind, e.cause)
}

// Unwrap gives the kind, and what the system said.
func (e *chaseError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}
