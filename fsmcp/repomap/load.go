package repomap

import (
	"context"
	"errors"
	"io"
	"sync"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/toolkit"
)

// fewMissing is up to how many files are parsed without a look into the store, which has to be read whole: after an edit
// the one file is parsed in less time.
const fewMissing = 8

// usualFile is more than most files have, in bytes: what a worker begins with room for.
const usualFile = 128 << 10

// errGrown means that a file has grown between the survey and its reading. The next map sees it as it is then.
var errGrown = errors.New("grown while it was looked at")

// file is a mapped file.
type file struct {
	path string
	*entry
}

// load gives the files of a survey, in its order, each parsed unless its entry is still good. Files that turn out not to
// be maps' business are left out.
//
//	load ──jobs──► worker, worker ──results──► load
//
// It waits for the workers; they end when the jobs do, or after the file in hand once ctx has ended. What they have
// parsed by then is kept.
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
	source int
	info   confine.Info // of the file that was read, which may have changed since the survey
	key    key
	tags   *Tags // nil when the file is to be left out
	stored bool  // the store knew it
	err    error // nothing is known, and nothing to be remembered
}

// parse fills in the missing entries.
func (m *Mapper) parse(ctx context.Context, sources []source, missing []int, entries []*entry) {
	if len(missing) > fewMissing {
		m.store.open()
		defer m.store.close()
		defer m.grammars.trim()
	}
	jobs := make(chan int)
	results := make(chan outcome, m.workers)
	var workers sync.WaitGroup
	for range min(m.workers, len(missing)) {
		workers.Go(func() { m.work(ctx, sources, jobs, results) })
	}
	go func() {
		defer close(results)
		defer workers.Wait()
		defer close(jobs)
		for _, i := range missing {
			select {
			case jobs <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	progress := toolkit.Progress(ctx)
	done := 0
	for o := range results {
		if o.err == nil {
			entries[o.source] = m.cache.put(sources[o.source].path, o.info.ModTime, o.info.Size, o.key, o.tags)
			if !o.stored {
				entries[o.source].parsed = true
				m.cache.unkept += int(o.info.Size)
			}
		}
		done++
		progress(int64(done), int64(len(missing)), "reading source files")
	}
}

// work reads the files that it is given.
func (m *Mapper) work(ctx context.Context, sources []source, jobs <-chan int, results chan<- outcome) {
	r := &reader{grammars: m.grammars}
	defer r.close()
	buffer := make([]byte, usualFile)
	for i := range jobs {
		if ctx.Err() != nil {
			return
		}
		if need := int(sources[i].info.Size) + 1; need > len(buffer) {
			buffer = make([]byte, maxFile+1)
		}
		o := m.outcome(r, sources[i], buffer)
		o.source = i
		results <- o
	}
}

func (m *Mapper) outcome(r *reader, s source, buffer []byte) (o outcome) {
	f, err := m.root.Open("path", s.path)
	if err != nil {
		o.err = err
		return o
	}
	defer f.Close()
	o.info = f.Info()
	n, err := io.ReadFull(f, buffer)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		o.err = err
		return o
	}
	text := buffer[:n]
	if o.info.Size >= int64(len(buffer)) {
		o.err = errGrown
		return o
	}
	l := s.language
	if l == C && isHeader(s.path) {
		l = headerLanguage(text)
	}
	if m.store != nil {
		o.key = keyOf(l, text)
		if o.tags, o.stored = m.store.lookup(o.key); o.stored {
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
