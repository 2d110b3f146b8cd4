package revision

import (
	"sync"
	"sync/atomic"

	"lookfirst/fsmcp/confine"
)

const (
	// scoutFrom is from how many entries on a directory has a scout: of fewer, the walk is done before one is awake.
	scoutFrom = 128
	// scoutRun is how many entries a scout is told of at once.
	scoutRun = 64
	// scoutRuns bounds how many runs of a directory a scout looks at. The rest is beyond what the walk does alone.
	scoutRuns = aloneBatches
)

// scout looks at the files of a directory before the walk gets to them. It sets out while the names are still being read, and
// goes in the order in which the directory tells them; the walk comes later, in the order of the names:
//
//	read ──run──► scout ──infos──► walk
//
// Who comes first takes a file. The walk never waits for one that the scout has taken and not seen yet, but looks itself: so
// a scout whose thread the system lets wait costs nothing. tell and allTold are for one goroutine, run for another; find is for any
// number, once all is told. Of a nil scout, stop and find may be called.
type scout struct {
	dir   *confine.Dir
	runs  []*scouted   // by the place at which the directory tells of an entry
	count int          // how many entries are in them
	told  chan []sight // the runs that are full, and then the rest; it has room for all

	stopped atomic.Bool
}

type scouted [scoutRun]sight

// sight is what a scout has seen of an entry.
type sight struct {
	name  string // of a file; else empty
	state atomic.Uint32
	info  confine.Info
}

// The states of a sight. Whoever makes it taken is the one who looks.
const (
	free uint32 = iota
	taken
	seen
)

// scoutedRuns holds runs to be filled again: a thousand files take a hundred kilobytes.
var scoutedRuns = sync.Pool{New: func() any { return new(scouted) }}

func newScout(dir *confine.Dir) *scout {
	return &scout{dir: dir, told: make(chan []sight, scoutRuns)}
}

// tell takes the next entries that the directory tells.
func (s *scout) tell(entries []confine.Entry) {
	for i := range entries {
		at := s.count % scoutRun
		if at == 0 {
			if len(s.runs) == scoutRuns {
				return
			}
			s.runs = append(s.runs, scoutedRuns.Get().(*scouted))
		}
		run := s.runs[len(s.runs)-1]
		run[at].set(&entries[i])
		if s.count++; at == scoutRun-1 {
			s.told <- run[:]
		}
	}
}

// set makes it one of which nothing has been seen, whatever was there before.
func (g *sight) set(e *confine.Entry) {
	g.name = ""
	if e.Kind == confine.Regular {
		g.name = e.Name
	}
	g.state.Store(free)
}

// allTold says that there are no more.
func (s *scout) allTold() {
	if rest := s.count % scoutRun; rest > 0 {
		s.told <- s.runs[len(s.runs)-1][:rest]
	}
	close(s.told)
}

func (s *scout) run() {
	for sights := range s.told {
		for i := range sights {
			if s.stopped.Load() {
				return
			}
			g := &sights[i]
			if g.name == "" || !g.state.CompareAndSwap(free, taken) {
				continue
			}
			var err error
			if g.info, err = s.dir.Stat(g.name); err == nil { // Else the walk meets the error itself.
				g.state.Store(seen)
			}
		}
	}
}

// stop has run return soon.
func (s *scout) stop() {
	if s != nil {
		s.stopped.Store(true)
	}
}

// find gives what is known of the nth entry that a directory has told of. If nothing is, it is the caller's to look at.
func (s *scout) find(dir *confine.Dir, nth uint32) (info confine.Info, ok bool) {
	if s == nil || dir != s.dir || int(nth) >= s.count {
		return info, false
	}
	g := &s.runs[nth/scoutRun][nth%scoutRun]
	if g.state.Load() != seen && (g.state.CompareAndSwap(free, taken) || g.state.Load() != seen) {
		return info, false
	}
	return g.info, true
}

// release gives back the runs, when run has returned and nobody finds any more.
func (s *scout) release() {
	for _, r := range s.runs {
		scoutedRuns.Put(r)
	}
}
