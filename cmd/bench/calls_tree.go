package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tree is what the servers serve.
type tree struct {
	root         string
	small, large []file
	names        int // in the directory names
}

// file is one of its files.
type file struct{ path, text string }

func makeTree(root string) (tree, error) {
	t := tree{root: root, names: 1000}
	for i := range 64 {
		t.small = append(t.small, file{fmt.Sprintf("small/%02d.go", i), source(i, 900)})
	}
	for i := range 8 {
		t.large = append(t.large, file{fmt.Sprintf("large/%d.go", i), source(i, 1<<20)})
	}
	all := append(append([]file{}, t.small...), t.large...)
	for i := range t.names {
		all = append(all, file{fmt.Sprintf("names/file-%04d.go", i), source(i, 200)})
	}
	for _, name := range []string{"small", "large", "names"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o700); err != nil {
			return t, err
		}
	}
	for _, f := range all {
		if err := os.WriteFile(filepath.Join(root, f.path), []byte(f.text), 0o600); err != nil {
			return t, err
		}
	}
	return t, nil
}

// source looks like a program: short lines, tabs, quotes, a rare character beyond ASCII. No two files are equal.
func source(number, size int) string {
	const function = "func (s *server) handle%d(ctx context.Context, r *request) error {\n\tif r.name == \"\" {\n" +
		"\t\treturn fmt.Errorf(\"a name is missing in <%%s>\", r.where) // été\n\t}\n\treturn s.next(ctx, r)\n}\n\n"
	one := fmt.Sprintf(function, 10_000+number)
	text := strings.Repeat(one, size/len(one)+1)
	return text[:strings.LastIndex(text[:size], "\n")+1]
}

// dialect is how a server's tools are called.
type dialect struct {
	read, list, edit string
	arguments        func(path, old, new string) any // of an edit
	root             string                          // where paths must be absolute
	revisions        bool                            // answers name revisions
}

func ourDialect() dialect {
	return dialect{read: "fs_read", list: "fs_list", edit: "fs_edit", revisions: true, arguments: func(path, old, new string) any {
		return map[string]any{"path": path, "old-string": old, "new-string": new}
	}}
}

func npmDialect(root string) dialect {
	return dialect{read: "read_text_file", list: "list_directory", edit: "edit_file", root: root, arguments: func(path, old, new string) any {
		return map[string]any{"path": path, "edits": []any{map[string]any{"oldText": old, "newText": new}}}
	}}
}

func (d *dialect) call(tool string, arguments any, check func(result) error) call {
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		panic(err) // It holds strings alone.
	}
	return call{string(params), func(line []byte) error {
		r, err := decode(line)
		if err != nil {
			return err
		}
		if d.revisions && !strings.HasPrefix(r.revision, "sha256-v1:") {
			return errors.New("it has no revision")
		}
		return check(r)
	}}
}

func (d *dialect) at(path string) string {
	if d.root == "" {
		return path
	}
	return filepath.Join(d.root, path)
}

// read gives calls that read the files in turn.
func (s *server) read(files []file) func(turn int) call {
	d := &s.dialect
	calls := make([]call, len(files))
	for i, f := range files {
		calls[i] = d.call(d.read, map[string]any{"path": d.at(f.path)}, func(r result) error {
			if r.text != f.text {
				return errors.New("that is not the file")
			}
			return nil
		})
	}
	return func(turn int) call { return calls[turn%len(calls)] }
}

// list gives calls that list the directory of many names.
func (s *server) list(t tree) func(turn int) call {
	d := &s.dialect
	c := d.call(d.list, map[string]any{"path": d.at("names")}, func(r result) error {
		if n := strings.Count(r.text, "file-"); n != t.names {
			return fmt.Errorf("it names %d files and not %d", n, t.names)
		}
		return nil
	})
	return func(int) call { return c }
}

// edit gives calls that change a file back and forth. Each server has one of its own.
func (s *server) edit(t tree) func(turn int) call {
	d := &s.dialect
	f := s.edited(t)
	edit := func(from, to string) call {
		return d.call(d.edit, d.arguments(d.at(f.path), from, to), func(result) error {
			now, err := os.ReadFile(filepath.Join(t.root, f.path))
			if err == nil && string(now) != strings.TrimSuffix(f.text, here)+to {
				err = errors.New("the file was not edited")
			}
			return err
		})
	}
	calls := []call{edit(here, away), edit(away, here)}
	n := 0 // A slice has an even number of calls, and begins where the last has begun.
	return func(int) call {
		n++
		return calls[(n-1)%len(calls)]
	}
}

const here, away = "// the line is here\n", "// the line is away\n"

// edited is the file that a server edits.
func (s *server) edited(t tree) file {
	return file{"edited by " + s.name + ".go", t.small[0].text + here}
}

// prepare makes that file and has the server read it, as some want it before they change a file.
func (s *server) prepare(t tree) error {
	f := s.edited(t)
	if err := os.WriteFile(filepath.Join(t.root, f.path), []byte(f.text), 0o600); err != nil {
		return err
	}
	return s.learn(s.read([]file{f})(0))
}
