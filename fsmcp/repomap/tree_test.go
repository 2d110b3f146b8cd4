package repomap

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/toolkit"
)

// tree writes files, given by path, and serves their directory.
func tree(t *testing.T, files map[string]string) (*confine.Root, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	root, err := confine.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// lines joins lines, each with an end.
func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

func mapper(t *testing.T, root *confine.Root) *Mapper {
	t.Helper()
	m := New(Options{Root: root})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func drawn(t *testing.T, m *Mapper, req Request) string {
	t.Helper()
	text, err := m.Map(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// withProgress has report told how many files have been read.
func withProgress(ctx context.Context, report func(done int64)) context.Context {
	return toolkit.WithProgress(ctx, func(done, _ int64, _ string) { report(done) })
}

// goTree serves a directory of the Go standard library's sources.
func goTree(t testing.TB, dir string) *confine.Root {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command to ask for GOROOT")
	}
	return served(t, filepath.Join(strings.TrimSpace(string(out)), "src", dir))
}

// served serves a directory that is there already.
func served(t testing.TB, dir string) *confine.Root {
	t.Helper()
	root, err := confine.OpenRoot(dir)
	if err != nil {
		t.Skipf("no sources: %v", err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}
