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

func (f *FileSystem) deleteTool() *toolkit.Tool {
	return &toolkit.Tool{
		Name: "delete",
		Description: "Delete a file, a symbolic link (never what it names) or an empty directory. With recursive true, a directory and " +
			"everything below it, for good: there is no undo.",
		Params: []toolkit.Param{
			pathParam("The file or directory, relative to the root."),
			{Name: "recursive", Type: "boolean", Description: "Delete a directory with everything below it.", Default: false},
		},
		Handle: f.delete,
	}
}

func (f *FileSystem) delete(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	path := a.String("path")
	return f.change(ctx, mutation.Change{
		Places:   []mutation.Place{{Key: "path", Arg: path, Entry: true}},
		Expected: a.Expected(),
		Effect:   mutation.Deletes,
		Act: func(ctx context.Context, at []*confine.Location) (string, error) {
			loc := at[0]
			switch {
			case loc.IsRoot():
				return "", toolkit.Refuse("the root itself cannot be deleted; name something below it")
			case loc.Missing() > 0:
				return "", f.missing(path, confine.Explain(path, fs.ErrNotExist))
			}
			return f.remove(ctx, loc, a.Bool("recursive"))
		},
	})
}

func (f *FileSystem) remove(ctx context.Context, loc *confine.Location, recursive bool) (string, error) {
	q, kind := confine.Quote(loc.Arg), loc.Info.Kind
	err := loc.Parent().Remove(loc.Name(), kind)
	switch {
	case err == nil && kind == confine.Directory:
		return "Deleted empty directory " + q, nil
	case err == nil && kind == confine.Link:
		return "Deleted symbolic link " + q, nil
	case err == nil:
		return "Deleted file " + q, nil
	case errors.Is(err, syscall.EBUSY):
		return "", isMount(loc.Arg)
	case kind != confine.Directory || !isNotEmpty(err):
		return "", confine.Explain(loc.Arg, err)
	case !recursive:
		return "", toolkit.Refuse("Directory %s is not empty; set recursive to true to delete it and everything below it", q)
	}
	if err := f.removeTree(ctx, loc); err != nil {
		return "", err
	}
	return fmt.Sprintf("Deleted directory %s and everything below it", q), nil
}

// isNotEmpty knows both answers that POSIX allows.
func isNotEmpty(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST)
}

// removeTree deletes a directory and all below it. A first walk looks for mounts, so that one stops the call before
// anything is gone; what cannot be deleted is left with the directories above it, and the first of it is reported.
func (f *FileSystem) removeTree(ctx context.Context, loc *confine.Location) error {
	dir, err := loc.Parent().OpenDirSameMount(loc.Name())
	if errors.Is(err, confine.ErrMount) {
		return isMount(loc.Arg)
	}
	if err != nil {
		return confine.Explain(loc.Arg, err)
	}
	defer dir.Close()
	err = dir.WalkOneMount(ctx, confine.FilesFirst, func(s *confine.Step) error {
		if errors.Is(s.Err, confine.ErrTooDeep) {
			return s.Err
		}
		return nil
	})
	if err != nil {
		return explainTree(loc.Arg, err)
	}
	var done int
	var first error
	err = dir.WalkOneMount(ctx, confine.Inside, func(s *confine.Step) error {
		f.tree.Hasher.ForgetInode(s.ID)
		switch err := s.Dir.Remove(s.Name, s.Kind); {
		case err == nil:
			done++
		case first == nil && !errors.Is(err, fs.ErrNotExist):
			first = confine.Explain(loc.Arg+"/"+s.Path(), err)
		}
		return nil
	})
	if err == nil && first == nil {
		first = confine.Explain(loc.Arg, loc.Parent().Remove(loc.Name(), confine.Directory))
	}
	if err != nil {
		first = explainTree(loc.Arg, err)
	}
	if first != nil && done > 0 {
		return toolkit.Refuse("%w (%d entries below %s were deleted before that)", first, done, confine.Quote(loc.Arg))
	}
	return first
}

func explainTree(arg string, err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return confine.Explain(arg, err)
	}
	where := arg + "/" + at.Path
	switch {
	case errors.Is(err, confine.ErrMount):
		return isMount(where)
	case errors.Is(err, confine.ErrTooDeep):
		return toolkit.Refuse("%s is nested too deeply", confine.Quote(arg))
	}
	return confine.Explain(where, at.Err)
}

func isMount(arg string) error {
	return toolkit.Refuse("%s is a mount point; unmount it or delete around it", confine.Quote(arg))
}
