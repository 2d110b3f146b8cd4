package search

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"lookfirst/fsmcp/confine"
)

// Three tiers search: ripgrep picks the files to open, or the system's grep does, or none and our own scan opens all. A
// searcher is asked one question: which files are worth opening. Its answer is a filter over the walk. It never gives a
// line of the answer or its order, and never hears of glob, context or the number of results; so every tier answers alike.
//
// What is never asked, because a searcher would understand it otherwise: a regular expression; a text that is not printable
// ASCII, which a file may spell in another normal form (K, ; and ` can be spelt otherwise too); a single file.
//
// Which tier is in force is asked of the environment at every search:
//
//	MCP_FS_GREP_BACKEND  auto (our own scan, which NOTES.md measures as the fastest), external (rg, else grep, else our
//	                     own scan), rg, grep or native
//	MCP_FS_RG            the ripgrep to run, if not the first rg on the PATH
//	MCP_FS_GREP          the grep to run, if not the first grep on the PATH

// longestPath bounds the path that is put together of lines of a list, in bytes; no resolver takes a longer one.
const longestPath = 4096

// searcher is a program that can say which files hold a text.
type searcher interface {
	// program is the name or path of the binary.
	program() string
	// args asks for the files below an absolute directory that hold a printable ASCII text, as absolute paths, one a line.
	args(text, dir string) []string
}

// tiers gives the searchers that the environment allows, best first. None is our own scan.
func tiers() ([]searcher, error) {
	switch backend := os.Getenv("MCP_FS_GREP_BACKEND"); backend {
	case "", "auto", "native":
		return nil, nil
	case "external":
		return []searcher{ripgrep{}, systemGrep{}}, nil
	case "rg":
		return []searcher{ripgrep{}}, nil
	case "grep":
		return []searcher{systemGrep{}}, nil
	default:
		return nil, badPattern("the environment variable MCP_FS_GREP_BACKEND is %s; it must be auto, external, rg, grep or native", confine.Quote(backend))
	}
}

// programName is what the environment calls a binary, or its usual name.
func programName(variable, usual string) string {
	if name := os.Getenv(variable); name != "" {
		return name
	}
	return usual
}

// shortlist is the files that a searcher has named, as paths from the searched directory.
type shortlist map[string]bool

// wants says whether a file is to be opened. A link is in any case, since no searcher follows one that it meets; and so
// is a path with a line break, which cannot be found in a list that has one path a line.
func (l shortlist) wants(prefix string, step *confine.Step) bool {
	if l == nil || step.Kind == confine.Link {
		return true
	}
	path := prefix + step.Name
	return l[path] || strings.Contains(path, "\n")
}

// shortlist asks the first usable searcher. It is nil, for all files, where there is none, where it must not be asked, and
// where its answer cannot be believed.
func (s *search) shortlist(ctx context.Context) shortlist {
	if len(s.searchers) == 0 || s.Regex || !isPlainText(s.Pattern) {
		return nil
	}
	dir, ok := s.loc.HostPath()
	if !ok || strings.Contains(dir, "\n") {
		return nil
	}
	for _, candidate := range s.searchers {
		standing := standingOf(candidate.program())
		binary := standing.usable(ctx, s.waits.probe)
		if binary == "" {
			continue
		}
		r := run(ctx, s.waits.list, binary, candidate.args(s.Pattern, dir)...)
		list, verdict := s.judge(ctx, r, dir)
		standing.note(verdict, binary)
		return list
	}
	return nil
}

// isPlainText says whether a text can be looked for by its bytes: it is printable ASCII, and none of its characters has
// a double that a file in another normal form may hold in its place.
func isPlainText(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || !asStored.allows(rune(c)) {
			return false
		}
	}
	return true
}

// judge decides whether what a searcher did is an answer. It is when it was not killed, exited as its manual says that an
// answer does (0 for some, 1 for none, 2 for an error of which -s and --no-messages have silenced those about single
// files, so that a message means something worse), and printed a list of paths in the directory.
func (s *search) judge(ctx context.Context, r ran, dir string) (shortlist, verdict) {
	switch {
	case r.cancelled || r.overflowed:
		return nil, noVerdict
	case !r.started:
		return nil, notStarted
	case !r.exited, r.status > 2, r.status == 2 && r.complained:
		return nil, disbelieved
	}
	list, ok := s.parse(ctx, r.output, dir)
	switch {
	case ctx.Err() != nil:
		return nil, noVerdict
	case !ok:
		return nil, disbelieved
	}
	return list, believed
}

// parse reads a list of absolute paths. A path with line breaks in it takes several lines: what is not a path by itself
// must be one together with the lines before it.
func (s *search) parse(ctx context.Context, output, dir string) (shortlist, bool) {
	const stepsOfPath, stepsOfFile = 64, 4096 // to keep a path, and to ask whether it is one
	w := watch{ctx: ctx}
	list := shortlist{}
	if output == "" {
		return list, true
	}
	if !strings.HasSuffix(output, "\n") {
		return nil, false
	}
	prefix := strings.TrimSuffix(dir, string(os.PathSeparator)) + string(os.PathSeparator)
	open := "" // a path that may go on in the next line
	broken := false
	for line := range strings.SplitSeq(output[:len(output)-1], "\n") {
		path, ok := strings.CutPrefix(line, prefix)
		switch {
		case w.mustStop(stepsOfPath):
			return nil, false
		case ok && !broken:
			open = filepath.ToSlash(path)
		case open == "" || len(open)+len(line) > longestPath:
			return nil, false
		default:
			open += "\n" + line
			w.mustStop(stepsOfFile)
			broken = !s.isFile(open)
			continue
		}
		list[open] = true
	}
	return list, !broken
}

func (s *search) isFile(path string) bool {
	f, err := s.loc.OpenBelow(path)
	if err != nil {
		return false
	}
	return f.Close() == nil
}
