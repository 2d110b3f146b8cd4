package fsmcp

import (
	"context"
	"errors"
	"strings"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/search"
	"lookfirst/fsmcp/toolkit"
)

// maxGlob is how many paths one glob answers with (D27).
const maxGlob = 100_000

func (f *FileSystem) globTool() *toolkit.Tool {
	return &toolkit.Tool{
		Name: "glob",
		Description: "Find files and directories by name, at any depth and hidden ones too; it does not look into files. " +
			"* is any run of characters within one path segment, ? one character, ** as a whole segment any number of segments; all else is literal. " +
			"A pattern without a slash is matched against names, one with a slash against the path below 'path'. Answers are sorted paths relative to the root.",
		Params: []toolkit.Param{
			{Name: "pattern", Type: "string", Description: "The pattern, as *.go or src/**/*_test.go; no regular expression.", Required: true},
			pathHere("The directory to search below, relative to the root."),
		},
		ReadOnly: true,
		Handle:   f.glob,
	}
}

// glob touches no state of the pack, so it takes no lock.
func (f *FileSystem) glob(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	pattern, path := a.String("pattern"), a.String("path")
	if err := checkPattern(pattern); err != nil {
		return nil, err
	}
	loc, err := f.tree.Root.Resolve("path", path)
	if err != nil {
		return nil, f.missing(path, err)
	}
	defer loc.Close()
	dir, err := loc.OpenDir()
	if err != nil {
		return nil, f.missing(path, err)
	}
	defer dir.Close()
	g := globbing{pattern: search.ParseGlob(pattern)}
	if !loc.IsRoot() {
		g.above = loc.Rel() + "/"
	}
	if err := dir.Walk(ctx, confine.ByPath, g.visit); err != nil && !errors.Is(err, errFull) {
		return nil, explainTree(path, err)
	}
	return &toolkit.Answer{Text: g.answer(pattern, path)}, nil
}

func checkPattern(pattern string) error {
	switch {
	case pattern == "":
		return toolkit.Refuse("'pattern' is empty; send a name pattern such as *.md, or * for everything")
	case len(pattern) > search.MaxPattern:
		return toolkit.Refuse("'pattern' has %d bytes; send at most %d", len(pattern), search.MaxPattern)
	}
	return nil
}

// globbing is one call under way.
type globbing struct {
	pattern search.Glob
	above   string // the searched directory, with a slash; empty for the root
	found   lines
	hidden  []string // directories that could not be read
	full    bool     // there is at least one more match than the answer has room for
}

// errFull ends a walk whose answer has no room left.
var errFull = errors.New("the answer is full")

func (g *globbing) visit(s *confine.Step) error {
	path := s.Path()
	if s.Err != nil {
		g.hidden = append(g.hidden, confine.Quote(g.above+path))
		return nil
	}
	if !g.pattern.Match(path, s.Kind == confine.Directory) {
		return nil
	}
	if g.found.kept < maxGlob {
		g.found.add(printed(g.above+path, s.Kind))
		if g.found.kept == g.found.asked {
			return nil
		}
	}
	g.full, g.found.asked = true, g.found.kept // How many more there are, nobody has counted.
	return errFull
}

func (g *globbing) answer(pattern, path string) string {
	if g.full {
		g.found.notice("stopped at %d paths; there are more: send a narrower pattern, or search below a sub-directory", g.found.kept)
	}
	if len(g.hidden) > 0 {
		g.found.notice("not readable, so not searched: %s", strings.Join(g.hidden[:min(len(g.hidden), 10)], ", "))
	}
	if g.found.asked == 0 {
		text := "No matches for " + confine.Quote(pattern) + " under " + confine.Quote(path)
		if len(g.found.notices) > 0 {
			text += "\n\n" + strings.Join(g.found.notices, "\n")
		}
		return text
	}
	return g.found.text("paths")
}
