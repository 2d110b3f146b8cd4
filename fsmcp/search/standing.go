package search

import (
	"context"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// What is known of the searchers holds for the process, whichever packs it serves: the programs of a host are one, and
// a probe costs the start of a process. A binary is probed once. "No" is kept as firmly as "yes": it means that there is
// no such binary, or that it ran and gave no version. A probe that got no answer (the binary could not be started, or was
// killed) is no verdict, and is made again at the next search.

// mostMisses is how many answers in a row may be not believed before a searcher is dropped. One may be the moment's
// fault; so many are the tool's.
const mostMisses = 5

// verdict is what one run of a searcher says about it.
type verdict int

const (
	noVerdict   verdict = iota // nothing: the search was cancelled, or the list is too long to be of use
	believed                   // it gave an answer
	disbelieved                // it gave none that can be believed
	notStarted                 // it could not be started
)

// standings are what the process knows, by the name of a binary. A package variable, because that is what it is: one for
// the process, and reset for all of it at once.
var standings struct {
	mu     sync.Mutex // guards byName
	byName map[string]*standing
}

// ResetSearchers forgets all that the process knows of search programs, so that the next search looks for them anew: one
// installed since is found, and one dropped in error gets its chance back. It may be called at any time; a search under
// way goes on with what it had.
func ResetSearchers() {
	standings.mu.Lock()
	defer standings.mu.Unlock()
	standings.byName = nil
}

func standingOf(name string) *standing {
	standings.mu.Lock()
	defer standings.mu.Unlock()
	if standings.byName == nil {
		standings.byName = map[string]*standing{}
	}
	s := standings.byName[name]
	if s == nil {
		s = &standing{name: name, turn: make(chan struct{}, 1)}
		standings.byName[name] = s
	}
	return s
}

// standing is what is known of one binary.
type standing struct {
	name string
	turn chan struct{} // holds a token while somebody probes: the others wait for him, not for as long as they cannot be cancelled

	mu      sync.Mutex // guards what follows
	decided bool
	binary  string // its absolute path; empty if it cannot be used
	misses  int    // answers in a row that were not believed
}

// usable returns the path of the binary, or nothing. The first to ask probes it.
func (s *standing) usable(ctx context.Context, wait time.Duration) string {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ""
	}
	defer func() { <-s.turn }()
	if binary, decided := s.verdict(); decided {
		return binary
	}
	binary := lookUp(s.name)
	if binary == "" {
		s.decide("")
		return ""
	}
	return s.probe(ctx, wait, binary)
}

func (s *standing) verdict() (binary string, decided bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.binary, s.decided
}

func (s *standing) decide(binary string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.binary, s.decided = binary, true
}

// probe asks a binary for its version.
func (s *standing) probe(ctx context.Context, wait time.Duration, binary string) string {
	r := run(ctx, wait, binary, "--version")
	switch {
	case r.started && r.exited && r.status == 0 && r.output != "":
		s.decide(binary)
		return binary
	case r.started && r.exited && !r.overflowed:
		s.decide("")
	case !r.started:
		s.note(notStarted, binary)
	case r.timedOut:
		// Without this, one that always hangs would cost every search the wait.
		s.note(disbelieved, binary)
	}
	return ""
}

// note takes in what a run says.
func (s *standing) note(v verdict, binary string) {
	gone := v == notStarted && lookUp(binary) == ""
	s.mu.Lock()
	defer s.mu.Unlock()
	switch v {
	case believed:
		s.misses = 0
	case disbelieved:
		s.misses++
	}
	if gone || s.misses >= mostMisses {
		s.binary, s.decided = "", true
	}
}

// lookUp returns the absolute path of a binary, or nothing. One that the PATH finds in the working directory is not taken:
// that may be the directory which is searched.
func lookUp(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return ""
	}
	return path
}
