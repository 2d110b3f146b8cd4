package confine

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Roots opens the directories that the calls of one toolkit may reach, and keeps them open between calls: the list may be
// another one at each call. It may be used from several goroutines.
type Roots struct {
	mu   sync.Mutex       // guards open
	open map[string]*Root // by physical path
}

// maxIdleRoots is how many directories are kept open that the latest call had no use for.
const maxIdleRoots = 16

// Reach is what one call can reach: a base directory, at which relative arguments start, and other directories, or the
// whole file system. In contrast to the arguments of a single [Root], these may be absolute, and ".." in
// them is resolved as the system does it: on POSIX "link/.." is the directory above the one that link names.
//
// What a link says is never trusted here either: the chase gives a place, the place has to lie in one of the roots, and
// it is opened from the root's own descriptor with no link in the path.
type Reach struct {
	owner *Roots
	base  *Root
	roots []*Root // that fit, base first
	all   bool    // the whole file system
}

// NewRoots makes an empty set.
func NewRoots() *Roots { return &Roots{open: map[string]*Root{}} }

// Reach opens what the directories name that is not open yet. Base must be a directory; one of the others that is not is
// left out, since it may be there at the next call. With all, arguments lead anywhere.
func (s *Roots) Reach(base string, others []string, all bool) (*Reach, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := s.root(base)
	if err != nil {
		return nil, err
	}
	reach := &Reach{owner: s, base: root, roots: []*Root{root}, all: all}
	for _, dir := range others {
		if root, err := s.root(dir); err == nil && !slices.Contains(reach.roots, root) {
			reach.roots = append(reach.roots, root)
		}
	}
	s.prune(reach)
	return reach, nil
}

// root gives the root for a directory. The caller holds the mutex.
func (s *Roots) root(dir string) (*Root, error) {
	path, err := PhysicalPath(dir, 0)
	if err != nil {
		return nil, err
	}
	if r := s.open[path]; r != nil {
		if _, err := identify(path); err != nil {
			return nil, err
		}
		return r, nil
	}
	r, err := OpenRoot(path)
	if err != nil {
		return nil, err
	}
	s.open[path] = r
	return r, nil
}

// prune closes directories that are no longer asked for, once there are many of them. A call that still uses one is told
// that it has been closed.
func (s *Roots) prune(reach *Reach) {
	if len(s.open) <= len(reach.roots)+maxIdleRoots {
		return
	}
	for path, r := range s.open {
		if !slices.Contains(reach.roots, r) {
			r.Close()
			delete(s.open, path)
		}
	}
}

// Close closes all. No call may be running.
func (s *Roots) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []error
	for path, r := range s.open {
		all = append(all, r.Close())
		delete(s.open, path)
	}
	return errors.Join(all...)
}

// Base is the physical path at which relative arguments start.
func (v *Reach) Base() string { return v.base.path }

// Allowed lists the physical paths of the directories, base first.
func (v *Reach) Allowed() []string {
	paths := make([]string, len(v.roots))
	for i, r := range v.roots {
		paths[i] = r.path
	}
	return paths
}

// Absolute spells an argument as an absolute path by its text alone. It asks the file system nothing, so that in a
// refusal it cannot tell what lies outside.
func (v *Reach) Absolute(arg string) string {
	if filepath.IsAbs(arg) {
		return filepath.Clean(arg)
	}
	return filepath.Join(v.base.path, arg)
}

// Resolve finds the location that arg names, following links, a last one too. The file, and directories on the way to
// it, may be missing. Errors are of type [*Error]; whatever lies outside is [ErrOutside], there or not.
func (v *Reach) Resolve(arg string) (*Location, error) { return v.locate(arg, true) }

// ResolveEntry is Resolve for the entry itself: a link at the end of the path is not followed.
func (v *Reach) ResolveEntry(arg string) (*Location, error) { return v.locate(arg, false) }

func (v *Reach) locate(arg string, follow bool) (*Location, error) {
	start, names, err := v.split(arg)
	if err != nil {
		return nil, err
	}
	for range chaseLimit {
		physical, linked, err := hostChaser().chase(start, names, follow)
		if err != nil {
			return nil, v.explainChase(arg, err)
		}
		loc, err := v.open(arg, physical, follow)
		if errors.Is(err, errLink) {
			continue // It was swapped in after the chase.
		}
		if err != nil {
			return nil, Explain(arg, err)
		}
		loc.Linked = linked && follow
		if loc.isDir && loc.Info.Kind != Absent && loc.Info.Kind != Directory {
			loc.Close()
			return nil, notDirectory(arg)
		}
		return loc, nil
	}
	return nil, changed(arg)
}

