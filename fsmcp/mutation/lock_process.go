package mutation

import (
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	// idleRoots is up to how many roots an idle one keeps its descriptors: a process serves a handful, and an
	// embedding program that opens roots by the thousand must not run out.
	idleRoots = 8
	// idleClaims is how many idle claims a root keeps, two descriptors each: as many calls as run side by side.
	idleClaims = 4
	// everyone is the weight of all the readers together, and hence of a mutator.
	everyone = 1 << 30
)

// process holds the locks of this process. It is a package variable, the only one here, because packs that know
// nothing of each other may serve one root, and what they must share can hang on nothing that is theirs.
var process registry

// registry finds the lock of a root.
type registry struct {
	mu sync.Mutex // guards what follows, and left and uses of every root
	// roots has every root in use, and idle ones as long as there are no more than idleRoots in all.
	roots map[lockKey]*rootLock
	// departures counts the calls of leave, and tells which idle root was left longest ago.
	departures uint64
	// warned has the directories whose lock files were reported as unusable.
	warned map[string]bool
}

// rootLock is the part of a root's lock that is in this process.
type rootLock struct {
	key  lockKey
	left uint64 // the number of the last departure
	uses int    // holders, and those who wait or have given up a wait that is not over

	// turn is a lock for readers and mutators whose waiting a context can end: a reader weighs one, a mutator
	// everyone. It serves in the order of arrival, so that neither kind keeps the other out.
	turn *semaphore.Weighted

	mu    sync.Mutex // guards what follows
	idle  []*claim
	stray int // waits that were given up and have not come to their end
}

// enter counts the caller in, who calls leave later.
func (g *registry) enter(key lockKey) *rootLock {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.roots[key]
	if r == nil {
		if g.roots == nil {
			g.roots = map[lockKey]*rootLock{}
		}
		r = &rootLock{key: key, turn: semaphore.NewWeighted(everyone)}
		g.roots[key] = r
	}
	r.uses++
	return r
}

func (g *registry) leave(r *rootLock) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.departures++
	r.left = g.departures
	if r.uses--; r.uses == 0 && len(g.roots) > idleRoots {
		g.dropOldest()
	}
}

// dropOldest drops the root that has been idle for longest. One is idle: the caller's.
func (g *registry) dropOldest() {
	var oldest *rootLock
	for _, r := range g.roots {
		if r.uses == 0 && (oldest == nil || r.left < oldest.left) {
			oldest = r
		}
	}
	delete(g.roots, oldest.key)
	oldest.closeIdle()
}

func (g *registry) warnOnce(dir string, warn func(string), err error) {
	if warn == nil {
		return
	}
	g.mu.Lock()
	told := g.warned[dir]
	if g.warned == nil {
		g.warned = map[string]bool{}
	}
	g.warned[dir] = true
	g.mu.Unlock()
	if !told {
		warn(fmt.Sprintf("other processes on the same root are not kept out while this one reads or changes it: %v", err))
	}
}

// spare gives an idle claim, or nil when there is none.
func (r *rootLock) spare() *claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.idle) - 1
	if last < 0 {
		return nil
	}
	c := r.idle[last]
	r.idle = r.idle[:last]
	return c
}

// keep takes back a claim that holds nothing.
func (r *rootLock) keep(c *claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.idle) == idleClaims {
		c.close()
		return
	}
	r.idle = append(r.idle, c)
}

func (r *rootLock) closeIdle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.idle {
		c.close()
	}
	r.idle = nil
}
