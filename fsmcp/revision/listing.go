package revision

import (
	"sync"

	"lookfirst/fsmcp/confine"
)

// listing is a directory that has been opened to be walked, be it that its entries have been read already. Then a scout may
// be on its way in it before the walk begins.
type listing struct {
	dir   *confine.Dir
	memo  *memo
	list  []confine.Entry // what it holds, sorted by name; nil when that has not been read
	scout *scout          // nil as long as the entries have not been read

	out sync.WaitGroup // the scout, if it was worth it to send one
}

// open begins a scan.
func (m *memo) open(loc *confine.Location) (*listing, error) {
	dir, err := loc.OpenDir()
	if err != nil {
		return nil, err
	}
	m.beginScan()
	return &listing{dir: dir, memo: m}, nil
}

// read reads what the directory holds. A scout sets out before the last name is read where it is worth it: the directory is
// large, and seems to be remembered.
func (l *listing) read() (err error) {
	l.scout = newScout(l.dir)
	defer l.scout.allTold()
	sent := false
	l.list, err = l.dir.EntriesInPieces(func(piece []confine.Entry) {
		l.scout.tell(piece)
		if last := piece[len(piece)-1]; !sent && last.Nth+1 >= scoutFrom && l.memo.mayKnow(last.ID) {
			sent = true
			l.out.Go(l.scout.run)
		}
	})
	if err == nil {
		confine.SortByName(l.list)
	}
	return err
}

// close waits until the scout is back.
func (l *listing) close() {
	if l.scout != nil {
		l.scout.stop()
		l.out.Wait()
		l.scout.release()
	}
	l.dir.Close()
}
