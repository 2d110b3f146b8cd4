package repomap

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"lookfirst/fsmcp/confine"
)

const (
	// maxFiles is how many files one map takes in.
	maxFiles = 5000
	// maxEntries is how many names a survey looks at: pictures do not count as files, and yet take time.
	maxEntries = 200_000
)

// source is a file to be read.
type source struct {
	path     string // relative to the root
	language Language
	info     confine.Info
}

// survey is what has been found.
type survey struct {
	sources []source // in byte order of their paths
	skipped int      // files that are not to be read
	stopped string   // after what the search ended before everything was seen; empty otherwise
	within  string   // the mapped directory with a slash, the mapped file, or empty for everything
}

// surveyor looks for files, level by level, so that of a tree with too many the ones nearest the top are mapped and not
// those that come first in the alphabet. Within a directory names come in byte order.
type surveyor struct {
	m       *Mapper
	found   survey
	queue   []string // directories still to be read
	links   []string // links that are called like sources
	entries int
}

func (m *Mapper) survey(ctx context.Context, arg string) (survey, error) {
	s := surveyor{m: m}
	loc, err := m.root.Resolve("path", arg)
	if err != nil {
		return survey{}, err
	}
	defer loc.Close()
	rel := loc.Rel()
	switch {
	case loc.Missing() > 0:
		return survey{}, confine.Explain(arg, confine.ErrNotExist)
	case loc.Info.Kind == confine.Regular:
		s.found.within = rel
		s.add(rel, loc.Info)
		return s.found, nil
	case loc.Info.Kind != confine.Directory:
		return survey{}, confine.NotRegular(arg, loc.Info.Kind)
	case loc.IsRoot():
		rel = ""
	default:
		rel += "/"
	}
	s.found.within = rel
	dir, err := loc.OpenDir()
	if err != nil {
		return survey{}, err
	}
	err = s.directory(dir, rel)
	dir.Close()
	if err != nil {
		return survey{}, confine.Explain(arg, err)
	}
	if err := s.below(ctx); err != nil {
		return survey{}, err
	}
	slices.SortFunc(s.found.sources, func(a, b source) int { return strings.Compare(a.path, b.path) })
	return s.found, nil
}

// below surveys what is queued. A directory that cannot be read is as one that is not there: how many files it has is
// not known.
func (s *surveyor) below(ctx context.Context) error {
	for len(s.queue) > 0 && s.found.stopped == "" {
		if err := ctx.Err(); err != nil {
			return err
		}
		prefix := s.queue[0]
		s.queue = s.queue[1:]
		dir, err := s.open(prefix)
		if err != nil {
			continue
		}
		_ = s.directory(dir, prefix)
		dir.Close()
	}
	s.follow()
	return ctx.Err()
}

// open opens a directory by its path: holding those of a whole level open would take any number of descriptors.
func (s *surveyor) open(prefix string) (*confine.Dir, error) {
	loc, err := s.m.root.ResolveEntry("path", strings.TrimSuffix(prefix, "/"))
	if err != nil {
		return nil, err
	}
	defer loc.Close()
	return loc.OpenDir()
}

// directory surveys what is in a directory, and queues what is below.
func (s *surveyor) directory(dir *confine.Dir, prefix string) error {
	entries, err := dir.Entries()
	if err != nil {
		return err
	}
	if prefix != s.found.within && isVirtualenv(entries) {
		return nil
	}
	slices.SortFunc(entries, func(a, b confine.Entry) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range entries {
		if s.stop() {
			return nil
		}
		s.entries++
		switch e.Kind {
		case confine.Directory:
			if !isPruned(e.Name) {
				s.queue = append(s.queue, prefix+e.Name+"/")
			}
		case confine.Link:
			if languageOf(e.Name) != None {
				s.links = append(s.links, prefix+e.Name)
			}
		case confine.Regular:
			s.file(dir, prefix, e.Name)
		default:
			s.found.skipped++ // opening one could wait for ever (D12)
		}
	}
	return nil
}

// stop says, before another entry is taken in, whether a bound has been reached.
func (s *surveyor) stop() bool {
	switch {
	case len(s.found.sources) >= maxFiles:
		s.found.stopped = "5000 files"
	case s.entries >= maxEntries:
		s.found.stopped = "200000 directory entries"
	default:
		return false
	}
	return true
}

func (s *surveyor) file(dir *confine.Dir, prefix, name string) {
	if languageOf(name) == None {
		s.found.skipped++
		return
	}
	info, err := dir.Stat(name)
	if errors.Is(err, confine.ErrNotExist) {
		return
	}
	if err != nil {
		s.found.skipped++
		return
	}
	s.add(prefix+name, info)
}

// add takes a file in that is to be read, or counts it.
func (s *surveyor) add(rel string, info confine.Info) {
	l := languageOf(path.Base(rel))
	if l == None || info.Kind != confine.Regular || info.Size > maxFile || !canRead(l) {
		s.found.skipped++
		return
	}
	s.found.sources = append(s.found.sources, source{path: rel, language: l, info: info})
}

// follow takes in what links lead to, where that is a file inside the root that is not mapped under its own name. Links
// to directories are not followed.
func (s *surveyor) follow() {
	if len(s.links) == 0 {
		return
	}
	known := map[confine.ID]bool{}
	for _, f := range s.found.sources {
		known[f.info.ID] = true
	}
	for _, link := range s.links {
		loc, err := s.m.root.Resolve("path", link)
		if err != nil {
			continue
		}
		info := loc.Info
		loc.Close()
		if info.Kind != confine.Regular || info.ID != (confine.ID{}) && known[info.ID] || s.stop() {
			continue
		}
		known[info.ID] = true
		s.add(link, info)
	}
}

// isPruned says whether a directory's content is kept off the map: what is vendored or generated outranks the code that
// uses it.
func isPruned(name string) bool {
	switch name {
	case "node_modules", "target", "build", "dist", "vendor", "__pycache__", "venv", "env", "virtualenv":
		return true
	}
	return strings.HasPrefix(name, ".")
}

// isVirtualenv says whether a directory is a Python environment, whatever it is called.
func isVirtualenv(entries []confine.Entry) bool {
	return slices.ContainsFunc(entries, func(e confine.Entry) bool { return e.Name == "pyvenv.cfg" && e.Kind == confine.Regular })
}
