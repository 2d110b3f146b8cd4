package revision

import (
	"sync/atomic"

	"lookfirst/fsmcp/confine"
)

const (
	// scoutFrom is from how many entries on a directory has a scout: of fewer, the walk is done before one is awake.
	scoutFrom = 256
	// scoutRun is how many entries a scout looks at before it hands them over.
	scoutRun = 32
)

// scout looks at the files of a listed directory before the walk gets to them, from the end, until the two meet:
//
//	entries:  walk ─► …          … ◄─ scout
//
// The walk never waits for what is not there yet, but looks itself. So a scout whose thread the system lets wait costs
// nothing. run is for one goroutine, and the rest for another one. Of a nil scout, stop and find may be called.
type scout struct {
	dir   *confine.Dir
	list  []confine.Entry // sorted by name
	infos []confine.Info  // of the entries in list; the zero value where there is none
	seen  []atomic.Bool   // whether the infos of each run are there

	next int          // the entry from which find goes on
	at   atomic.Int64 // the run that the walk is in
}

func newScout(dir *confine.Dir, list []confine.Entry) *scout {
	runs := (len(list) + scoutRun - 1) / scoutRun
	return &scout{dir: dir, list: list, infos: make([]confine.Info, len(list)), seen: make([]atomic.Bool, runs)}
}

func (s *scout) run() {
	for r := len(s.seen) - 1; r >= 0; r-- {
		for i := r * scoutRun; i < min((r+1)*scoutRun, len(s.list)); i++ {
			if s.at.Load() >= int64(r) {
				return
			}
			if s.list[i].Kind == confine.Regular {
				s.infos[i], _ = s.dir.Stat(s.list[i].Name) // The walk meets the error itself.
			}
		}
		s.seen[r].Store(true)
	}
}

// stop has run return soon.
func (s *scout) stop() {
	if s != nil {
		s.at.Store(int64(len(s.seen)))
	}
}

// find gives what is known of an entry. Those of the scout's directory are asked for in their order; others may come
// between them.
func (s *scout) find(dir *confine.Dir, name string) (info confine.Info, ok bool) {
	if s == nil || dir != s.dir {
		return info, false
	}
	for s.next < len(s.list) && s.list[s.next].Name < name {
		s.next++
	}
	if s.next == len(s.list) || s.list[s.next].Name != name {
		return info, false
	}
	r := s.next / scoutRun
	if !s.seen[r].Load() {
		s.at.Store(int64(r))
		return info, false
	}
	info = s.infos[s.next]
	return info, info != confine.Info{}
}
