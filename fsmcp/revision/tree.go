package revision

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"lookfirst/fsmcp/confine"
)

// The token of a directory is the SHA-256 over one record for every descendant, in byte order of the slash-separated
// paths relative to the directory (D5):
//
//	kind NUL path NUL payload NUL
//
// kind is d, f, l or o (directory, file, link, other); payload is a file's 32-byte SHA-256 or a link's target bytes,
// and nothing for d and o. Links are not followed, and others are never opened.
//
// The walk, which fixes the order, cuts the entries into batches. As long as digests are remembered and the tree is small,
// its goroutine does all (alone.go), at most with a scout to help it (scout.go). From then on it hands the batches to the
// workers, which look, read and hash; one more takes the batches back in the order of the walk:
//
//	walk ──batch──► workers (tree waits for them)
//	   └───batch, in order──► collect, which waits for each to be done, and gives it back to the walk to be filled again
const (
	// batchEntries is how many entries make a batch: enough to spread the cost of handing it over.
	batchEntries = 64
	// batchDirs bounds how many directories a batch holds open.
	batchDirs = 4
	// batchesAhead bounds how far the walk runs ahead of the hashing, and with batchDirs the descriptors: the walk's
	// own, two files, and four directories in each of at most 2 + batchesAhead batches.
	batchesAhead = 16
	// hashers is how many goroutines read and hash; the walk is light beside them.
	hashers = 2
)

// traversal is one computation of a directory's token.
type traversal struct {
	ctx  context.Context
	stop func() // ends ctx
	arg  string // of the directory, for errors
	memo *memo
	use  reuse
	left *atomic.Int64 // bytes that may still be read; nil without a limit
	cur  *batch
	sum  hash.Hash // of the records so far; that of collect once there is one

	alone int    // batches that the walk has done itself
	pass  *pass  // for them; nil before the first
	scout *scout // helps with them; nil when there is none

	running sync.WaitGroup // workers and collect
	err     error          // the first of collect; to be read after running
	// ordered and work carry the same batches, to collect and to the workers; free brings them back. They are nil as long
	// as the walk is alone.
	ordered, work, free chan *batch
}

func (h *Hasher) traversal(ctx context.Context, arg string, use reuse) *traversal {
	t := &traversal{arg: arg, memo: h.memo, use: use, left: h.allowance(use), sum: sha256.New()}
	t.ctx, t.stop = context.WithCancel(ctx)
	return t
}

func (h *Hasher) tree(ctx context.Context, loc *confine.Location, use reuse) (d digest, err error) {
	l := use.listing
	if l == nil {
		if l, err = h.memo.open(loc); err != nil {
			return d, err
		}
		defer l.close()
	}
	t := h.traversal(ctx, loc.Arg, use)
	defer t.stop()
	t.scout = l.scout
	if err := t.end(t.walk(l)); err != nil {
		return d, err
	}
	t.sum.Sum(d[:0])
	return d, nil
}

// spread starts the goroutines that help.
func (t *traversal) spread() {
	t.scout.stop() // What it has found is for the workers.
	t.ordered, t.work, t.free = make(chan *batch, batchesAhead), make(chan *batch, batchesAhead), make(chan *batch, batchesAhead)
	for range hashers {
		t.running.Go(t.hashBatches)
	}
	t.running.Go(t.collect)
}

// end waits for what is under way, after the walk has ended with that error.
func (t *traversal) end(walkErr error) error {
	t.scout.stop()
	if t.ordered != nil {
		close(t.ordered)
		close(t.work)
	}
	t.running.Wait()
	if t.err != nil {
		return t.err
	}
	return walkErr
}

// collect hashes the records in order. After the first error it stops the rest, and waits for what is under way.
func (t *traversal) collect() {
	for b := range t.ordered {
		<-b.done
		if t.err == nil && b.err != nil {
			t.err = b.err
			t.stop()
		}
		t.sum.Write(b.records)
		select {
		case t.free <- b:
		default:
		}
	}
}

// walk cuts the walk into batches. It is the only sender on the channels.
func (t *traversal) walk(l *listing) (err error) {
	if l.list != nil {
		err = l.dir.WalkListed(t.ctx, confine.ByPath, l.list, t.visit)
	} else {
		err = l.dir.Walk(t.ctx, confine.ByPath, t.visit)
	}
	if rest := t.flush(); err == nil {
		err = rest
	}
	var at *fs.PathError
	if errors.As(err, &at) && !errors.Is(err, confine.ErrTooDeep) { // whose path would be longer than any sentence
		return explain(t.below(at.Path), at.Err)
	}
	return err
}

