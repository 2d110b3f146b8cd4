package compat

import (
	"context"
	"errors"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/toolkit"
)

func (f *FileTools) writeFileTool() *toolkit.Tool {
	return &toolkit.Tool{
		Name: "write_file",
		Description: "Write a whole file: create it, with the directories above it, or replace all that is in it. " +
			"An existing file must have been read first with read_file. To change a part of a file use edit_file.",
		Params: []toolkit.Param{
			{Name: "path", Type: "string", Description: "The file, absolute or relative to the working directory.", Required: true},
			{Name: "content", Type: "string", Description: "The file's new content, all of it.", Required: true},
		},
		Handle: f.writeFile,
	}
}

func (f *FileTools) writeFile(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	content := a.String("content")
	p, err := f.place("write_file", a.String("path"))
	if err != nil {
		return nil, err
	}
	return p.change(ctx, change{
		expected: a.Expected(),
		check:    func(_ context.Context, loc *confine.Location) error { return p.mayWrite(loc) },
		act: func(ctx context.Context, loc *confine.Location) (string, error) {
			text := textUpdated(p.path)
			if loc.Missing() > 0 {
				text = textCreated(p.path)
			}
			encoding, err := encodingAt(loc)
			if err != nil {
				return "", p.explain(err)
			}
			note, err := p.store(ctx, loc, encoding.encode([]byte(content)))
			return text + note, err
		},
	})
}

// mayWrite refuses what is there and is no file, and a path that ends as a directory's does.
func (p *place) mayWrite(loc *confine.Location) error {
	switch {
	case loc.Missing() == 0:
		return p.file(loc, "open")
	case loc.SaysDirectory():
		return textIsDirectory("open", p.abs())
	}
	return nil
}

// encodingAt is how a new content of the file is to be encoded: as UTF-16 where the old one is (D18), else as it came.
func encodingAt(loc *confine.Location) (encoding, error) {
	if loc.Missing() > 0 {
		return plain, nil
	}
	file, err := loc.Open()
	if errors.Is(err, confine.ErrPermission) {
		return plain, nil // What cannot be read tells no encoding, and the store will say what is wrong with it.
	}
	if err != nil {
		return plain, err
	}
	defer file.Close()
	var mark [2]byte
	n, _ := file.Read(mark[:]) // The same.
	if e := encodingOf(mark[:n]); e.isUTF16() {
		return e, nil
	}
	return plain, nil
}
