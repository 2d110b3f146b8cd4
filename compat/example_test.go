package compat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"lookfirst/compat"
	"lookfirst/readstate"
)

// A host serves a directory to one session, and is told to look first.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("one\ntwo"), 0o666); err != nil {
		panic(err)
	}
	tools, err := compat.New(compat.Options{Root: dir})
	if err != nil {
		panic(err)
	}
	defer tools.Close()
	ctx := readstate.With(context.Background(), readstate.New())
	call := func(name, arguments string) {
		for _, t := range tools.Tools() {
			if t.Name == name {
				fmt.Println(t.Call(ctx, json.RawMessage(arguments)).Text)
			}
		}
	}
	call("edit_file", `{"path":"notes.txt","old_string":"two","new_string":"three"}`)
	call("read_file", `{"path":"notes.txt"}`)
	call("edit_file", `{"path":"notes.txt","old_string":"two","new_string":"three"}`)
	// Output:
	// File has not been read yet. Read it first before writing to it.
	// 1	one
	// 2	two
	// The file notes.txt has been updated successfully. (file state is current in your context — no need to Read it back)
}
