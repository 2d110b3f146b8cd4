package confine

import (
	"errors"
	"slices"
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
