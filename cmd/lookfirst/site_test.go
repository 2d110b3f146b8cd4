package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// site is a directory to serve, and what the user who runs the program has beside it.
type site struct {
	root, cache, temp string
}

func newSite(t testing.TB) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{root: filepath.Join(dir, "root"), cache: filepath.Join(dir, "cache"), temp: filepath.Join(dir, "temp")}
	for _, d := range []string{s.root, s.cache, s.temp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// put writes a file below the root.
func (s *site) put(t testing.TB, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.root, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// get reads one, and returns nothing where there is none.
func (s *site) get(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.root, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// names returns what is in a directory, temporary files included.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// toolkit is the argument that serves the root as the pack alone, whatever else a bare ROOT may bring.
func (s *site) toolkit(t testing.TB) string {
	t.Helper()
	settings, err := json.Marshal(map[string]any{"root": s.root})
	if err != nil {
		t.Fatal(err)
	}
	return "--tool=FileSystem=" + string(settings)
}

func (s *site) env() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MCP_FS_") })
	cache := "XDG_CACHE_HOME"
	switch runtime.GOOS {
	case "windows":
		cache = "LocalAppData"
	case "darwin":
		cache = "HOME"
	}
	return append(env, cache+"="+s.cache, "TMPDIR="+s.temp, "TMP="+s.temp, "GOTRACEBACK=all",
		"GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0") // The race detector waits for a second at the end of each process.
}

// command is the program that serves the site, not started yet.
func (s *site) command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	program, err := exec.LookPath("lookfirst")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, append(args, s.toolkit(t))...)
	cmd.Env = s.env()
	return cmd
}
