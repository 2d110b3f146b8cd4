// Package compat answers as the file tools of Claude Code do: an answer is, to the byte, that of the tool it stands for.
//
// Models have learned list_files, read_file, write_file, edit_file and multi_edit with those answers. [New] makes the
// tools; their texts stand together in texts.go, and what is under them is the same as under the other pack: confine
// opens, revision compares, mutation changes, textfile stores, readstate remembers what the session has seen.
//
// Invariant: no argument leads outside the allowed directories unless Confine says so, and an existing file is changed only
// if the session has seen it as it is, or the call names its revision (D7).
//
// Not promised: that answers hold no path of the host. The tools that these stand for show absolute paths, and take them
// (D13); but what is said of a place outside never depends on what is there.
//
// A FileTools may be used from several goroutines, and several may serve one directory.
package compat

import (
	"context"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/mutation"
	"lookfirst/fsmcp/revision"
	"lookfirst/fsmcp/toolkit"
	"lookfirst/readstate"
)

// Options are the settings of a [FileTools]. Those that are functions are asked at every call, from any goroutine.
type Options struct {
	// Root is where relative paths start, and the directory that paths are confined to. If empty, the process directory.
	Root string
	// ExtraRoots are more directories that may be reached. One that does not exist is left out. If nil, there are none.
	ExtraRoots func() []string
	// Confine says whether paths are confined to Root and ExtraRoots. If nil, they are. Without it any file of the process's
	// user can be reached, so somebody has to be asked in front of the tools.
	Confine func() bool
	// ReadOnly leaves out the tools that change something.
	ReadOnly bool
	// SeesImages and ReadsPDF say whether the model takes an image, or a PDF, in an answer. If nil, it does.
	SeesImages, ReadsPDF func() bool
	// ReadState is what the session has seen. If nil, each call goes by the tracker in its context, and where there is
	// none, nothing is known to have been read (D8).
	ReadState *readstate.Tracker
	// PDFReader is a command that calls [ServePDF]: a process of its own, because a hostile file can make the parser
	// run without end or take all memory. It is used where pdftotext is not installed. If empty, there is none.
	PDFReader []string
	// NoSync spares the fsync of what is written: after a power cut a file may then be old, new or empty.
	NoSync bool
	// Warn is told, once, when the lock between processes cannot be used. If nil, nobody is.
	Warn func(string)
	// LockDir is where the lock between processes lies; if empty, the user's cache directory.
	LockDir string
}

// FileTools is the five tools with their settings.
type FileTools struct {
	opt    Options
	roots  *confine.Roots
	hasher *revision.Hasher
	probe  probe
	heavy  chan struct{} // a token for each image or PDF that may be worked on at a time
}

// heavyCalls is how many images and PDFs are unpacked at a time. Each may take some hundred megabytes.
const heavyCalls = 2

// New opens the root. Close the FileTools when it is done with.
func New(opt Options) (*FileTools, error) {
	if opt.Root == "" {
		opt.Root = "."
	}
	f := &FileTools{
		opt:    opt,
		roots:  confine.NewRoots(),
		hasher: revision.NewHasher(revision.Options{}),
		heavy:  make(chan struct{}, heavyCalls),
	}
	if _, err := f.reach(); err != nil {
		return nil, err
	}
	return f, nil
}

// Close gives back the directories. No call may be running.
func (f *FileTools) Close() error { return f.roots.Close() }

// Rescan forgets where pdftotext was found.
func (f *FileTools) Rescan() { f.probe.forget() }

// Roots are the physical paths of the directories that can be reached now, the root first. They are for the operator.
func (f *FileTools) Roots() ([]string, error) {
	reach, err := f.reach()
	if err != nil {
		return nil, err
	}
	return reach.Allowed(), nil
}

// Tools are the tools by their names, sorted.
func (f *FileTools) Tools() []*toolkit.Tool {
	var tools []*toolkit.Tool
	for _, t := range []*toolkit.Tool{f.editFileTool(), f.listFilesTool(), f.multiEditTool(), f.readFileTool(), f.writeFileTool()} {
		if t.ReadOnly || !f.opt.ReadOnly {
			t.Faults = func(faults []toolkit.Fault) string { return argumentFaults(t.Name, faults) }
			tools = append(tools, t)
		}
	}
	return tools
}

// reach asks the settings what the next call may reach.
func (f *FileTools) reach() (*confine.Reach, error) {
	var extra []string
	if f.opt.ExtraRoots != nil {
		extra = f.opt.ExtraRoots()
	}
	return f.roots.Reach(f.opt.Root, extra, !isOn(f.opt.Confine))
}

// isOn asks a setting that is on unless somebody says otherwise.
func isOn(setting func() bool) bool { return setting == nil || setting() }

// tree is what is changed and observed below one root.
func (f *FileTools) tree(root *confine.Root) *mutation.Tree {
	return &mutation.Tree{
		Root:   root,
		Hasher: f.hasher,
		Lock:   mutation.Options{Dir: f.opt.LockDir, Warn: f.opt.Warn},
	}
}

// session gives a call the tracker that the embedding host has handed in.
func (f *FileTools) session(ctx context.Context) context.Context {
	if f.opt.ReadState == nil {
		return ctx
	}
	return readstate.With(ctx, f.opt.ReadState)
}

// begin waits for room for an image or a PDF.
func (f *FileTools) begin(ctx context.Context) (end func(), err error) {
	select {
	case f.heavy <- struct{}{}:
		return func() { <-f.heavy }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
