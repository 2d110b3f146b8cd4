package fsmcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/mutation"
	"lookfirst/fsmcp/toolkit"
)

func (f *FileSystem) moveTool() *toolkit.Tool {
	return &toolkit.Tool{
		Name: "move",
		Description: "Rename a file or directory, or move it elsewhere below the root with all that is in it. Nothing is overwritten: " +
			"an existing 'to' is an error, and its parent directory must exist. A symbolic link is moved as the link.",
		Params: []toolkit.Param{
			{Name: "from", Type: "string", Description: "The file or directory to move, relative to the root.", Required: true},
			{Name: "to", Type: "string", Description: "Its new path, relative to the root; not the directory to put it in.", Required: true},
		},
		Handle: f.move,
	}
}

func (f *FileSystem) move(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	from, to := a.String("from"), a.String("to")
	return f.change(ctx, mutation.Change{
		Places:   []mutation.Place{{Key: "from", Arg: from, Entry: true}, {Key: "to", Arg: to, Entry: true}},
		Expected: a.Expected(),
		Effect:   mutation.Moves,
		Act: func(_ context.Context, at []*confine.Location) (string, error) {
			if err := f.mayMove(at[0], at[1]); err != nil {
				return "", err
			}
			if err := at[0].Parent().Rename(at[0].Name(), at[1].Parent(), at[1].Name()); err != nil {
				return "", explainMove(from, to, err)
			}
			return fmt.Sprintf("Moved %s to %s", confine.Quote(from), confine.Quote(to)), nil
		},
	})
}

func (f *FileSystem) mayMove(from, to *confine.Location) error {
	switch {
	case from.IsRoot():
		return toolkit.Refuse("the root itself cannot be moved; name something below it")
	case from.Missing() > 0:
		return f.missing(from.Arg, confine.Explain(from.Arg, fs.ErrNotExist))
	case to.Missing() == 0:
		return existsAlready(to.Arg)
	case to.Missing() > 1:
		return noParent(to.Arg)
	case to.SaysDirectory() && from.Info.Kind != confine.Directory:
		return toolkit.Refuse("%s ends in a slash, but %s is no directory; send the file's whole new path", confine.Quote(to.Arg), confine.Quote(from.Arg))
	}
	return nil
}

func explainMove(from, to string, err error) error {
	q := confine.Quote(from)
	switch {
	case errors.Is(err, fs.ErrExist):
		return existsAlready(to)
	case errors.Is(err, syscall.EINVAL):
		return toolkit.Refuse("%s cannot be moved into itself; choose a 'to' that is not below it", q)
	case errors.Is(err, syscall.EXDEV):
		return toolkit.Refuse("%s cannot be moved to %s, which is on another file system (%w); read it and write it there instead", q, confine.Quote(to), err)
	case errors.Is(err, fs.ErrPermission):
		return toolkit.Refuse("permission denied: %s cannot be moved to %s", q, confine.Quote(to))
	case errors.Is(err, syscall.EBUSY):
		return toolkit.Refuse("%s cannot be moved: something is mounted there", q)
	}
	return confine.Explain(from, err)
}

func existsAlready(to string) error {
	return toolkit.Refuse("%s already exists, and nothing is overwritten; delete it first, or choose another 'to'", confine.Quote(to))
}

func noParent(path string) error {
	return toolkit.Refuse("Parent directory of %s does not exist; create it with the mkdir tool first", confine.Quote(path))
}
