package fsmcp

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/mutation"
	"lookfirst/fsmcp/revision"
	"lookfirst/fsmcp/textfile"
	"lookfirst/fsmcp/toolkit"
)

func (f *FileSystem) writeTool() *toolkit.Tool {
	return &toolkit.Tool{
		Name: "write",
		Description: "Write a whole UTF-8 text file: create it, or replace all that is in it. The bytes of content are stored as they are, " +
			"with no line end added. The parent directory must exist (mkdir makes it). To change a part of a file use edit.",
		Params: []toolkit.Param{
			pathParam("The file, relative to the root."),
			{Name: "content", Type: "string", Description: "The file's new text, all of it.", Required: true},
		},
		Handle: f.write,
	}
}

func (f *FileSystem) write(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	path, content := a.String("path"), []byte(a.String("content"))
	var stored textfile.Stored
	return f.change(ctx, mutation.Change{
		Places:   []mutation.Place{{Key: "path", Arg: path}},
		Expected: a.Expected(),
		Guard:    f.opt.ReadBeforeWrite,
		Effect:   mutation.Writes,
		Landed: func() mutation.Landed {
			return mutation.Landed{Revision: revision.OfContent(content), Info: stored.Info}
		},
		Act: func(ctx context.Context, at []*confine.Location) (_ string, err error) {
			note := formNote(at[0], content)
			opt := textfile.StoreOptions{Sync: !f.opt.NoSync}
			if f.opt.ReadBeforeWrite || a.Expected() != nil {
				// The file that was compared is the one that is replaced.
				opt.Before = &at[0].Info
			}
			if stored, err = textfile.Store(ctx, at[0], content, opt); err != nil {
				return "", err
			}
			return fmt.Sprintf("Wrote %d bytes to %s", len(content), confine.Quote(path)) + note + storeNote(stored), nil
		},
	})
}

// storeNote is what the store has to say, as it follows a sentence.
func storeNote(s textfile.Stored) string {
	if s.Note == "" {
		return ""
	}
	return " " + s.Note
}

// change makes a change of the pack's and words its answer.
func (f *FileSystem) change(ctx context.Context, c mutation.Change) (*toolkit.Answer, error) {
	text, revisions, err := f.tree.Do(f.session(ctx), c)
	if err != nil {
		return nil, err
	}
	return &toolkit.Answer{Text: text, Revisions: revisions}, nil
}

// formHead is how much of a file is looked at for its byte order mark and its line ends, in bytes.
const formHead = 64 << 10

// formNote says when new content does away with the byte order mark or the line ends of the file that it replaces: the
// content is stored as it came, and whoever wrote it may not have seen them.
func formNote(loc *confine.Location, content []byte) string {
	file, err := loc.Open()
	if err != nil {
		return "" // There is no file, or the store will say what is wrong with it.
	}
	defer file.Close()
	old, err := readAll(file, file.Info().Size, formHead)
	if err != nil && err != io.EOF {
		return ""
	}
	mark := []byte("\ufeff")
	switch {
	case bytes.HasPrefix(old, mark) && !bytes.HasPrefix(content, mark):
		return " (the file had a byte order mark; the new text has none)"
	case allCRLF(old) && bytes.ContainsRune(content, '\n') && !bytes.Contains(content, []byte("\r\n")):
		return ` (the file's lines ended in \r\n; those of the new text end in \n)`
	}
	return ""
}

// allCRLF says whether there are line ends and all are \r\n.
func allCRLF(b []byte) bool {
	n := bytes.Count(b, []byte("\n"))
	return n > 0 && n == bytes.Count(b, []byte("\r\n"))
}
