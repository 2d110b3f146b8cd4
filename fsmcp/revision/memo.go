package revision

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	"lookfirst/fsmcp/confine"
)

const (
	// settled is how long both times of a file must have stood when its bytes are read, for the digest to be remembered:
	// a write within the resolution of the times would leave them as they are. Two seconds is the coarsest resolution of
	// a file system in use (FAT).
	settled = 2 * time.Second
	// rounding is added to it, since a file system may round a time up.
	rounding = 100 * time.Millisecond
	// sampled is how many entries are looked at to find one to give up.
	sampled = 16
	// ahead is how many places after the last digest found are looked at before the map.
	ahead = 3
	// none is the place of what is not there.
	none = -1
)

type digest [sha256.Size]byte

// memo remembers digests of files that have not changed. An entry holds for a file of the same identity, size,
// modification time and change time. A clock that goes backwards empties it, since times then prove nothing.
//
// It is bounded, and a scan that is larger than the bound must not empty it: the scan would always meet the entries
// that its own later files have pushed out. So a scan gives up only entries that neither it nor the scan before has
// met, and leaves the rest of its files unremembered.
type memo struct {
	limit int
	now   func() time.Time
	// foreign is set once a directory has told another inode number for a file than the file itself, as FUSE and some
	// overlays do. From then on the numbers in directories rule nothing out.
	foreign atomic.Bool

	mu      sync.Mutex     // guards what follows
	at      map[uint64]int // place in entries by inode number, so that equal numbers of two devices share a place
	entries []memoEntry
	hand    int       // where the next entry to give up is looked for
	scan    int       // number of the latest scan
	latest  time.Time // the latest reading of the clock
	epoch   int       // how often the clock went backwards
}

type memoEntry struct {
	id           confine.ID
	size         int64
	mtime, ctime int64
	met          int // the latest scan that asked for it
	digest       digest
}

// moment is a reading of the clock, made before a file is looked at: what is written after the look then differs from
// it in its times. A reading made after the bytes were read would call times settled that had not been when it began.
type moment struct {
	settled int64 // times before it have settled; nanoseconds since 1970
	epoch   int
}

// covers says whether both times of a file had settled.
func (t moment) covers(info confine.Info) bool {
	return info.ModTime < t.settled && info.ChangeTime < t.settled
}

// occasion is what a digest was computed for.
type occasion bool

const (
	alone  occasion = false
	inScan occasion = true
)

func newMemo(limit int, now func() time.Time) *memo {
	return &memo{limit: limit, now: now}
}

// beginScan starts a pass over a tree.
func (m *memo) beginScan() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scan++
}

// clock reads the clock, and empties the memo when it has gone backwards.
func (m *memo) clock() moment {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now().Round(0) // without the monotonic reading, which never goes backwards
	if now.Before(m.latest) {
		clear(m.at)
		m.entries = m.entries[:0]
		m.epoch++
	}
	m.latest = now
	return moment{settled: now.Add(-settled - rounding).UnixNano(), epoch: m.epoch}
}

// mayKnow says without asking the file about itself whether a digest could be found. ino is what its directory told of
// it, or 0 where directories tell nothing.
func (m *memo) mayKnow(ino uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.at[ino]; ok {
		return true
	}
	return len(m.entries) > 0 && (ino == 0 || m.foreign.Load())
}

// learn compares what a directory told of a file with what the file is.
func (m *memo) learn(ino uint64, is confine.ID) {
	if ino != 0 && ino != is.Ino && !m.foreign.Load() {
		m.foreign.Store(true)
	}
}

// get finds the digest of a file as info describes it, and its place, which is none if nothing is remembered. near is
// the place of the last one that the same scan has found, or none.
func (m *memo) get(info confine.Info, when moment, near int) (d digest, place int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.find(info.ID.Ino, near)
	if i == none || when.epoch != m.epoch {
		return d, none
	}
	e := &m.entries[i]
	if e.id != info.ID || e.size != info.Size || e.mtime != info.ModTime || e.ctime != info.ChangeTime {
		return d, none
	}
	e.met = m.scan
	return e.digest, i
}

// find gives the place of an inode's entry. Files are met in about the order in which an earlier scan has put them here,
// two batches at a time: looking a few places ahead before asking the map saves a tenth of a second scan's work.
func (m *memo) find(ino uint64, near int) int {
	for i := near + 1; i < min(near+1+ahead, len(m.entries)); i++ {
		if m.entries[i].id.Ino == ino {
			return i
		}
	}
	if i, ok := m.at[ino]; ok {
		return i
	}
	return none
}

// put remembers the digest of a file whose info was the same before and after its bytes were read, if its times had
// settled by then. Within a scan it gives up only what two scans have passed over.
func (m *memo) put(info confine.Info, d digest, when moment, why occasion) {
	if info.ID == (confine.ID{}) || m.limit <= 0 || !when.covers(info) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if when.epoch != m.epoch {
		return
	}
	i, ok := m.at[info.ID.Ino]
	if !ok {
		if i = m.place(why); i == none {
			return
		}
		m.at[info.ID.Ino] = i
	}
	m.entries[i] = memoEntry{
		id: info.ID, size: info.Size, mtime: info.ModTime, ctime: info.ChangeTime, met: m.scan, digest: d,
	}
}

// place finds room for one more entry, or none. Of a few entries it gives up the one that was longest not met.
func (m *memo) place(why occasion) int {
	if m.at == nil {
		// All the room that is usual, once: growing step by step is a twentieth of a first scan's time.
		room := min(m.limit, DefaultMemo)
		m.at, m.entries = make(map[uint64]int, room), make([]memoEntry, 0, room)
	}
	if len(m.entries) < m.limit {
		m.entries = append(m.entries, memoEntry{})
		return len(m.entries) - 1
	}
	victim := none
	for range min(sampled, len(m.entries)) {
		m.hand = (m.hand + 1) % len(m.entries)
		if victim == none || m.entries[m.hand].met < m.entries[victim].met {
			victim = m.hand
		}
	}
	if why == inScan && m.entries[victim].met > m.scan-2 {
		return none
	}
	delete(m.at, m.entries[victim].id.Ino)
	return victim
}

// forget drops what is known of a file that is about to change. The last entry takes its place.
func (m *memo) forget(ino uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, ok := m.at[ino]
	if !ok {
		return
	}
	last := len(m.entries) - 1
	m.entries[i] = m.entries[last]
	m.at[m.entries[i].id.Ino] = i
	m.entries = m.entries[:last]
	delete(m.at, ino)
}
