package fsmcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/mutation"
	"lookfirst/fsmcp/revision"
	"lookfirst/fsmcp/textfile"
	"lookfirst/fsmcp/toolkit"
)

// maxEdit is the largest file that is edited, in bytes (D27).
const maxEdit = 64 << 20

func (f *FileSystem) editTool() *toolkit.Tool {
	return &toolkit.Tool{
		Name: "edit",
		Description: "Replace one exact run of text in a UTF-8 file; every other byte stays. old-string must be in the file exactly once, " +
			"with its white space, indentation and line ends (quote more lines to make it unique), unless replace-all is true. " +
			"Read the file first. An empty new-string deletes the match.",
		Params: []toolkit.Param{
			pathParam("The file, relative to the root."),
			{Name: "old-string", Type: "string", Description: "The text to replace, as read shows it without offset and limit.", Required: true},
			{Name: "new-string", Type: "string", Description: "The text to put in its place.", Required: true},
			{Name: "replace-all", Type: "boolean", Description: "Replace every occurrence instead of the only one.", Default: false},
		},
		Handle: f.edit,
	}
}

func (f *FileSystem) edit(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	e := edit{path: a.String("path"), old: a.String("old-string"), new: a.String("new-string"), all: a.Bool("replace-all"), sync: !f.opt.NoSync}
	var landed mutation.Landed
	return f.change(ctx, mutation.Change{
		Places:   []mutation.Place{{Key: "path", Arg: e.path}},
		Expected: a.Expected(),
		Guard:    f.opt.ReadBeforeWrite,
		Effect:   mutation.Writes,
		Landed:   func() mutation.Landed { return landed },
		Act: func(ctx context.Context, at []*confine.Location) (text string, err error) {
			landed, text, err = e.apply(ctx, at[0])
			return text, f.missing(e.path, err)
		},
	})
}

// edit is one call of the tool.
type edit struct {
	path, old, new string
	all, sync      bool
}

// apply makes the edit, and gives what the file is now and what to say.
func (e edit) apply(ctx context.Context, loc *confine.Location) (landed mutation.Landed, said string, err error) {
	file, err := loc.Open()
	if err != nil {
		return landed, "", err
	}
	defer file.Close()
	text, err := e.load(file)
	if err != nil {
		return landed, "", err
	}
	edited, n, err := textfile.Replace(ctx, text, e.old, e.new, e.all)
	if err != nil {
		return landed, "", e.refuse(text, err)
	}
	// What was compared and read is what is replaced: Store looks again whether the file is still the one that was found.
	content := edited.Encode()
	stored, err := textfile.Store(ctx, loc, content, textfile.StoreOptions{Sync: e.sync, Before: &loc.Info})
	if err != nil {
		return landed, "", err
	}
	landed = mutation.Landed{Revision: revision.OfContent(content), Info: stored.Info}
	said = fmt.Sprintf("Replaced %s in %s; wrote %d bytes", occurrences(n), confine.Quote(e.path), len(content))
	return landed, said + endingsNote(text, e.new) + storeNote(stored), nil
}

func (e edit) load(file *confine.File) (textfile.Text, error) {
	size := file.Info().Size
	if size <= maxEdit {
		b, err := readAll(file, size, maxEdit)
		if err != nil {
			return textfile.Text{}, confine.Explain(e.path, err)
		}
		size = int64(len(b))
		if size <= maxEdit {
			text, err := textfile.Decode(b)
			if err != nil {
				return text, notText(e.path, err)
			}
			return text, nil
		}
	}
	return textfile.Text{}, toolkit.Refuse("%s has %d bytes, and an edit takes at most %d", confine.Quote(e.path), size, maxEdit)
}

// refuse words why the text could not be replaced. Nothing has been changed.
func (e edit) refuse(text textfile.Text, err error) error {
	q := confine.Quote(e.path)
	var several *textfile.AmbiguousError
	var large *textfile.TooLargeError
	switch {
	case errors.Is(err, textfile.ErrEmptyOld):
		return toolkit.Refuse("'old-string' is empty, which is a place and not a text; quote the text to replace, or use write for a whole file")
	case errors.Is(err, textfile.ErrSame):
		return toolkit.Refuse("'old-string' and 'new-string' are the same, so nothing would change; send the text that %s should have instead", q)
	case errors.Is(err, textfile.ErrInvalidUTF8):
		return toolkit.Refuse("'old-string' or 'new-string' is not valid UTF-8; send text")
	case errors.Is(err, textfile.ErrNotNFC):
		return toolkit.Refuse("%s is not in Unicode normalisation form NFC, and an edit would change bytes that it does not name; use write for the whole file", q)
	case errors.Is(err, textfile.ErrNotFound):
		return e.notFound(text)
	case errors.As(err, &several):
		return toolkit.Refuse("Found %s of 'old-string' in %s; quote more of the surrounding text to pick one out, or set replace-all to true", occurrences(several.Count), q)
	case errors.As(err, &large):
		return toolkit.Refuse("%s: %w", q, err)
	case errors.Is(err, textfile.ErrJoins):
		return toolkit.Refuse("'new-string' would join with the character beside it in %s and change it; quote that character in 'old-string' and 'new-string' too", q)
	}
	return err
}

func (e edit) notFound(text textfile.Text) error {
	sentence := fmt.Sprintf("'old-string' is not in %s, so nothing was changed", confine.Quote(e.path))
	if hint := textfile.Nearest(text, e.old, e.new); hint != "" {
		return toolkit.Refuse("%s. %s", sentence, hint)
	}
	return toolkit.Refuse("%s; read the file and quote what is there", sentence)
}

func occurrences(n int) string {
	if n == 1 {
		return "1 occurrence"
	}
	return fmt.Sprintf("%d occurrences", n)
}

// endingsNote says when the new text brought \n into a file whose lines end in \r\n: the bytes are stored as they came.
func endingsNote(old textfile.Text, new string) string {
	if strings.Count(new, "\n") == strings.Count(new, "\r\n") {
		return ""
	}
	if b := old.Encode(); !allCRLF(b[:min(len(b), formHead)]) {
		return ""
	}
	return ` (the file's lines end in \r\n; the new text brought in \n)`
}
