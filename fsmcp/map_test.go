package fsmcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/toolkit"
)

// mapServer serves a tree of Raku files, which every build can read, and gives what draws their maps.
func mapServer(t *testing.T) *toolkit.Tool {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"lib/Tide/Pool.rakumod": "unit class Tide::Pool;\n\nmethod fill($x) { }\n",
		"bin/main.raku":         "use Tide::Pool;\n\nsub MAIN { Tide::Pool.new.fill(1) }\n",
		"README.md":             "A pool.\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := New(Options{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMapper(f.tree.Root, mapCacheMemory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.Close()
		f.Close()
	})
	tool := f.mapTool(m)
	tool.Report = func(err error) { t.Error(err) }
	return tool
}

func TestMap(t *testing.T) {
	tool := mapServer(t)
	const summary = "[mapped 2 files (1 skipped: unsupported/binary/too-large), 3 definitions"
	tests := []struct {
		name, args string
		isError    bool
		want       string // how the answer begins
	}{
		{"it maps the root by default", `{}`, false, "lib/Tide/Pool.rakumod:\n   1: unit class Tide::Pool;\n⋮\n   3: method fill($x) { }\n\nbin/main.raku:\n   3: sub MAIN { Tide::Pool.new.fill(1) }\n\n" + summary},
		{"it maps a directory", `{"path": "bin"}`, false, "bin/main.raku:\n   3: sub MAIN"},
		{"it maps a file", `{"path": "bin/main.raku"}`, false, "bin/main.raku:\n   3: sub MAIN"},
		{"it is steered by a focus", `{"focus": "bin", "max-chars": 512}`, false, "bin/main.raku:\n   3: sub MAIN"},
		{"it is steered by a query", `{"query": "main"}`, false, "bin/main.raku:\n   3: sub MAIN"},
		{"it refuses a path that does not exist", `{"path": "lob"}`, true, "'lob' does not exist"},
		{"it refuses a path that leads outside", `{"path": "../x"}`, true, "'../x' contains '..'"},
		{"it refuses a focus that does not exist", `{"focus": "bin, lob"}`, true, "'lob' does not exist"},
		{"it refuses fewer characters than a map needs", `{"max-chars": 511}`, true, "'max-chars' is the number 511; send an integer from 512 to 65536"},
		{"it refuses more characters than an answer has", `{"max-chars": 65537}`, true, "'max-chars' is the number 65537; send an integer from 512 to 65536"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tool.Call(t.Context(), json.RawMessage(tt.args))
			if got.IsError != tt.isError || !strings.HasPrefix(got.Text, tt.want) {
				t.Errorf("error %v, and it begins:\n%s\nwant %v, and:\n%s", got.IsError, got.Text, tt.isError, tt.want)
			}
			if got.Revisions != nil {
				t.Errorf("it carries revisions: %v", got.Revisions)
			}
		})
	}
	if again := tool.Call(t.Context(), json.RawMessage(`{}`)); !strings.Contains(again.Text, summary) {
		t.Errorf("a second map:\n%s", again.Text)
	}
}

func TestMapCancelled(t *testing.T) {
	tool := mapServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := tool.Call(ctx, json.RawMessage(`{}`))
	if want := "the map call was cancelled before it was done"; !got.IsError || got.Text != want {
		t.Errorf("got %q, want the error %q", got.Text, want)
	}
	if got := tool.Call(t.Context(), json.RawMessage(`{}`)); got.IsError {
		t.Errorf("a call that is not cancelled: %s", got.Text)
	}
}

func TestMapIsAReadingTool(t *testing.T) {
	tool := mapServer(t)
	var names []string
	for _, p := range tool.Params {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"path", "query", "focus", "max-chars"}, names); diff != "" || !tool.ReadOnly {
		t.Errorf("read-only %v; parameters (-want +got):\n%s", tool.ReadOnly, diff)
	}
}

func TestNewMapper(t *testing.T) {
	f, err := New(Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, setting := range []string{"", "disk", "memory"} {
		m, err := newMapper(f.tree.Root, setting)
		if err != nil {
			t.Errorf("%q: %v", setting, err)
			continue
		}
		m.Close()
	}
	const want = `map-cache is "tape"; it must be "disk" or "memory"`
	if _, err := newMapper(f.tree.Root, "tape"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
