package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is one Go file of the module that is no test.
type source struct {
	name string // relative to the module, with slashes
	ast  *ast.File
	pos  *token.FileSet
}

func (s *source) dir() string { return path.Dir(s.name) }

// uses calls found for every selector on an imported package: os.Open is ("os", "Open").
func (s *source) uses(found func(pkg, name string, at token.Position)) {
	imported := map[string]string{}
	for _, imp := range s.ast.Imports {
		p, _ := strconv.Unquote(imp.Path.Value)
		name := path.Base(p)
		if imp.Name != nil {
			name = imp.Name.Name
		}
		imported[name] = p
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && imported[id.Name] != "" {
			found(imported[id.Name], sel.Sel.Name, s.pos.Position(sel.Pos()))
		}
		return true
	})
}

func moduleSources(t *testing.T) []source {
	t.Helper()
	top := filepath.Join("..", "..")
	var all []source
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "." && d.Name() != "..") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		pos := token.NewFileSet()
		tree, err := parser.ParseFile(pos, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, file)
		all = append(all, source{filepath.ToSlash(rel), tree, pos})
		return err
	})
	if err != nil || len(all) < 30 {
		t.Fatalf("found %d sources: %v", len(all), err)
	}
	return all
}

// pathCalls open, list or change something by a path string.
var pathCalls = map[string][]string{
	"os": {
		"Open", "OpenFile", "Create", "CreateTemp", "ReadFile", "WriteFile", "ReadDir", "Lstat", "Stat", "Readlink", "Remove", "RemoveAll",
		"Rename", "Mkdir", "MkdirAll", "MkdirTemp", "Link", "Symlink", "Chmod", "Chown", "Lchown", "Chtimes", "Truncate", "OpenRoot", "DirFS", "OpenInRoot", "CopyFS",
	},
	"io/ioutil":     {"ReadFile", "WriteFile", "ReadDir", "TempDir", "TempFile"},
	"path/filepath": {"Walk", "WalkDir", "Glob", "EvalSymlinks"},
	"golang.org/x/sys/unix": {
		"Open", "Openat", "Openat2", "Creat", "Stat", "Lstat", "Fstatat", "Statx", "Readlink", "Readlinkat", "Unlink", "Unlinkat", "Rename", "Renameat", "Renameat2",
		"Mkdir", "Mkdirat", "Link", "Linkat", "Symlink", "Symlinkat", "Chmod", "Fchmodat", "Chown", "Fchownat", "Truncate", "Access", "Faccessat",
	},
	"syscall": {"Open", "Openat", "Stat", "Lstat", "Unlink", "Rename", "Mkdir", "Rmdir", "Readlink", "Link", "Symlink", "Chmod", "Chown", "Truncate"},
}

// operatorPaths are the files that open paths which no caller has a say in, with the reason.
var operatorPaths = map[string]string{
	"cmd/lookfirst/config.go":     "the config file, which the command line names",
	"cmd/lookfirst/console.go":    "the script of a console, which the command line names",
	"fsmcp/mutation/lock_file.go": "the lock between processes, in the user's cache directory",
	"fsmcp/repomap/store.go":      "the map's parse results, in the user's cache directory",
}

// TestOnlyConfineOpensPaths holds the first rule of the module: a path argument becomes a file in one package alone.
func TestOnlyConfineOpensPaths(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range moduleSources(t) {
		if s.dir() == "fsmcp/confine" || strings.HasPrefix(s.name, "cmd/bench/") {
			continue
		}
		s.uses(func(pkg, name string, at token.Position) {
			if !slices.Contains(pathCalls[pkg], name) {
				return
			}
			seen[s.name] = true
			if operatorPaths[s.name] == "" {
				t.Errorf("%s: %s.%s opens by a path string", at, pkg, name)
			}
		})
	}
	for name := range operatorPaths {
		if !seen[name] {
			t.Errorf("%s opens nothing by a path string: take it off the list", name)
		}
	}
}

// changing are the methods of confine that change something below a root.
var changing = []string{"Mkdir", "Remove", "Rename", "Prepare", "PrepareNamed", "TakeOver", "Replace", "Create", "OpenRewrite", "Sweep"}

// TestOnlyActsChange holds the second: files are changed by the mutators' acts, which mutation.Do runs, and by the
// store that they call.
func TestOnlyActsChange(t *testing.T) {
	allowed := []string{"fsmcp/delete.go", "fsmcp/mkdir.go", "fsmcp/move.go"}
	for _, s := range moduleSources(t) {
		importsConfine := slices.ContainsFunc(s.ast.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"lookfirst/fsmcp/confine"` })
		if !importsConfine || strings.HasPrefix(s.name, "cmd/bench/") || s.dir() == "fsmcp/textfile" || slices.Contains(allowed, s.name) {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(changing, sel.Sel.Name) {
				return true
			}
			if id, ok := sel.X.(*ast.Ident); ok && (id.Name == "textfile" || id.Name == "strings" || id.Name == "bytes") {
				return true
			}
			t.Errorf("%s: %s changes something outside a mutator's act", s.pos.Position(call.Pos()), sel.Sel.Name)
			return true
		})
	}
}

// layers is what each package may import of the module. Imports point one way, and neither pack knows the other.
var layers = map[string][]string{
	"fsmcp/confine":  {},
	"fsmcp/revision": {"fsmcp/confine"},
	"fsmcp/toolkit":  {"fsmcp/revision"},
	"fsmcp/textfile": {"fsmcp/confine"},
	"fsmcp/search":   {"fsmcp/confine", "fsmcp/textfile"},
	"fsmcp/repomap":  {"fsmcp/confine", "fsmcp/toolkit"},
	"readstate":      {"fsmcp/confine", "fsmcp/revision", "fsmcp/toolkit"},
	"fsmcp/mutation": {"fsmcp/confine", "fsmcp/revision", "fsmcp/toolkit", "readstate"},
	"fsmcp": {
		"fsmcp/confine", "fsmcp/revision", "fsmcp/toolkit", "fsmcp/textfile", "fsmcp/mutation", "fsmcp/search", "fsmcp/repomap", "readstate",
	},
	"compat":          {"fsmcp/confine", "fsmcp/revision", "fsmcp/toolkit", "fsmcp/textfile", "fsmcp/mutation", "readstate"},
	"harness":         {"fsmcp", "compat", "fsmcp/toolkit", "fsmcp/revision", "fsmcp/search", "readstate"},
	"harness/console": {"harness", "fsmcp/toolkit", "fsmcp/textfile", "readstate"},
}

func TestImportsPointOneWay(t *testing.T) {
	for _, s := range moduleSources(t) {
		allowed, bound := layers[s.dir()]
		if !bound {
			if !strings.HasPrefix(s.name, "cmd/") {
				t.Errorf("%s is in a package that has no layer", s.name)
			}
			continue
		}
		for _, imp := range s.ast.Imports {
			p, _ := strconv.Unquote(imp.Path.Value)
			if ours, ok := strings.CutPrefix(p, "lookfirst/"); ok && !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s", s.name, ours)
			}
		}
	}
}
