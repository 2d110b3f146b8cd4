package search

import (
	"context"
	"errors"
	"sync/atomic"

	"lookfirst/fsmcp/confine"
)

// Our own scan: one goroutine walks, some search, and the caller puts the answer together in the order of the walk.
//
//	walk ──► batch ──► work ──► workers ──► batch.done
//	           │                                │
//	           └──────► order ──► caller ◄──────┘
//
// The walk waits for room in both channels, the workers for work, and the caller for the batch whose turn it is. When
// the answer is full the caller cancels the others, and it always waits until all of them have returned.

const (
	// maxWorkers bounds the goroutines that search, and so the memory in use. Reading is what takes time, and more of
	// them at once do not make a disk faster.
	maxWorkers = 8
	// A batch begins small, so that a full answer in the first files has cost little, and doubles up to the largest.
	smallestBatch, largestBatch = 4, 32
	// maxBatchDirs bounds the directories that a batch keeps open.
	maxBatchDirs = 8
	// holdBack is how many bytes of text a batch may find before its worker waits for its turn, be it in the middle of a
	// file: an answer of which the beginning is not there yet need not grow in memory.
	holdBack = 256 << 10
)

// batch is some neighbouring files of the walk.
type batch struct {
	files []candidate
	dirs  []*confine.Dir // in which they are, to be closed
	found []File         // in their order; to be read after done
	done  chan struct{}  // closed when all are searched
	turn  chan struct{}  // closed when the caller waits for this batch
}

// candidate is a file to search.
type candidate struct {
	dir    *confine.Dir
	prefix string // the path of dir, with a slash unless empty
	name   string
	isLink bool
}

func newBatch(size int) *batch {
	return &batch{
		files: make([]candidate, 0, size),
		dirs:  make([]*confine.Dir, 0, maxBatchDirs),
		done:  make(chan struct{}),
		turn:  make(chan struct{}),
	}
}

func (b *batch) close() {
	for _, d := range b.dirs {
		d.Close()
	}
	b.dirs = nil
}

// tree searches the files below the location.
func (s *search) tree(ctx context.Context) (Result, error) {
	only := s.shortlist(ctx)
	dir, err := s.loc.OpenDir()
	if err != nil {
		return Result{}, err
	}
	defer dir.Close()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := s.workers
	w := &walk{search: s, only: only, size: smallestBatch, order: make(chan *batch, workers), work: make(chan *batch, workers)}
	var c crew
	defer func() { // also when something has panicked
		cancel()
		c.group.Wait()
		s.closings.Flush()
	}()
	for range workers {
		c.run(cancel, func() { s.searchBatches(inner, w.work) })
	}
	var walkErr error
	c.run(cancel, func() { walkErr = w.run(inner, dir) })
	r := results{query: s.Query}
	r.gather(inner, w.order, &s.taken)
	cancel()
	c.wait()
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case walkErr != nil && !r.done():
		return Result{}, walkErr
	}
	return r.Result, nil
}

// gather takes the batches in the order of the walk until the answer is full, the walk has ended or ctx has. It tells the
// workers how many matches are in the answer, so that they look for no more in a file than there is room for.
func (r *results) gather(ctx context.Context, order <-chan *batch, taken *atomic.Int64) {
	for b := range order {
		close(b.turn)
		select {
		case <-b.done:
		case <-ctx.Done():
			return
		}
		for _, f := range b.found {
			r.take(f.Path, f.Lines)
		}
		if r.done() {
			return
		}
		taken.Store(int64(r.Matches))
	}
}

// searchBatches is one worker.
func (s *search) searchBatches(ctx context.Context, work <-chan *batch) {
	var c *scanner // Made when there is work: a small tree keeps few busy.
	for b := range work {
		if c == nil {
			c = newScanner(ctx, s)
		}
		c.searchBatch(b)
		b.close()
		close(b.done)
	}
}

func (c *scanner) searchBatch(b *batch) {
	c.turn, c.held = b.turn, 0
	matches := 0
	for _, f := range b.files {
		c.most = c.Max - int(c.taken.Load()) - matches
		if c.ctx.Err() != nil || c.most < 0 || c.held > maxAnswer {
			return // What has been found fills any answer.
		}
		lines := c.candidate(f)
		if lines == nil {
			continue
		}
		b.found = append(b.found, File{Path: f.prefix + f.name, Lines: lines})
		matches += c.found.matches
		c.held += c.found.size
	}
}

// waitForTurn waits when the batch at hand has found much.
func (c *scanner) waitForTurn() {
	if c.held+c.found.size <= holdBack || c.turn == nil {
		return
	}
	select {
	case <-c.turn:
	case <-c.ctx.Done():
	}
	c.turn = nil // It has come.
}

// candidate searches one file. A link is followed through the full resolver, to a regular file inside the root.
func (c *scanner) candidate(f candidate) []Line {
	if !f.isLink {
		return c.scanSeen(f.dir, f.name)
	}
	file, err := c.loc.OpenBelow(f.prefix + f.name)
	if err != nil {
		return nil
	}
	defer file.Close()
	lines, err := c.scanOpen(file)
	if err != nil {
		return nil
	}
	return lines
}

// walk makes batches of the files below a directory.
type walk struct {
	*search
	only  shortlist // nil for all files
	order chan *batch
	work  chan *batch

	size   int    // of the batch at hand
	batch  *batch // nil when there is none
	prefix string // of the directory at hand
}

// errEnded ends a walk.
var errEnded = errors.New("nobody waits for more files")

func (w *walk) run(ctx context.Context, dir *confine.Dir) error {
	defer close(w.order)
	defer close(w.work)
	err := dir.Walk(ctx, confine.FilesFirst, func(step *confine.Step) error { return w.visit(ctx, step) })
	if w.batch != nil {
		w.send(ctx)
	}
	if err == errEnded {
		return nil
	}
	return err
}

func (w *walk) visit(ctx context.Context, step *confine.Step) error {
	if step.Err != nil || step.Kind != confine.Regular && step.Kind != confine.Link || !w.wants(step.Name) {
		return nil // A directory that cannot be read, or is entered later; what must not be opened.
	}
	if string(step.Prefix) != w.prefix {
		w.prefix = string(step.Prefix)
	}
	if !w.only.wants(w.prefix, step) {
		return nil
	}
	w.add(step)
	if len(w.batch.files) < w.size && len(w.batch.dirs) < maxBatchDirs {
		return nil
	}
	w.size = min(2*w.size, largestBatch)
	return w.send(ctx)
}

func (w *walk) add(step *confine.Step) {
	if w.batch == nil {
		w.batch = newBatch(w.size)
	}
	b := w.batch
	if n := len(b.dirs); n == 0 || b.dirs[n-1] != step.Dir {
		b.dirs = append(b.dirs, step.Dir.Retain())
	}
	b.files = append(b.files, candidate{dir: step.Dir, prefix: w.prefix, name: step.Name, isLink: step.Kind == confine.Link})
}

// send gives the batch at hand to the caller and to the workers.
func (w *walk) send(ctx context.Context) error {
	b := w.batch
	w.batch = nil
	select {
	case w.order <- b:
	case <-ctx.Done():
		b.close()
		return errEnded
	}
	select {
	case w.work <- b:
	case <-ctx.Done():
		b.close()
		return errEnded
	}
	return nil
}
