package fsmcp

import (
	"context"
	"errors"
	"io"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/revision"
	"lookfirst/fsmcp/textfile"
	"lookfirst/fsmcp/toolkit"
	"lookfirst/readstate"
)

// maxWholeRead is the largest file that is read whole, in bytes (D27). A window streams and has no such limit.
const maxWholeRead = 32 << 20

func (f *FileSystem) readTool() *toolkit.Tool {
	one := int64(1)
	return &toolkit.Tool{
		Name: "read",
		Description: "Read a UTF-8 text file. Without offset and limit the answer is the file's exact text, which edit matches. " +
			"With either, the answer is a view of some lines, each after its number and a tab (strip both before quoting a line to edit), " +
			"with a last line that says where the window sits. Use a window for long files.",
		Params: []toolkit.Param{
			pathParam("The file, relative to the root."),
			{Name: "offset", Type: "integer", Min: &one, Description: "First line of a window, counted from 1."},
			{Name: "limit", Type: "integer", Min: &one, Description: "Most lines in the window; to the end if left out."},
		},
		ReadOnly: true,
		Handle:   f.read,
	}
}

func (f *FileSystem) read(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	release, err := f.tree.Observe(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	path := a.String("path")
	file, err := f.tree.Root.Open("path", path)
	if err != nil {
		return nil, f.missing(path, err)
	}
	defer file.Close()
	r := f.tree.Hasher.NewReader(ctx, file)
	var text string
	var done func()
	if a.Has("offset") || a.Has("limit") {
		text, err = readWindow(path, r, max(1, a.Int("offset")), a.Int("limit"))
	} else {
		text, done, err = f.readWhole(path, r, file.Info().Size)
	}
	if err != nil {
		return nil, err
	}
	named := r.Revision()
	readstate.From(f.session(ctx)).Saw(file.Physical(), named.Token)
	return &toolkit.Answer{Text: text, Revisions: f.fileRevision(path, file, named), Done: done}, nil
}

// readWhole gives the text, and what takes its memory back where that is worth it.
func (f *FileSystem) readWhole(path string, r io.Reader, size int64) (text string, done func(), err error) {
	if size > maxWholeRead {
		return "", nil, tooLong(path, size)
	}
	b, err := readInto(f.whole.take(size), r, maxWholeRead)
	if err != nil {
		return "", nil, confine.Explain(path, err)
	}
	if len(b) > maxWholeRead {
		return "", nil, tooLong(path, int64(len(b)))
	}
	t, err := textfile.Decode(b)
	if err != nil {
		return "", nil, notText(path, err)
	}
	return t.String(), f.whole.giveBack(b), nil
}

func readWindow(path string, r io.Reader, offset, limit int64) (string, error) {
	w, err := textfile.ReadWindow(r, offset, limit)
	var long *textfile.LongLineError
	switch {
	case errors.Is(err, textfile.ErrNotText):
		return "", notText(path, err)
	case errors.As(err, &long):
		return "", toolkit.Refuse("%s: %w", confine.Quote(path), err)
	case err != nil:
		return "", confine.Explain(path, err)
	}
	return w.Answer(path), nil
}

// fileRevision is the revision of the very bytes that were read.
func (f *FileSystem) fileRevision(path string, file *confine.File, rev revision.Revision) revision.Set {
	if file.Linked {
		rev = f.throughLink(path, rev)
	}
	return revision.Set{"path": rev}
}

func (f *FileSystem) throughLink(path string, named revision.Revision) revision.Revision {
	loc, err := f.tree.Root.Resolve("path", path)
	if err != nil {
		return revision.Revision{State: revision.Unknown}
	}
	defer loc.Close()
	return f.tree.Hasher.Through(loc, named)
}

// readAll reads up to one byte more than limit, so that a file that has grown meanwhile is noticed and not held.
func readAll(r io.Reader, size, limit int64) ([]byte, error) {
	return readInto(make([]byte, 0, min(size, limit)+1), r, limit)
}

// readInto is readAll into b, as long as that has room.
func readInto(b []byte, r io.Reader, limit int64) ([]byte, error) {
	for int64(len(b)) <= limit {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

func tooLong(path string, size int64) error {
	return toolkit.Refuse("%s has %d bytes, and a whole read takes at most %d; use offset and limit", confine.Quote(path), size, maxWholeRead)
}

func notText(path string, err error) error {
	return toolkit.Refuse("%s is %w", confine.Quote(path), err)
}
