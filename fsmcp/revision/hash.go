package revision

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync/atomic"
	"time"

	"lookfirst/fsmcp/confine"
)

const (
	// DefaultMemo is how many file digests are remembered when nothing else is said.
	DefaultMemo = 8192
	// DefaultBudget is how many bytes an observation reads for one token before it gives it up (D27).
	DefaultBudget = 4 << 30
)

const (
	// elsewhere stands for what a link leads to where that cannot be told: outside the root, in a circle, or through
	// what is no directory. It is one word for all, so that no token depends on what is outside.
	elsewhere Token = Scheme + ":unreachable"
	// special stands for a FIFO, a socket or a device that a link leads to, which is never opened (D12).
	special Token = Scheme + ":other"
)

// Options are the settings of a [Hasher].
type Options struct {
	Memo   int              // file digests remembered; if zero, DefaultMemo; if negative, none
	Budget int64            // bytes read for one token by Observe; if zero, DefaultBudget; if negative, no limit
	Now    func() time.Time // the clock, called under a lock; if nil, time.Now
}

// reuse says what may stand for a look at the disk. With the zero value, nothing does.
type reuse struct {
	digests bool     // remembered digests, for bytes
	bounded bool     // no more is read than the budget allows
	listing *listing // of the directory that is asked about; nil when it was not read
}

// Hasher computes revisions. It may be used from several goroutines.
type Hasher struct {
	memo   *memo
	budget int64
}

// NewHasher makes a Hasher.
func NewHasher(o Options) *Hasher {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Hasher{memo: newMemo(cmp.Or(o.Memo, DefaultMemo), o.Now), budget: cmp.Or(o.Budget, DefaultBudget)}
}

// Observe is the revision of a location for an answer; the location must just have been resolved. It may reuse digests
// of unchanged files. What cannot be computed, be it that ctx was cancelled, is [Unknown], with no token: the answer
// that it accompanies stands all the same.
func (h *Hasher) Observe(ctx context.Context, loc *confine.Location) Revision {
	return orUnknown(h.revise(ctx, loc, reuse{digests: true, bounded: true}))
}

// List is Observe for a directory whose entries the caller wants too, which are then read once. They are sorted by name, and
// must stay as they are. observe gives the revision, and must be called once unless there is an error: until then, another
// goroutine may be looking at the files, so that the caller can do something else meanwhile.
func (h *Hasher) List(ctx context.Context, loc *confine.Location) (list []confine.Entry, observe func() Revision, err error) {
	l, err := h.memo.open(loc)
	if err == nil {
		if err = l.read(); err != nil {
			l.close()
		}
	}
	if err != nil {
		return nil, nil, confine.Explain(loc.Arg, err)
	}
	return l.list, func() Revision {
		defer l.close()
		return orUnknown(h.revise(ctx, loc, reuse{digests: true, bounded: true, listing: l}))
	}, nil
}

// Named is Observe for what the location leads to, rather than for a link at the end of its path, and without a budget:
// it is for deciding about a change, which waits as long as that takes.
func (h *Hasher) Named(ctx context.Context, loc *confine.Location) Revision {
	return orUnknown(h.reviseThing(ctx, loc, reuse{digests: true}))
}

// Fresh is the revision of a location for a comparison; the location must just have been resolved. Every byte is read
// anew, whatever it costs. An error, with no revision, is ctx's or of type [*confine.Error], which names what could not
// be read.
func (h *Hasher) Fresh(ctx context.Context, loc *confine.Location) (Revision, error) {
	return h.revise(ctx, loc, reuse{})
}

// Through is the revision of a location that was reached through a link at the end of its path, when the revision of
// what the link names has been observed already: so an answer and its token are of the same bytes.
func (h *Hasher) Through(loc *confine.Location, named Revision) Revision {
	if named.Token == "" {
		return Revision{State: Unknown}
	}
	entry, err := loc.Entry()
	if err != nil {
		return Revision{State: Unknown}
	}
	defer entry.Close()
	return orUnknown(linkTo(entry, named.Token))
}

// OfContent is the revision of a file with that content.
func OfContent(content []byte) Revision { return revisionOf(File, sha256.Sum256(content)) }

// Forget drops what is remembered of a file that is about to change.
func (h *Hasher) Forget(id confine.ID) { h.memo.forget(id.Ino) }

// ForgetInode is Forget for an entry of which only the inode number is known.
func (h *Hasher) ForgetInode(ino uint64) { h.memo.forget(ino) }

