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
	dir  *confine.Dir
	list []confine.Entry                          // sorted by name
	seen []atomic.Pointer[[scoutRun]confine.Info] // of the entries in each run; the zero value for one that is no file, or gone

	next int          // the entry from which find goes on
	at   atomic.Int64 // the run that the walk is in
}

func newScout(dir *confine.Dir, list []confine.Entry) *scout {
	s := &scout{dir: dir, list: list, seen: make([]atomic.Pointer[[scoutRun]confine.Info], (len(list)+scoutRun-1)/scoutRun)}
	s.at.Store(-1) // The walk is not there yet.
	return s
}

func (s *scout) run() {
	for r := len(s.seen) - 1; r >= 0; r-- {
		infos := new([scoutRun]confine.Info)
		from := r * scoutRun
		for i, e := range s.list[from:min(from+scoutRun, len(s.list))] {
			if s.at.Load() >= int64(r) {
				return
			}
			if e.Kind == confine.Regular {
				infos[i], _ = s.dir.Stat(e.Name) // The walk meets the error itself.
			}
		}
		s.seen[r].Store(infos)
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
	infos := s.seen[r].Load()
	if infos == nil {
		s.at.Store(int64(r))
		return info, false
	}
	info = infos[s.next%scoutRun]
	return info, info != confine.Info{}
}
