package compat

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/mutation"
	"lookfirst/fsmcp/revision"
	"lookfirst/fsmcp/textfile"
	"lookfirst/fsmcp/toolkit"
	"lookfirst/readstate"
)

// place is the path of one call, with what the call may reach.
type place struct {
	tools *FileTools
	path  string // as the caller wrote it
	reach *confine.Reach

	landed mutation.Landed // what has been put there
}

func (f *FileTools) place(tool, path string) (*place, error) {
	if path == "" {
		return nil, textEmptyPath(tool)
	}
	reach, err := f.reach()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, toolkit.Refuse("%w", confine.ErrRootGone)
	}
	if err != nil {
		return nil, err
	}
	return &place{tools: f, path: path, reach: reach}, nil
}

// abs is the absolute path that the argument says, by its text alone.
func (p *place) abs() string { return p.reach.Absolute(p.path) }

// resolve finds the location, following links. Errors are in the tools' words.
func (p *place) resolve() (*confine.Location, error) {
	loc, err := p.reach.Resolve(p.path)
	if err != nil {
		return nil, p.explain(err)
	}
	return loc, nil
}

// explain puts a refusal of the packages below into the tools' words, where they have any.
func (p *place) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, textfile.ErrTouched), errors.Is(err, textfile.ErrLinked):
		return err // The tools have no words for what has to be said.
	case errors.Is(err, confine.ErrOutside):
		return textOutside(p.abs(), p.reach.Allowed())
	case errors.Is(err, textfile.ErrConflict):
		return readstate.ErrChanged
	case errors.Is(err, confine.ErrNotExist):
		return p.missing()
	case errors.Is(err, confine.ErrPermission):
		return textDenied(p.abs())
	case errors.Is(err, confine.ErrNotDirectory):
		return textThroughFile(p.abs())
	}
	return err
}

// missing is the refusal of a file that is not there, with the name of one that differs in its extension alone.
func (p *place) missing() error {
	similar := ""
	if loc, err := p.reach.Resolve(p.path); err == nil {
		similar = similarTo(loc)
		loc.Close()
	}
	return textMissing(p.reach.Base(), similar)
}

// maxNearby bounds the names that are compared with one that does not exist.
const maxNearby = 20_000

func similarTo(loc *confine.Location) string {
	if loc.Missing() != 1 {
		return ""
	}
	entries, err := loc.Parent().Entries()
	if err != nil || len(entries) > maxNearby {
		return ""
	}
	var names []string
	for _, e := range entries {
		if stem(e.Name) == stem(loc.Name()) && e.Kind == confine.Regular && confine.IsPlain(e.Name) {
			names = append(names, e.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

// file refuses a location that is no regular file.
func (p *place) file(loc *confine.Location, doing string) error {
	switch loc.Info.Kind {
	case confine.Regular:
		return nil
	case confine.Absent:
		return p.missing()
	case confine.Directory:
		return textIsDirectory(doing, p.abs())
	}
	if doing == "open" {
		doing = "write"
	}
	return textDevice(doing, p.path)
}

// change is a call that writes the file at a place.
type change struct {
	expected map[string]string
	check    func(ctx context.Context, loc *confine.Location) error
	act      func(ctx context.Context, loc *confine.Location) (string, error)
}

// change makes a change under the lock of the root that holds the place.
func (p *place) change(ctx context.Context, c change) (*toolkit.Answer, error) {
	loc, err := p.resolve()
	if err != nil {
		return nil, err
	}
	root := loc.Root()
	loc.Close()
	text, revisions, err := p.tools.tree(root).Do(p.tools.session(ctx), mutation.Change{
		Places:   []mutation.Place{{Key: "path", Arg: p.path}},
		Expected: c.expected,
		Guard:    true,
		Effect:   mutation.Writes,
		Landed:   func() mutation.Landed { return p.landed },
		Locate: func(mutation.Place) (*confine.Location, error) {
			loc, err := p.resolve()
			if err == nil && loc.Root() != root {
				// A link was changed meanwhile, and this lock is not that of the place to which it leads now.
				loc.Close()
				return nil, readstate.ErrChanged
			}
			return loc, err
		},
		Check: func(ctx context.Context, at []*confine.Location) error { return c.check(ctx, at[0]) },
		Act:   func(ctx context.Context, at []*confine.Location) (string, error) { return c.act(ctx, at[0]) },
	})
	if err != nil {
		return nil, err
	}
	return &toolkit.Answer{Text: text, Revisions: revisions}, nil
}

// store makes content the file at the location, and the directories on the way to it. The note is what the caller should
// be told beside the answer, which is rare.
func (p *place) store(ctx context.Context, loc *confine.Location, content []byte) (note string, err error) {
	opt := textfile.StoreOptions{Sync: !p.tools.opt.NoSync, Before: &loc.Info}
	if loc.Missing() > 1 {
		tail := loc.Tail()
		end, err := loc.Parent().MkdirAll(tail[:len(tail)-1])
		if err != nil {
			return "", p.explain(confine.Explain(p.path, err))
		}
		kept := false
		defer func() { end(kept) }()
		if loc, err = p.resolve(); err != nil {
			return "", err
		}
		defer loc.Close()
		note, err = p.put(ctx, loc, content, opt)
		kept = err == nil
		return note, err
	}
	return p.put(ctx, loc, content, opt)
}

func (p *place) put(ctx context.Context, loc *confine.Location, content []byte, opt textfile.StoreOptions) (string, error) {
	// The bytes are hashed while they are written: for a large file that is a third of the time.
	hashed := make(chan revision.Revision, 1)
	go func() { hashed <- revision.OfContent(content) }()
	stored, err := textfile.Store(ctx, loc, content, opt)
	p.landed = mutation.Landed{Revision: <-hashed, Info: stored.Info}
	if err != nil {
		return "", p.explain(err)
	}
	if stored.Note == "" {
		return "", nil
	}
	return " " + strings.TrimSpace(stored.Note), nil
}
