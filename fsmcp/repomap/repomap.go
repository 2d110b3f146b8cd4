// Package repomap draws a map of the code below a directory: the same tree and budget give the same map.
//
// A map shows the files that the rest of the tree leans on, each with the lines that define its most referenced names.
// It comes about in five steps, a file each:
//
//	survey   which files there are, nearest the top first       survey.go
//	tags     what each defines and refers to, cached            tags.go, raku.go, cache.go, store.go
//	graph    who refers to whom, by name and nothing else       graph.go
//	rank     personalised PageRank                              rank.go
//	render   whole blocks, up to a number of characters         render.go
//
// Nine languages are read with tree-sitter, which is C: queries/ says what is looked for, and treesitter.c, walk.c and
// region.c find it. Raku is read by a scanner of our own (raku.go). Go files without an error take a shorter way
// (goread.go), so a build without cgo reads Go and Raku, and its maps say so.
//
// Invariant: the text depends on the mapped files, the request and nothing else: not on the order in which files are
// found or parsed, the number of workers, or what is in a cache.
//
// Not promised: that names are resolved. Two things of one name are one to the map; the rules in graph.go keep the noise
// of that down. Nor that files which change during a map are seen in one state; and an edit is missed that leaves both
// size and modification time as they were.
//
// A Mapper may be used from several goroutines; its maps are drawn one at a time.
package repomap

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"lookfirst/fsmcp/confine"
)

// The bounds of [Request.MaxChars], in characters.
const (
	MinChars     = 512
	MaxChars     = 65536
	DefaultChars = 8192
)

// maxWorkers is how many files are parsed at once: a parse may hold parseMemory.
const maxWorkers = 4

// Options are the settings of a [Mapper].
type Options struct {
	// Root is the tree. Required; the mapper does not close it.
	Root *confine.Root
	// CacheDir is a directory outside every tree in which parse results outlive the process; it is made when there is
	// something to keep. If empty, they are kept in memory alone.
	CacheDir string
	// Workers is how many files are parsed at once; if zero, as many as there are processors, at most 4.
	Workers int
}

// Mapper draws maps of one tree, and remembers what it has parsed. Close it.
type Mapper struct {
	root     *confine.Root
	grammars *grammars
	workers  int

	turn  chan struct{} // holds one token; who has it, draws, and may use what follows
	cache *cache
	store *store // nil when nothing outlives the process
	last  struct {
		files []file
		names *names
		graph *graph
	}
}

// New makes a mapper. Nothing is read before the first map.
func New(opt Options) *Mapper {
	m := &Mapper{root: opt.Root, grammars: newGrammars(), workers: opt.Workers, turn: make(chan struct{}, 1), cache: newCache()}
	if m.workers <= 0 {
		m.workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	if opt.CacheDir != "" {
		m.store = newStore(opt.CacheDir, opt.Root.Path())
	}
	m.turn <- struct{}{}
	return m
}

// Close keeps what is worth keeping for the next process. It waits for no map: while one is under way, as it may be at a
// sudden end, what that has not kept itself is parsed again some day.
func (m *Mapper) Close() error {
	if m.store == nil {
		return nil
	}
	select {
	case <-m.turn:
	default:
		return nil
	}
	defer func() { m.turn <- struct{}{} }()
	return m.store.save(m.cache)
}

// Request says what to draw.
type Request struct {
	Path     string // a directory, or a single file, as the caller wrote it
	Query    string // words; files whose path or definitions contain one weigh ten times
	Focus    string // paths; the files that they name weigh fifty times
	MaxChars int    // what the map may take, in characters; if zero, DefaultChars
}

// Map draws a map. An error about a path in the request is a [*confine.Error]; when ctx ends first it is that of ctx,
// and what has been parsed by then is not parsed again.
func (m *Mapper) Map(ctx context.Context, req Request) (string, error) {
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-m.turn:
	}
	defer func() { m.turn <- struct{}{} }()
	focus, err := m.resolveFocus(req.Focus)
	if err != nil {
		return "", err
	}
	found, err := m.survey(ctx, req.Path)
	if err != nil {
		return "", err
	}
	files, err := m.load(ctx, found)
	if err != nil {
		return "", err
	}
	steer := steering{words: words(strings.ToLower(req.Query)), focus: focus}
	drawing := draw(files, m.cache.names, m.graphOf(files), steer)
	drawing.skipped = found.skipped + len(found.sources) - len(files)
	drawing.stopped = found.stopped
	if req.MaxChars == 0 {
		req.MaxChars = DefaultChars
	}
	return drawing.render(req.MaxChars), nil
}

// graphOf is the graph of the files, which is that of the last map where nothing has changed since.
func (m *Mapper) graphOf(files []file) *graph {
	l := &m.last
	if l.names != m.cache.names || !slices.Equal(l.files, files) {
		l.files, l.names, l.graph = files, m.cache.names, newGraph(files, m.cache.names)
	}
	return l.graph
}

// words splits what a caller wrote at spaces and commas.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
}

// resolveFocus gives the physical paths that a focus names. One that does not exist is an error.
func (m *Mapper) resolveFocus(focus string) ([]string, error) {
	var paths []string
	for _, arg := range words(focus) {
		loc, err := m.root.Resolve("focus", arg)
		if err != nil {
			return nil, err
		}
		missing, rel := loc.Missing() > 0, loc.Rel()
		loc.Close()
		if missing {
			return nil, confine.Explain(arg, confine.ErrNotExist)
		}
		paths = append(paths, rel)
	}
	return paths, nil
}