// split reads the text of an argument: where it starts, and the names to walk from there.
func (v *Reach) split(arg string) (start, names []string, err error) {
	p := hostPlatform()
	if arg == "" {
		return nil, nil, refuse(arg, ErrName, "the path is empty; use '.' for the working directory")
	}
	if err := checkNUL(arg); err != nil {
		return nil, nil, err
	}
	base, names, err := p.locate(v.base.comps, arg)
	if err != nil {
		return nil, nil, refuse(arg, ErrName, "%s is not a usable path", Quote(arg))
	}
	if err := checkLength(arg, names); err != nil {
		return nil, nil, err
	}
	if p.windows {
		if err := checkAliases(arg, names); err != nil {
			return nil, nil, err
		}
	}
	// Links in the base itself were followed when it was opened. An absolute argument is walked from the top.
	return base, names, nil
}

// open opens the location of a physical place in the innermost root that holds it.
func (v *Reach) open(arg string, physical []string, follow bool) (*Location, error) {
	root, rel, err := v.holder(physical)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, outside(arg)
	}
	top, err := root.current()
	if err != nil {
		return nil, err
	}
	defer top.Close()
	loc := &Location{Arg: arg, root: root, via: v, isDir: saysDirectory(arg)}
	if err := loc.reach(top, rel, follow); err != nil {
		return nil, err
	}
	return loc, nil
}

// holder finds the innermost root of a physical place, and the place's names below it; no root when it is outside.
func (v *Reach) holder(physical []string) (best *Root, rel []string, err error) {
	p := hostPlatform()
	for _, r := range v.roots {
		if names, ok := within(p, r.comps, physical); ok && (best == nil || len(r.comps) > len(best.comps)) {
			best, rel = r, names
		}
	}
	if best != nil || !v.all {
		return best, rel, nil
	}
	top := p.top(physical)
	v.owner.mu.Lock()
	defer v.owner.mu.Unlock()
	best, err = v.owner.root(p.join(top))
	return best, physical[len(top):], err
}

// explainChase words why a path could not be chased. Where the chase had got outside, there is the one text for that.
func (v *Reach) explainChase(arg string, err error) error {
	var stop *chaseError
	if !errors.As(err, &stop) {
		return outside(arg)
	}
	for _, r := range v.roots {
		if v.all || r.holds(stop.place) {
			return r.explainStop(arg, err)
		}
	}
	return outside(arg)
}

// explainStop says why a chase ended at a place that may be spoken of.
func (r *Root) explainStop(arg string, err error) error {
	for _, kind := range []error{ErrTooManyLinks, ErrPermission, ErrNotExist, ErrNotDirectory} {
		if errors.Is(err, kind) {
			return Explain(arg, kind)
		}
	}
	return refuse(arg, ErrBlocked, "%s cannot be resolved", Quote(arg))
}

// saysDirectory says whether the argument ends as only the name of a directory does.
func saysDirectory(arg string) bool {
	_, last := filepath.Split(filepath.FromSlash(arg))
	return last == "" || last == "." || last == ".."
}

// Root is the root that the location was found in.
func (l *Location) Root() *Root { return l.root }

// Physical is the absolute path of the location on the host, without links as far as it exists. It is for the operator
// and for comparing, never for an answer of the pack that serves one root.
func (l *Location) Physical() string { return l.root.physical(l.Rel()) }

// Physical is the absolute path of the file on the host, as [Location.Physical].
// It is empty for a file that was opened by its name in a directory.
func (f *File) Physical() string {
	if f.root == nil {
		return ""
	}
	return f.root.physical(f.rel)
}

func (r *Root) physical(rel string) string {
	if rel == "." {
		return r.path
	}
	return strings.TrimSuffix(r.path, string(filepath.Separator)) + string(filepath.Separator) + filepath.FromSlash(rel)
}

// MkdirAll makes the directories names[0], names[0]/names[1], … in d, or none of them. One that somebody else has made
// meanwhile is as good as ours. It returns end, to be called once: it takes back those that were made unless they are to
// be kept.
func (d *Dir) MkdirAll(names []string) (end func(keep bool), err error) {
	if len(names) == 0 {
		return func(bool) {}, nil
	}
	err = d.Mkdir(names[0])
	ours := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	child, err := d.OpenDir(names[0])
	var below func(keep bool)
	if err == nil {
		if below, err = child.MkdirAll(names[1:]); err != nil {
			child.Close()
		}
	}
	if err != nil {
		if ours {
			d.Remove(names[0], Directory)
		}
		return nil, err
	}
	// The directory stays open for that: by then its path could lead elsewhere.
	return func(keep bool) {
		below(keep)
		child.Close()
		if ours && !keep {
			d.Remove(names[0], Directory)
		}
	}, nil
}
