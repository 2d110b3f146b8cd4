package compat

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lookfirst/fsmcp/toolkit"
	"lookfirst/readstate"
)

// TestMain lets the test binary stand in for the process that reads PDFs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve-pdf" {
		os.Exit(ServePDF(os.Args[2:], os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// args are the arguments of a call.
type args map[string]any

// session is a root with the five tools and what was seen through them.
type session struct {
	t     *testing.T
	ctx   context.Context
	root  string
	tools map[string]*toolkit.Tool
	pack  *FileTools
}

// open makes a root of the files, written by their paths, and the tools on it. A path that ends in a slash is a directory;
// content that begins with "=> " is the target of a link.
func open(t *testing.T, files map[string]string, set ...func(*Options)) *session {
	t.Helper()
	root := physical(t, t.TempDir())
	opt := Options{Root: root, LockDir: t.TempDir(), PDFReader: []string{executable(t), "serve-pdf"}, NoSync: true}
	for _, s := range set {
		s(&opt)
	}
	f, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	s := &session{t: t, ctx: readstate.With(t.Context(), readstate.New()), root: root, tools: map[string]*toolkit.Tool{}, pack: f}
	for path, content := range files {
		s.put(path, content)
	}
	for _, tool := range f.Tools() {
		tool.Report = func(err error) { t.Error(err) }
		s.tools[tool.Name] = tool
	}
	return s
}

func physical(t *testing.T, dir string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// path is a path below the root; an absolute one stays.
func (s *session) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.root, filepath.FromSlash(name))
}

func (s *session) put(name, content string) {
	s.t.Helper()
	path := s.path(name)
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	switch target, isLink := strings.CutPrefix(content, "=> "); {
	case err != nil:
	case strings.HasSuffix(name, "/"):
		err = os.MkdirAll(path, 0o777)
	case isLink:
		err = os.Symlink(target, path)
	default:
		err = os.WriteFile(path, []byte(content), 0o666)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// content is what a file holds, or "(none)".
func (s *session) content(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(s.path(name))
	if os.IsNotExist(err) {
		return "(none)"
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

func (s *session) call(tool string, a args) *toolkit.Result {
	s.t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.callRaw(tool, string(raw))
}

func (s *session) callRaw(tool, raw string) *toolkit.Result {
	s.t.Helper()
	t := s.tools[tool]
	if t == nil {
		s.t.Fatalf("there is no tool %s", tool)
	}
	return t.Call(s.ctx, json.RawMessage(raw))
}

// want is the outcome of a call. ROOT in a text stands for the root.
func (s *session) want(r *toolkit.Result, isError bool, text string) {
	s.t.Helper()
	text = strings.ReplaceAll(text, "ROOT", s.root)
	if r.Text != text || r.IsError != isError {
		s.t.Errorf("got (error: %v)\n%s\nwant (error: %v)\n%s", r.IsError, r.Text, isError, text)
	}
}

func (s *session) works(r *toolkit.Result) *toolkit.Result {
	s.t.Helper()
	if r.IsError {
		s.t.Fatalf("refused: %s", r.Text)
	}
	return r
}
