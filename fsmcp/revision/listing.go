package revision

import (
	"sync"

	"lookfirst/fsmcp/confine"
)

// listing is a directory that has been opened to be walked, be it that its entries have been read already. Then a scout may
// be on its way in it before the walk begins.
type listing struct {
	dir   *confine.Dir
	list  []confine.Entry // what it holds, sorted by name; nil when that has not been read
	scout *scout          // nil where there is none

	out sync.WaitGroup // the scout
}

func open(loc *confine.Location) (*listing, error) {
	dir, err := loc.OpenDir()
	return &listing{dir: dir}, err
}

// sendScout starts a scout where it is worth it: the directory is large, and seems to be remembered.
func (l *listing) sendScout(m *memo) {
	if n := len(l.list); n >= scoutFrom && m.mayKnow(l.list[n-1].ID) {
		l.scout = newScout(l.dir, l.list)
		l.out.Go(l.scout.run)
	}
}

// close waits until the scout is back.
func (l *listing) close() {
	l.scout.stop()
	l.out.Wait()
	l.dir.Close()
}
