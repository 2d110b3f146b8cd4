package fsmcp

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/revision"
	"lookfirst/fsmcp/toolkit"
)

func (f *FileSystem) statTool() *toolkit.Tool {
	return &toolkit.Tool{
		Name: "stat",
		Description: "Tell what is at a path: its type (file, directory, other), size in bytes, time of modification in UTC, " +
			"whether the path ends in a symbolic link, and whether it can be read and written.",
		Params:   []toolkit.Param{pathParam("The file or directory, relative to the root.")},
		ReadOnly: true,
		Handle:   f.stat,
	}
}

func (f *FileSystem) stat(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	release, err := f.tree.Observe(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	path := a.String("path")
	loc, err := f.tree.Root.Resolve("path", path)
	if err == nil && loc.Missing() > 0 {
		loc.Close()
		err = confine.Explain(path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, f.missing(path, err)
	}
	defer loc.Close()
	readable, writable := loc.Access()
	text := fmt.Sprintf("path: %s\ntype: %s\nsize: %d\nmodified: %s\nsymlink: %s\nreadable: %s\nwritable: %s",
		printed(path, confine.Regular), typeOf(loc.Info.Kind), loc.Info.Size,
		time.Unix(0, loc.Info.ModTime).UTC().Format(time.RFC3339),
		yesNo(loc.Linked), yesNo(readable), yesNo(writable && !f.opt.ReadOnly))
	return &toolkit.Answer{Text: text, Revisions: revision.Set{"path": f.observed(ctx, loc)}}, nil
}

func typeOf(k confine.Kind) string {
	switch k {
	case confine.Regular:
		return "file"
	case confine.Directory:
		return "directory"
	}
	return "other"
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
