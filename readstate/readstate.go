// Package readstate remembers what a session has seen: a file that it has not seen in its present form, it cannot
// overwrite.
//
// A [Tracker] keeps the token of every file whose content a session was shown, or that it wrote itself, under the file's
// physical path: so a file read by one pack of tools, or through a link, is read for every other. Whoever serves a session
// puts its Tracker into the context of the calls ([With]); whoever changes a file asks it ([Tracker.Check]) under the
// mutation lock, unless the call brought tokens of its own (D7).
//
// Invariant: a Tracker learns only from content that was shown and from changes that were made. A refusal leaves it as it
// is: a file that has changed stays changed until it is read again, or its old bytes are back.
//
// Not promised: that a file is the same when the write lands. That is for the lock and for the store to see to. A path
// that the disk takes for the same in another spelling (other case, other normal form) is another path here, which can
// only refuse too much.
//
// A Tracker may be used from several goroutines. A nil *Tracker, as that of a call of no session, has seen nothing and
// learns nothing.
package readstate

import (
	"os"
	"strings"
	"sync"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/revision"
)

// Tracker is what one session has seen. The zero value has seen nothing and is ready for use; it must not be copied. An
// entry takes the length of its path and some 250 bytes more, and there are no more of them than files were shown.
type Tracker struct {
	mu   sync.Mutex       // guards seen
	seen map[string]sight // of whole files, by physical path
}

// sight is a file as the session has seen it.
type sight struct {
	token revision.Token
	left  *confine.Info // what the system told of it when the session had written it; nil for one that was read
}

// New makes a Tracker that has seen nothing.
func New() *Tracker { return &Tracker{} }

// Saw remembers that the content of the file at the physical path was shown, be it a part of it; the token is the whole
// file's. Without a token nothing is remembered, and what was remembered stays.
func (t *Tracker) Saw(path string, token revision.Token) { t.remember(path, sight{token: token}) }

// Wrote remembers the file that the session has made of the one at the path, and what the system told of it then.
// Without a token, when nobody can tell what is there now, what was there before is forgotten.
func (t *Tracker) Wrote(path string, token revision.Token, left confine.Info) {
	if token == "" {
		t.Forget(path)
		return
	}
	t.remember(path, sight{token, &left})
}

func (t *Tracker) remember(path string, s sight) {
	if t == nil || s.token == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil {
		t.seen = map[string]sight{}
	}
	t.seen[path] = s
}

// Moved carries what is remembered of a file, or of everything below a directory, from one physical path to another.
// What was remembered there goes: nothing was there when something could be moved to it.
func (t *Tracker) Moved(from, to string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	moving := t.take(from)
	t.take(to)
	for rest, s := range moving {
		t.seen[to+rest] = s
	}
}

// Forget drops what is remembered of a file, or of everything below a directory.
func (t *Tracker) Forget(path string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.take(path)
}

// take removes the entries at and below a path, and returns them by what follows it in theirs.
func (t *Tracker) take(path string) map[string]sight {
	taken := map[string]sight{}
	for at, s := range t.seen {
		rest, ok := strings.CutPrefix(at, path)
		if ok && (rest == "" || os.IsPathSeparator(rest[0])) {
			taken[rest] = s
			delete(t.seen, at)
		}
	}
	return taken
}

// Check says whether the session may overwrite the file at the path, whose token is now, without having named a token
// itself. The error is [ErrUnread], [ErrChanged], or, of a nil Tracker, [ErrNoSession] (D8).
func (t *Tracker) Check(path string, now revision.Token) error {
	if t == nil {
		return ErrNoSession
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch seen, ok := t.seen[path]; {
	case !ok:
		return ErrUnread
	case seen.token != now:
		return ErrChanged
	}
	return nil
}

// Left says whether the file at the path is, by all that the system tells of it now, the very one that the session wrote
// there. It is for a file that may be written and not read, of which there is no token to compare.
func (t *Tracker) Left(path string, now confine.Info) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	left := t.seen[path].left
	return left != nil && left.Same(now)
}

// Has reports whether the session has seen the file at the path in any form, which saves computing a token for a
// [Tracker.Check] that can only fail.
func (t *Tracker) Has(path string) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.seen[path]
	return ok
}

// Seen lists the paths that are remembered, in no order.
func (t *Tracker) Seen() []string {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	paths := make([]string, 0, len(t.seen))
	for path := range t.seen {
		paths = append(paths, path)
	}
	return paths
}