// below is how the caller would write the path of something in the directory.
func (t *traversal) below(path string) string {
	switch {
	case t.arg == ".":
		return path
	case path == "":
		return t.arg
	}
	return strings.TrimSuffix(t.arg, "/") + "/" + path
}

func (t *traversal) visit(s *confine.Step) error {
	if s.Err != nil {
		return explain(t.below(s.Path()), s.Err)
	}
	if s.Kind == confine.Absent {
		return nil // It went between its name being read and its kind being asked for.
	}
	opens := s.Kind == confine.Regular || s.Kind == confine.Link
	if b := t.cur; b != nil && (len(b.entries) == batchEntries || opens && len(b.dirs) == batchDirs && !b.holds(s.Dir)) {
		if err := t.flush(); err != nil {
			return err
		}
	}
	if t.cur == nil {
		t.cur = t.blank()
	}
	b := t.cur
	b.paths = append(append(b.paths, s.Prefix...), s.Name...)
	e := batchEntry{kind: s.Kind, name: s.Name, nth: s.Nth, ino: s.ID, path: len(b.paths)}
	if opens {
		e.dir = s.Dir
		if !b.holds(s.Dir) {
			b.dirs = append(b.dirs, s.Dir.Retain())
		}
	}
	b.entries = append(b.entries, e)
	return nil
}

func (t *traversal) blank() *batch {
	select {
	case b := <-t.free:
		b.records = b.records[:0]
		return b
	default:
		return newBatch()
	}
}

// flush has the batch done. Both channels have room or a receiver that takes until they are closed.
func (t *traversal) flush() error {
	b := t.cur
	if b == nil || len(b.entries) == 0 {
		return nil
	}
	if t.ordered == nil && t.mayStayAlone(b) {
		return t.doAlone(b)
	}
	if t.ordered == nil {
		t.spread()
	}
	t.ordered <- b
	t.work <- b
	t.cur = nil
	return nil
}

func (t *traversal) newPass() *pass {
	return &pass{ctx: t.ctx, memo: t.memo, why: inScan, left: t.left, found: none}
}

func (t *traversal) hashBatches() {
	p := t.newPass()
	for b := range t.work {
		p.when = t.memo.clock()
		b.err = t.hashBatch(b, p)
		b.release()
		b.done <- struct{}{}
	}
}

func (t *traversal) hashBatch(b *batch, p *pass) error {
	from := 0
	for i := range b.entries {
		e := &b.entries[i]
		path := b.paths[from:e.path]
		from = e.path
		if err := t.ctx.Err(); err != nil {
			return err
		}
		switch err := t.record(b, e, path, p); {
		case errors.Is(err, fs.ErrNotExist):
			// What has gone since its name was read was never there.
		case err != nil:
			return explain(t.below(string(path)), err)
		}
	}
	return nil
}

// record appends the record of one entry.
func (t *traversal) record(b *batch, e *batchEntry, path []byte, p *pass) error {
	switch e.kind {
	case confine.Directory:
		b.add('d', path, nil)
	case confine.Link:
		text, err := e.dir.ReadLink(e.name)
		if err != nil {
			return err
		}
		b.add('l', path, []byte(text))
	case confine.Regular:
		d, err := t.file(e, p)
		if err != nil {
			return err
		}
		b.add('f', path, d[:])
	default:
		b.add('o', path, nil)
	}
	return nil
}

func (t *traversal) file(e *batchEntry, p *pass) (d digest, err error) {
	// Files of which digests are remembered come in runs: after one, the next is looked at without asking first.
	if t.use.digests && (p.found != none || t.memo.mayKnow(e.ino)) {
		info, ok := t.scout.find(e.dir, e.nth)
		if !ok {
			if info, err = e.dir.Stat(e.name); err != nil {
				return d, err
			}
		}
		if d, p.found = t.memo.get(info, p.when, p.found); p.found != none {
			return d, nil
		}
	}
	f, err := e.dir.OpenSeen(e.name)
	if err != nil {
		return d, err
	}
	defer f.Close()
	t.memo.learn(e.ino, f.Info().ID)
	return p.file(f)
}
