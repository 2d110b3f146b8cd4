package repomap

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/toolkit"
)

// fewMissing is up to how many files are parsed without a look into the store, which has to be read whole: after an edit
// the one file is parsed in less time.
const fewMissing = 8

// usualFile is more than most files have, in bytes: what a worker has room for.
const usualFile = 64 << 10

// namesAFile is how many names a file adds to those that are known, at the lower end.
const namesAFile = 24

// file is a mapped file.
type file struct {
	path string
	*entry
}

// load gives the files of a survey, in its order, each parsed unless its entry is still good. Files that turn out not to
// be maps' business are left out. When ctx ends first, what has been parsed by then is kept.
func (m *Mapper) load(ctx context.Context, found survey) ([]file, error) {
	entries := make([]*entry, len(found.sources))
	var missing []int
	for i, s := range found.sources {
		if entries[i] = m.cache.lookup(s); entries[i] == nil {
			missing = append(missing, i)
		}
	}
	if len(missing) > 0 {
		m.parse(ctx, found.sources, missing, entries)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.cache.prune(found)
	if m.store != nil && m.cache.unkept >= worthSaving {
		// A cache that cannot be written costs time and nothing else.
		_ = m.store.save(m.cache)
	}
	files := make([]file, 0, len(entries))
	for i, e := range entries {
		if e != nil && !e.skipped {
			files = append(files, file{found.sources[i].path, e})
		}
	}
	return files, nil
}

// outcome is what a worker knows of a file.
type outcome struct {
	info   confine.Info // of the file that was read, which may have changed since the survey
	key    key
	tags   *Tags // nil when the file is to be left out
	stored bool  // the store knew it
	err    error // nothing is known, and nothing to be remembered
}

// parsing is the work on a map's missing entries, which its workers share. They take the files in order, and each puts
// what it knows into the cache itself: a file that the store knows takes less time than it takes to hand it on.
//
//	parse ──► worker, worker ──► cache
//
// parse waits for the workers; they end when there is nothing left, or after the file in hand once ctx has ended.
type parsing struct {
	m        *Mapper
	sources  []source
	missing  []int
	progress func(done, total int64, message string)

	next    atomic.Int64 // of the missing files, the first that nobody has taken
	mu      sync.Mutex   // guards what follows, and the mapper's cache
	entries []*entry
	done    int
}

// parse fills in the missing entries.
func (m *Mapper) parse(ctx context.Context, sources []source, missing []int, entries []*entry) {
	if len(missing) > fewMissing {
		m.store.open()
		defer m.store.close()
	}
	m.cache.names.expect(namesAFile * len(missing))
	p := &parsing{m: m, sources: sources, missing: missing, entries: entries, progress: toolkit.Progress(ctx)}
	var workers sync.WaitGroup
	for range min(m.workers, len(missing)) {
		workers.Go(func() { p.work(ctx) })
	}
	workers.Wait()
}

// work reads files until there are no more.
func (p *parsing) work(ctx context.Context) {
	r := &reader{grammars: p.m.grammars}
	defer r.close()
	buffer, room := make([]byte, usualFile), new(Tags)
	for ctx.Err() == nil {
		next := int(p.next.Add(1)) - 1
		if next >= len(p.missing) {
			return
		}
		i := p.missing[next]
		p.put(i, p.m.outcome(r, p.sources[i], buffer, room))
	}
}

// put makes the entry of a file that has been read.
func (p *parsing) put(source int, o outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o.err == nil {
		c := p.m.cache
		e := c.put(p.sources[source].path, o.info.ModTime, o.info.Size, o.key, o.tags)
		if e.parsed = !o.stored; e.parsed {
			c.unkept += int(o.info.Size)
		}
		p.entries[source] = e
	}
	p.done++
	p.progress(int64(p.done), int64(len(p.missing)), "reading source files")
}

// outcome reads a file, with the help of a worker's own things.
func (m *Mapper) outcome(r *reader, s source, buffer []byte, room *Tags) (o outcome) {
	f, err := m.root.Open("path", s.path)
	if err != nil {
		o.err = err
		return o
	}
	defer f.Close()
	o.info = f.Info()
	if o.info.Size > int64(len(buffer)) {
		if m.recall(f, s.language, buffer, room, &o); o.stored || o.err != nil {
			return o
		}
		buffer = make([]byte, min(o.info.Size, maxFile+1))
	}
	// What the file has grown by since it was opened is for the next map.
	n, err := io.ReadFull(f, buffer[:min(o.info.Size, int64(len(buffer)))])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		o.err = err
		return o
	}
	text, l := buffer[:n], s.language
	if l == C && isHeader(s.path) {
		l = headerLanguage(text)
	}
	if m.store != nil {
		o.key = keyOf(l, text)
		if o.tags, o.stored = m.store.lookup(o.key, room); o.stored {
			return o
		}
	}
	switch o.tags, err = r.read(l, text); {
	case errors.Is(err, errSkipped):
		o.tags = nil
	case err != nil:
		o.err = err
	}
	return o
}

// recall looks up a large file, whose key it makes piece by piece: most often the store knows it, and then it need not be
// in memory as a whole. Of C it knows too little to tell: a header's language shows in its text.
func (m *Mapper) recall(f *confine.File, l Language, buffer []byte, room *Tags, o *outcome) {
	if l == C || !m.store.isStocked() {
		return
	}
	h := newKeyHash(l)
	// No more than it had when it was opened, as in outcome: a file may grow for as long as somebody reads it.
	if _, o.err = io.CopyBuffer(h, io.LimitReader(f, o.info.Size), buffer); o.err != nil {
		return
	}
	o.key = key(h.Sum(nil))
	if o.tags, o.stored = m.store.lookup(o.key, room); !o.stored {
		o.err = f.Rewind()
	}
}
