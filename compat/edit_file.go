package compat

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/toolkit"
	"lookfirst/readstate"
)

func (f *FileTools) editFileTool() *toolkit.Tool {
	return &toolkit.Tool{
		Name: "edit_file",
		Description: "Replace one exact run of text in a file that was read with read_file. old_string must be in the file exactly once, with " +
			"its white space and indentation and without the line numbers of read_file, unless replace_all is true. " +
			"An empty old_string creates the file.",
		Params: append([]toolkit.Param{
			{Name: "path", Type: "string", Description: "The file, absolute or relative to the working directory.", Required: true},
		}, editParams()...),
		Handle: f.editFile,
	}
}

func editParams() []toolkit.Param {
	return []toolkit.Param{
		{Name: "old_string", Type: "string", Description: "The text to replace.", Required: true},
		{Name: "new_string", Type: "string", Description: "The text to put in its place; it must differ.", Required: true},
		{Name: "replace_all", Type: "boolean", Description: "Replace every occurrence of old_string.", Default: false},
	}
}

func (f *FileTools) editFile(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	e := editOf(a)
	if e.old == e.new {
		return nil, toolkit.Refuse(textSame)
	}
	p, err := f.place("edit_file", a.String("path"))
	if err != nil {
		return nil, err
	}
	done := textUpdated(p.path)
	if e.all && e.old != "" {
		done = textUpdatedAll(p.path)
	}
	return p.edit(ctx, a, []edit{e}, done)
}

// edit is one replacement.
type edit struct {
	old, new string
	all      bool
}

func editOf(a *toolkit.Args) edit {
	return edit{old: a.String("old_string"), new: a.String("new_string"), all: a.Bool("replace_all")}
}

// edit makes the edits one after the other on the content in memory, and stores it when all of them apply.
func (p *place) edit(ctx context.Context, a *toolkit.Args, edits []edit, done string) (*toolkit.Answer, error) {
	return p.change(ctx, change{
		expected: a.Expected(),
		check:    func(_ context.Context, loc *confine.Location) error { return p.mayEdit(loc, edits[0]) },
		act: func(ctx context.Context, loc *confine.Location) (string, error) {
			d, err := p.load(loc)
			if err != nil {
				return "", err
			}
			if err := d.apply(ctx, edits); err != nil {
				return "", err
			}
			note, err := p.store(ctx, loc, d.encode())
			return done + note, err
		},
	})
}

// mayEdit refuses what no state of the file's content would make right.
func (p *place) mayEdit(loc *confine.Location, first edit) error {
	if loc.Missing() > 0 && first.old == "" {
		return p.mayWrite(loc)
	}
	if err := p.file(loc, "read"); err != nil {
		return err
	}
	if first.old == "" {
		d, err := p.load(loc)
		if err != nil {
			return err
		}
		if !d.isBlank() {
			return toolkit.Refuse(textExists)
		}
	}
	if strings.EqualFold(filepath.Ext(p.path), ".ipynb") {
		return toolkit.Refuse(textNotebook)
	}
	return nil
}

// load reads the file at a location; one that is missing is empty. It has to be the very file that was found there, of
// which the tracker has been asked, and which is then replaced.
func (p *place) load(loc *confine.Location) (*document, error) {
	if loc.Missing() > 0 {
		return &document{}, nil
	}
	file, err := loc.Open()
	if err != nil {
		return nil, p.explain(err)
	}
	defer file.Close()
	info := file.Info()
	switch {
	case !info.Same(loc.Info):
		return nil, readstate.ErrChanged
	case info.Size > maxFile:
		return nil, toolkit.Refuse(textFileLarge, size(info.Size), size(maxFile))
	}
	b := make([]byte, info.Size)
	if _, err := io.ReadFull(file, b); errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) && len(b) > 0 {
		return nil, readstate.ErrChanged // It was cut short meanwhile.
	} else if err != nil && !errors.Is(err, io.EOF) {
		return nil, p.explain(confine.Explain(p.path, err))
	}
	text, encoding, err := decodeAll(b)
	if err != nil {
		return nil, textBinary(p.extension())
	}
	return &document{encoding: encoding, text: text}, nil
}

// extension is that of the path, as texts show it.
func (p *place) extension() string { return strings.ToLower(filepath.Ext(p.path)) }

// apply makes the edits in their order, each on what the one before has left.
func (d *document) apply(ctx context.Context, edits []edit) error {
	first := *d
	for _, e := range edits {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.applyOne(e, &first); err != nil {
			return err
		}
	}
	return nil
}

// applyOne makes one edit. The first document is what the file holds, by which it is known that another edit has taken
// away the text of this one.
func (d *document) applyOne(e edit, first *document) error {
	switch {
	case e.old == e.new:
		return toolkit.Refuse(textSame)
	case e.old == "" && !d.isBlank():
		return toolkit.Refuse(textExists)
	case e.old == "":
		d.text = []byte(e.new)
		return nil
	}
	m := d.find(e.old)
	switch n := m.count; {
	case n == 0 && first.find(e.old).count > 0:
		return toolkit.Refuse(textEditedOut)
	case n == 0:
		return textNotFound(e.old)
	case n > 1 && !e.all:
		return textSeveral(n, e.old)
	}
	if err := d.replace(m, e.new); err != nil {
		return toolkit.Refuse("The result would have more than %s, which is more than an edited file may have.", size(maxFile))
	}
	return nil
}
