package fsmcp

import (
	"context"
	"fmt"
	"strings"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/revision"
	"lookfirst/fsmcp/toolkit"
)

// maxAnswer bounds the text of any answer but a whole read, in bytes (D27). What is over is cut at a whole line, and a
// notice says so.
const maxAnswer = 8 << 20

func (f *FileSystem) listTool() *toolkit.Tool {
	return &toolkit.Tool{
		Name: "list",
		Description: "List a directory: one name a line, sorted, hidden ones too, directories with a slash at the end. " +
			"It does not look below sub-directories; glob does.",
		Params:   []toolkit.Param{pathHere("The directory, relative to the root.")},
		ReadOnly: true,
		Handle:   f.list,
	}
}

func (f *FileSystem) list(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	release, err := f.tree.Observe(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	path := a.String("path")
	loc, err := f.tree.Root.Resolve("path", path)
	if err != nil {
		return nil, f.missing(path, err)
	}
	defer loc.Close()
	list := listOnly
	if toolkit.TreeRevisions(ctx) {
		list = f.tree.Hasher.List
	}
	entries, observe, err := list(ctx, loc)
	if err != nil {
		return nil, f.missing(path, err)
	}
	text := listing(entries)
	return &toolkit.Answer{Text: text, Revisions: revision.Set{"path": observe()}}, nil
}

// observed is the revision of a location that a reading tool answers with. Where nobody will read it, a directory's is
// unknown, which spares hashing the tree (D5a).
func (f *FileSystem) observed(ctx context.Context, loc *confine.Location) revision.Revision {
	if loc.Info.Kind == confine.Directory && !toolkit.TreeRevisions(ctx) {
		return revision.Revision{State: revision.Unknown}
	}
	return f.tree.Hasher.Observe(ctx, loc)
}

// listOnly is like [revision.Hasher.List] where nobody will read the revision.
func listOnly(_ context.Context, loc *confine.Location) ([]confine.Entry, func() revision.Revision, error) {
	dir, err := loc.OpenDir()
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	entries, err := dir.Entries()
	confine.SortByName(entries)
	return entries, func() revision.Revision { return revision.Revision{State: revision.Unknown} }, confine.Explain(loc.Arg, err)
}

// listing is the names of a directory, which are sorted by their bytes without the slash (D17).
func listing(entries []confine.Entry) string {
	if len(entries) == 0 {
		return "(empty directory)"
	}
	var out lines
	size := 0
	for _, e := range entries {
		size += len(e.Name) + len("/\n")
	}
	out.b.Grow(min(size, maxAnswer))
	for _, e := range entries {
		out.add(printed(e.Name, e.Kind))
	}
	return out.text("entries")
}

// lines collects an answer line by line, up to maxAnswer.
type lines struct {
	b           strings.Builder
	kept, asked int
	notices     []string
}

// add takes a line, or only counts it once the answer is full.
func (l *lines) add(line string) {
	l.asked++
	if l.kept < l.asked-1 || l.b.Len()+len(line) >= maxAnswer {
		return
	}
	if l.kept > 0 {
		l.b.WriteByte('\n')
	}
	l.b.WriteString(line)
	l.kept++
}

// notice adds a line in brackets below the answer.
func (l *lines) notice(format string, a ...any) {
	l.notices = append(l.notices, "["+fmt.Sprintf(format, a...)+"]")
}

// text is the answer; unit is what a line is.
func (l *lines) text(unit string) string {
	if l.kept < l.asked {
		l.notice("%d of %d %s shown; the answer is full, look at sub-directories one by one", l.kept, l.asked, unit)
	}
	if len(l.notices) == 0 {
		return l.b.String()
	}
	if l.kept > 0 {
		l.b.WriteString("\n\n")
	}
	l.b.WriteString(strings.Join(l.notices, "\n"))
	return l.b.String()
}
