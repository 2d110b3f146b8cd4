package compat

import (
	"context"

	"lookfirst/fsmcp/toolkit"
)

func (f *FileTools) multiEditTool() *toolkit.Tool {
	return &toolkit.Tool{
		Name: "multi_edit",
		Description: "Make several edits to one file that was read with read_file, as edit_file makes one: one after the other, each on what the " +
			"one before has left. The file is written only when all of them apply.",
		Params: []toolkit.Param{
			{Name: "path", Type: "string", Description: "The file, absolute or relative to the working directory.", Required: true},
			{Name: "edits", Type: "array", Description: "The edits, in order.", Required: true, Items: editParams()},
		},
		Handle: f.multiEdit,
	}
}

func (f *FileTools) multiEdit(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	items := a.Items("edits")
	if len(items) == 0 {
		return nil, toolkit.Refuse("%s", argumentFault("multi_edit", textNoEdits))
	}
	edits := make([]edit, len(items))
	for i, item := range items {
		edits[i] = editOf(item)
	}
	p, err := f.place("multi_edit", a.String("path"))
	if err != nil {
		return nil, err
	}
	return p.edit(ctx, a, edits, textApplied(p.path, edits))
}
