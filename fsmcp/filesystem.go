package fsmcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/mutation"
	"lookfirst/fsmcp/repomap"
	"lookfirst/fsmcp/revision"
	"lookfirst/fsmcp/search"
	"lookfirst/fsmcp/toolkit"
	"lookfirst/readstate"
)

// Options are the settings of a [FileSystem].
type Options struct {
	// Root is the directory to serve. Required; it may be given through links.
	Root string
	// ReadOnly leaves out the tools that change something.
	ReadOnly bool
	// ReadBeforeWrite has write and edit refuse to change an existing file that the session has not read as it is, unless
	// the call brings revisions of its own (D7).
	ReadBeforeWrite bool
	// ReadState is what the session has seen. If nil, each call goes by the tracker in its context, and where there is
	// none, nothing is known to have been read (D8).
	ReadState *readstate.Tracker
	// RegexSyntax is the language of grep's regular expressions: "re2" or "raku"; if empty, "re2" (D16).
	RegexSyntax string
	// MapCache says where map keeps what it has parsed: on "disk", in the user's cache directory, for the processes to
	// come, or in "memory"; if empty, on disk (D28).
	MapCache string
	// DigestMemo is how many file digests are remembered; if zero, 8192; if negative, none.
	DigestMemo int
	// RevisionBudget is how many bytes an observation may read for one revision before that is unknown; if
	// zero, 4 GiB; if negative, there is no limit. A conditional change has none.
	RevisionBudget int64
	// NoSync spares the fsync of what is written: after a power cut a file may then be old, new or empty.
	NoSync bool
	// Warn is told, once, when the lock between processes cannot be used. If nil, nobody is.
	Warn func(string)
	// LockDir is where the lock between processes lies; if empty, the user's cache directory.
	LockDir string
}

// FileSystem is a directory and the tools that serve it.
type FileSystem struct {
	opt     Options
	dialect search.Dialect
	tree    *mutation.Tree
	mapper  *repomap.Mapper
	whole   buffers // for whole reads
}

// New opens the root. Close the FileSystem when it is done with.
func New(opt Options) (*FileSystem, error) {
	if opt.Root == "" {
		return nil, fmt.Errorf("a root directory is required")
	}
	dialect := search.Dialect(opt.RegexSyntax)
	if !slices.Contains([]search.Dialect{"", search.RE2, search.Raku}, dialect) {
		return nil, fmt.Errorf("regex-syntax is %q; it must be %q or %q", dialect, search.RE2, search.Raku)
	}
	root, err := confine.OpenRoot(opt.Root)
	if err != nil {
		return nil, err
	}
	mapper, err := newMapper(root, opt.MapCache)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &FileSystem{opt: opt, dialect: dialect, mapper: mapper, tree: &mutation.Tree{
		Root:   root,
		Hasher: revision.NewHasher(revision.Options{Memo: opt.DigestMemo, Budget: opt.RevisionBudget}),
		Lock:   mutation.Options{Dir: opt.LockDir, Warn: opt.Warn},
	}}, nil
}

// Close gives back the root, and keeps what map has parsed where MapCache says. No call may be running.
func (f *FileSystem) Close() error { return errors.Join(f.mapper.Close(), f.tree.Root.Close()) }

// Root is the physical path of the directory that is served. It is for the operator, not for a model.
func (f *FileSystem) Root() string { return f.tree.Root.Path() }

// Tools are the tools by their names without a prefix, sorted.
func (f *FileSystem) Tools() []*toolkit.Tool {
	tools := []*toolkit.Tool{
		f.deleteTool(), f.editTool(), f.globTool(), f.grepTool(f.dialect), f.listTool(), f.mapTool(f.mapper),
		f.mkdirTool(), f.moveTool(), f.readTool(), f.statTool(), f.writeTool(),
	}
	if f.opt.ReadOnly {
		tools = slices.DeleteFunc(tools, func(t *toolkit.Tool) bool { return !t.ReadOnly })
	}
	return tools
}

// session gives a call the tracker that the embedding host has handed in.
func (f *FileSystem) session(ctx context.Context) context.Context {
	if f.opt.ReadState == nil {
		return ctx
	}
	return readstate.With(ctx, f.opt.ReadState)
}

// pathParam is the one location of most tools.
func pathParam(describe string) toolkit.Param {
	return toolkit.Param{Name: "path", Type: "string", Description: describe, Required: true}
}

// pathHere is the location of tools that work on the whole root when none is named.
func pathHere(describe string) toolkit.Param {
	return toolkit.Param{Name: "path", Type: "string", Description: describe, Default: "."}
}