func orUnknown(r Revision, err error) Revision {
	if err != nil {
		return Revision{State: Unknown}
	}
	return r
}

// revise tells a link at the end of the path from what is there. "a/" names the directory that a link a leads to, not
// the link.
func (h *Hasher) revise(ctx context.Context, loc *confine.Location, use reuse) (Revision, error) {
	switch {
	case loc.Info.Kind == confine.Link:
		target, err := loc.Target()
		if err == nil {
			defer target.Close()
		} else if !leadsNowhere(err) {
			return Revision{}, err
		}
		return h.reviseLink(ctx, loc, target, use)
	case loc.Linked && !loc.SaysDirectory():
		entry, err := loc.Entry()
		if err != nil {
			return Revision{}, err
		}
		defer entry.Close()
		return h.reviseLink(ctx, entry, loc, use)
	}
	return h.reviseThing(ctx, loc, use)
}

// leadsNowhere says whether a link cannot be followed because of where it leads. Any other error, such as a permission
// that is wanting, may hide something that changes, and is no state of the link.
func leadsNowhere(err error) bool {
	return errors.Is(err, confine.ErrOutside) || errors.Is(err, confine.ErrTooManyLinks) ||
		errors.Is(err, confine.ErrNotExist) || errors.Is(err, confine.ErrNotDirectory)
}

// reviseLink combines a link's text with the token of what it finally names. target is nil when that cannot be
// reached.
func (h *Hasher) reviseLink(ctx context.Context, entry, target *confine.Location, use reuse) (Revision, error) {
	if target == nil {
		return linkTo(entry, elsewhere)
	}
	switch target.Info.Kind {
	case confine.Absent, confine.Regular, confine.Directory:
		named, err := h.reviseThing(ctx, target, use)
		if err != nil {
			return Revision{}, err
		}
		return linkTo(entry, named.Token)
	}
	return linkTo(entry, special)
}

// linkTo is the revision of a link whose end has the token named. A link's text cannot hold the NUL between the two.
func linkTo(entry *confine.Location, named Token) (Revision, error) {
	text, err := entry.ReadLink()
	if err != nil {
		return Revision{}, err
	}
	return revisionOf(Symlink, sha256.Sum256([]byte(text+"\x00"+string(named)))), nil
}

// reviseThing is the revision of what stands at a location, which is no link.
func (h *Hasher) reviseThing(ctx context.Context, loc *confine.Location, use reuse) (Revision, error) {
	var state State
	var d digest
	var err error
	switch loc.Info.Kind {
	case confine.Absent:
		return Revision{State: Absent, Token: AbsentToken}, nil
	case confine.Regular:
		state = File
		d, err = h.fileAt(ctx, loc, use)
	case confine.Directory:
		state = Directory
		d, err = h.tree(ctx, loc, use)
	default:
		err = confine.NotRegular(loc.Arg, loc.Info.Kind)
	}
	if err != nil {
		return Revision{}, explain(loc.Arg, err)
	}
	return revisionOf(state, d), nil
}

// explain makes a sentence about arg of an error, unless it is a context's or the budget's.
func explain(arg string, err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errBudget):
		return err
	}
	return confine.Explain(arg, err)
}

func revisionOf(s State, d digest) Revision {
	return Revision{State: s, Token: Token(Scheme + ":" + string(s) + ":" + hex.EncodeToString(d[:]))}
}

func (h *Hasher) fileAt(ctx context.Context, loc *confine.Location, use reuse) (digest, error) {
	when := h.memo.clock()
	if use.digests {
		if d, place := h.memo.get(loc.Info, when, none); place != none {
			return d, nil
		}
	}
	f, err := loc.Open()
	if err != nil {
		return digest{}, err
	}
	defer f.Close()
	p := pass{ctx: ctx, memo: h.memo, why: alone, when: when, left: h.allowance(use), buf: make([]byte, bufferFor(f.Info().Size))}
	return p.file(f)
}

// allowance is what may be read, in bytes; nil when there is no limit. A file counts like a directory: one that claims
// a petabyte would otherwise keep every writer out for as long as it is looked at.
func (h *Hasher) allowance(use reuse) *atomic.Int64 {
	if !use.bounded || h.budget < 0 {
		return nil
	}
	left := new(atomic.Int64)
	left.Store(h.budget)
	return left
}

// errBudget ends an observation that would have to read more than the revision budget.
var errBudget = errors.New("more to read than the revision budget allows")
