package confine

import (
	"errors"
	"path/filepath"
	"strings"
)

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
