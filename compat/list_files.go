package compat

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/toolkit"
)

// maxList bounds the answer of list_files, in bytes (D27).
const maxList = 8 << 20

func (f *FileTools) listFilesTool() *toolkit.Tool {
	return &toolkit.Tool{
		Name:        "list_files",
		Description: "List the files and directories in a directory: one name a line, sorted, hidden ones too, directories with a slash at the end.",
		Params: []toolkit.Param{
			{Name: "path", Type: "string", Description: "The directory, absolute or relative to the working directory.", Required: true},
		},
		ReadOnly: true,
		Handle:   f.listFiles,
	}
}

// listFiles reports no revision: none of these tools changes a directory, and the token of one can cost the reading of all
// that is below it.
func (f *FileTools) listFiles(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	p, err := f.place("list_files", a.String("path"))
	if err != nil {
		return nil, err
	}
	loc, err := p.reach.Resolve(p.path)
	if err != nil {
		return nil, p.notListed(err)
	}
	defer loc.Close()
	release, err := f.tree(loc.Root()).Observe(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	dir, err := loc.OpenDir()
	if err != nil {
		return nil, p.notListed(err)
	}
	defer dir.Close()
	entries, err := dir.Entries()
	if err != nil {
		return nil, p.notListed(confine.Explain(p.path, err))
	}
	return &toolkit.Answer{Text: listing(entries)}, nil
}

func (p *place) notListed(err error) error {
	if errors.Is(err, confine.ErrNotExist) || errors.Is(err, confine.ErrNotDirectory) || errors.Is(err, confine.ErrTooManyLinks) {
		return textNotDirectory(p.abs())
	}
	return p.explain(err)
}

// listing is the names in a directory. They are sorted with the slash of a directory, so "a.txt" comes before "a/".
func listing(entries []confine.Entry) string {
	names := make([]string, len(entries))
	for i, e := range entries {
		if names[i] = e.Name; e.Kind == confine.Directory {
			names[i] += "/"
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for i, name := range names {
		if b.Len()+len(name) > maxList {
			b.WriteString(textListCut)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(shown(name))
	}
	return b.String()
}

// shown keeps a name on its line, and its bytes UTF-8: one that has others is quoted and escaped.
func shown(name string) string {
	if confine.IsPlain(name) {
		return name
	}
	return strconv.Quote(name)
}
