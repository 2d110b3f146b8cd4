package fsmcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/mutation"
	"lookfirst/fsmcp/toolkit"
)

func (f *FileSystem) mkdirTool() *toolkit.Tool {
	return &toolkit.Tool{
		Name: "mkdir",
		Description: "Create a directory, and the directories above it that are missing. " +
			"One that exists already is no error, so a repeated call does no harm.",
		Params: []toolkit.Param{pathParam("The directory, relative to the root.")},
		Handle: f.mkdir,
	}
}

func (f *FileSystem) mkdir(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	path := a.String("path")
	return f.change(ctx, mutation.Change{
		Places:   []mutation.Place{{Key: "path", Arg: path}},
		Expected: a.Expected(),
		Act: func(_ context.Context, at []*confine.Location) (string, error) {
			loc := at[0]
			switch loc.Info.Kind {
			case confine.Absent:
			case confine.Directory:
				return fmt.Sprintf("Directory %s already exists", confine.Quote(path)), nil
			default:
				return "", toolkit.Refuse("%s exists and is not a directory (it is a %s)", confine.Quote(path), loc.Info.Kind)
			}
			if err := makeAll(loc.Parent(), loc.Tail()); err != nil {
				return "", confine.Explain(path, err)
			}
			return fmt.Sprintf("Created directory %s", confine.Quote(path)), nil
		},
	})
}

// makeAll makes the directories names[0], names[0]/names[1], … in dir, or none of them. One that somebody else has made
// meanwhile is as good as ours; OpenDir refuses what has appeared in its place.
func makeAll(dir *confine.Dir, names []string) error {
	if len(names) == 0 {
		return nil
	}
	err := dir.Mkdir(names[0])
	ours := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	child, err := dir.OpenDir(names[0])
	if err == nil {
		err = makeAll(child, names[1:])
		child.Close()
	}
	if err != nil && ours {
		dir.Remove(names[0], confine.Directory)
	}
	return err
}
