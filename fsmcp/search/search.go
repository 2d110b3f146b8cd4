// Package search finds files: every way of looking gives the same matches in the same order.
//
// [Run] looks for a pattern in the lines of files. Its own scan does the work (native.go): a walk in order, a few workers
// that read files into buffers they keep (scan.go), literals before anything else (required.go), and an automaton whose
// time is linear in the text whatever the pattern (dfa.go). A search program may be asked which files are worth opening
// (tier.go); what it says chooses among the files of the walk and never adds to the answer.
//
// [Glob] is the dialect of name patterns (glob.go).
//
// Invariant: an answer depends on the query and the files alone: not on the searcher, the number of processors, or the
// sizes of buffers. The time of a match is bounded by the product of the lengths of pattern and text, whatever they are, and
// a search that is cancelled ends soon, whatever it is at (watch.go).
//
// Not promised: that files that change while they are searched are seen in one state; and anything but UTF-8. What is not
// is passed over, and so is what cannot be read.
//
// Everything may be used from several goroutines.
package search

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"lookfirst/fsmcp/confine"
)

const (
	// MaxContext is the most lines of context on either side of a match.
	MaxContext = 20
	// MaxResults is the most matching lines of one answer.
	MaxResults = 1000
	// maxAnswer bounds the text of an answer, in bytes (D27).
	maxAnswer = 8 << 20
)

// Query is what to look for.
type Query struct {
	Pattern string
	Regex   bool    // Pattern is a regular expression; else it is the very text to find
	Dialect Dialect // of a regular expression
	Glob    string  // if not empty, only files with a name that it matches; it holds no slash
	Context int     // lines to show before and after each match, at most MaxContext
	Max     int     // matching lines to find, at most MaxResults
}

// Result is what was found.
type Result struct {
	Files   []File // in the order of the walk: a directory's files, then its sub-directories, each in byte order
	Matches int    // matching lines in them
	More    bool   // the search stopped at Query.Max, and there is at least one more
	Full    bool   // the search stopped because the text had become too long
}

// Run searches the files below a location, or the file at it. A query that cannot be searched for is a [*PatternError];
// a location that cannot be read is a [*confine.Error].
func Run(ctx context.Context, loc *confine.Location, q Query) (Result, error) {
	return runWith(ctx, loc, q, usual(min(runtime.GOMAXPROCS(0), maxWorkers)))
}

// usual are the settings for some workers.
func usual(workers int) settings {
	return settings{
		sizes:   sizes{firstRead, min(largestBuffer, allBuffers/workers)},
		waits:   waits{probeWait, listWait},
		workers: workers,
	}
}

// settings are what an answer does not depend on.
type settings struct {
	sizes   sizes
	waits   waits
	workers int
}

// waits are how long a searcher may take.
type waits struct{ probe, list time.Duration }

func runWith(ctx context.Context, loc *confine.Location, q Query, with settings) (Result, error) {
	if err := checkGlob(q.Glob); err != nil {
		return Result{}, err
	}
	p, err := compile(q)
	if err != nil {
		return Result{}, err
	}
	order, err := tiers() // Of a search that asks none, too: a mistake there is to be seen at once.
	if err != nil {
		return Result{}, err
	}
	s := &search{Query: q, pattern: p, loc: loc, glob: ParseGlob(q.Glob), searchers: order, settings: with}
	if loc.Info.Kind == confine.Directory {
		return s.tree(ctx)
	}
	return s.file(ctx)
}

func checkGlob(glob string) error {
	switch {
	case strings.Contains(glob, "/"):
		return badPattern("'glob' is %s, and it filters by file name alone; send it without a slash and choose where to look with 'path'", confine.Quote(glob))
	case len(glob) > MaxPattern:
		return badPattern("'glob' has %d bytes; send at most %d", len(glob), MaxPattern)
	}
	return nil
}

// search is a query under way.
type search struct {
	Query
	pattern   *pattern
	loc       *confine.Location
	glob      Glob
	searchers []searcher // that may be asked, best first
	settings
	taken    atomic.Int64 // matches in the answer so far
	closings confine.Closings
}

// wants says whether a file's name passes the filter.
func (s *search) wants(name string) bool { return s.Glob == "" || s.glob.Match(name, false) }

// file searches the one file at the location. No searcher is asked: there is one candidate.
func (s *search) file(ctx context.Context) (Result, error) {
	f, err := s.loc.Open()
	if err != nil || !s.wants(s.loc.Name()) {
		if err == nil {
			err = f.Close()
		}
		return Result{}, err
	}
	defer f.Close()
	lines, err := newScanner(ctx, s).scanOpen(f)
	if err != nil {
		return Result{}, confine.Explain(s.loc.Arg, err)
	}
	r := results{query: s.Query}
	r.take("", lines)
	return r.Result, ctx.Err()
}
