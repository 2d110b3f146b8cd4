package fsmcp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/search"
	"lookfirst/fsmcp/toolkit"
)

// defaultResults is how many matching lines a search finds when it is not told.
const defaultResults = 50

// grepTool searches with regular expressions of a dialect.
func (f *FileSystem) grepTool(dialect search.Dialect) *toolkit.Tool {
	none, one := int64(0), int64(1)
	mostContext, mostResults := int64(search.MaxContext), int64(search.MaxResults)
	return &toolkit.Tool{
		Name: "grep",
		Description: "Search the contents of files for lines that hold a text, or match a regular expression: answers are path:line:text, " +
			"in sorted order, with paths relative to the root. Case counts. Hidden and ignored files are searched too; what is not UTF-8 text is passed over. " +
			"To find files by name use glob.",
		Params: []toolkit.Param{
			{Name: "pattern", Type: "string", Required: true, Description: "The text to look for, as it stands in one line; with regex, a regular expression."},
			pathHere("The directory to search, or a single file, relative to the root."),
			{Name: "regex", Type: "boolean", Default: false, Description: regexDescription(dialect)},
			{Name: "glob", Type: "string", Description: "Search only files with such a name, as *.go; at any depth, without a slash."},
			{Name: "context", Type: "integer", Default: 0, Min: &none, Max: &mostContext, Description: "Lines to show before and after each match, marked with - in place of :."},
			{Name: "max-results", Type: "integer", Default: defaultResults, Min: &one, Max: &mostResults, Description: "Stop after so many matching lines."},
		},
		ReadOnly: true,
		Handle: func(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
			return f.grep(ctx, a, dialect)
		},
	}
}

func regexDescription(d search.Dialect) string {
	if d == search.Raku {
		return "Take the pattern as a Raku regex: white space is insignificant, ' ' or \\s is a space, <[abc]> a class, [...] a group."
	}
	return "Take the pattern as a regular expression in RE2 syntax: no look-around and no back-references; (?i) at its beginning ignores case."
}

// grep touches no state of the pack, so it takes no lock. Its answer has no revisions: it shows no file whole.
func (f *FileSystem) grep(ctx context.Context, a *toolkit.Args, dialect search.Dialect) (*toolkit.Answer, error) {
	q := search.Query{
		Pattern: a.String("pattern"),
		Regex:   a.Bool("regex"),
		Dialect: dialect,
		Glob:    a.String("glob"),
		Context: int(a.Int("context")),
		Max:     int(a.Int("max-results")),
	}
	if a.Has("glob") && q.Glob == "" {
		return nil, toolkit.Refuse("'glob' is empty; send a name pattern such as *.md, or leave it out")
	}
	path := a.String("path")
	loc, err := f.tree.Root.Resolve("path", path)
	if err != nil {
		return nil, f.missing(path, err)
	}
	defer loc.Close()
	found, err := search.Run(ctx, loc, q)
	var bad *search.PatternError
	switch {
	case errors.As(err, &bad), ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, f.missing(path, explainTree(path, err))
	}
	return &toolkit.Answer{Text: grepAnswer(loc, q, found)}, nil
}

// grepAnswer is the one form in which what was found is told, whoever found it: that of GNU grep.
func grepAnswer(loc *confine.Location, q search.Query, found search.Result) string {
	var b strings.Builder
	for i, file := range found.Files {
		path := printed(searchedPath(loc, file.Path), confine.Regular)
		for j, l := range file.Lines {
			isFirst := i == 0 && j == 0
			if !isFirst {
				b.WriteByte('\n')
			}
			if q.Context > 0 && !isFirst && (j == 0 || file.Lines[j-1].Number+1 < l.Number) {
				b.WriteString("--\n")
			}
			writeLine(&b, path, l)
		}
	}
	if found.Matches == 0 && !found.Full {
		return "No matches for " + confine.Quote(q.Pattern) + " under " + confine.Quote(loc.Arg)
	}
	switch {
	case found.More:
		fmt.Fprintf(&b, "\n\n[stopped at %d matching lines; raise max-results to see more]", found.Matches)
	case found.Full:
		fmt.Fprintf(&b, "\n\n[the answer is full after %d matching lines; narrow it with path or glob, or ask for less context]", found.Matches)
	}
	return b.String()
}

// searchedPath is a path from the root, given one from the searched location.
func searchedPath(loc *confine.Location, path string) string {
	switch {
	case path == "":
		return loc.Rel()
	case loc.IsRoot():
		return path
	}
	return loc.Rel() + "/" + path
}

func writeLine(b *strings.Builder, path string, l search.Line) {
	mark := byte('-')
	if l.Match {
		mark = ':'
	}
	b.WriteString(path)
	b.WriteByte(mark)
	b.WriteString(strconv.Itoa(l.Number))
	b.WriteByte(mark)
	b.WriteString(l.Text)
}
