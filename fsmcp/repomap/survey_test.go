package repomap

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// surveyed is what a survey finds, in one string a file.
func surveyed(t *testing.T, m *Mapper, path string) (files []string, skipped int) {
	t.Helper()
	s, err := m.survey(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.sources {
		files = append(files, f.path)
	}
	return files, s.skipped
}

func TestSurvey(t *testing.T) {
	one := "unit class A;\n"
	root, dir := tree(t, map[string]string{
		"b.raku": one, "a/z.raku": one, "a/a.rakumod": one, "a/deep/er/x.raku": one,
		".git/x.raku": one, ".hidden/x.raku": one, "node_modules/x.raku": one, "target/x.raku": one, "build/x.raku": one, "dist/x.raku": one,
		"vendor/lib/x.raku": one, "__pycache__/x.raku": one, "venv/x.raku": one, "env/x.raku": one, "virtualenv/x.raku": one,
		"py312/pyvenv.cfg": "", "py312/x.raku": one, "a/.dot.raku": one,
		"picture.png": "", "README.md": "", "Makefile": "",
		"large.raku": strings.Repeat("#", maxFile+1), "full.raku": strings.Repeat("#", maxFile),
	})
	m := mapper(t, root)
	if err := os.Symlink("../a", filepath.Join(dir, "a", "loop")); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"a/known.raku": "z.raku", "a/new.raku": "../vendor/lib/x.raku", "a/dangling.raku": "nothing.raku", "a/out.raku": "/etc/hostname"} {
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, path string
		want       []string
		skipped    int
	}{
		{
			"it leaves out what is hidden, vendored or generated, and follows a link to a file that is not there under its own name", ".",
			[]string{"a/.dot.raku", "a/a.rakumod", "a/deep/er/x.raku", "a/new.raku", "a/z.raku", "b.raku", "full.raku"},
			4,
		},
		{"it maps a sub-directory by paths from the root", "a/deep", []string{"a/deep/er/x.raku"}, 0},
		{"it does not prune what it is asked for", "vendor/lib", []string{"vendor/lib/x.raku"}, 0},
		{"it does not prune an environment that it is asked for", "py312", []string{"py312/x.raku"}, 1},
		{"it maps a single file", "a/z.raku", []string{"a/z.raku"}, 0},
		{"it counts a single file that it cannot read", "README.md", nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, skipped := surveyed(t, m, tt.path)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if skipped != tt.skipped {
				t.Errorf("%d are skipped, want %d", skipped, tt.skipped)
			}
		})
	}
}

func TestSurveyTakesTheFilesNearestTheTop(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 5003 files")
	}
	root, dir := tree(t, map[string]string{"src/near.raku": "sub near { }\n", "src/sub/far.raku": "sub far { }\n"})
	if err := os.MkdirAll(filepath.Join(dir, "a", "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range maxFiles + 1 {
		if err := os.WriteFile(filepath.Join(dir, "a", "a", fmt.Sprintf("%05d.raku", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := mapper(t, root)
	files, _ := surveyed(t, m, ".")
	want := map[string]bool{"src/near.raku": true, "src/sub/far.raku": false, "a/a/00000.raku": true, "a/a/04998.raku": true, "a/a/04999.raku": false}
	got := map[string]bool{}
	for path := range want {
		got[path] = false
	}
	for _, f := range files {
		if _, ok := want[f]; ok {
			got[f] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(files) != maxFiles {
		t.Errorf("%d files are taken (-want +got):\n%s", len(files), diff)
	}
	summary := "[mapped 5000 files, 1 definition; stopped after 5000 files; "
	if text := drawn(t, m, Request{Path: "."}); !strings.Contains(text, summary) {
		t.Errorf("got:\n%s\nwant it to hold:\n%s", text, summary)
	}
}

func TestMapRefuses(t *testing.T) {
	root, _ := tree(t, map[string]string{"a/x.raku": "sub x { }\n"})
	m := mapper(t, root)
	tests := []struct {
		name string
		req  Request
		want string
	}{
		{"it names a path that does not exist", Request{Path: "b"}, "'b' does not exist"},
		{"it names a path that leads outside", Request{Path: "../a"}, "'../a' contains '..'; send the path from the root without it"},
		{"it names a focus that does not exist", Request{Path: ".", Focus: "a nowhere"}, "'nowhere' does not exist"},
		{"it names a focus that leads outside", Request{Path: ".", Focus: "a,/etc"}, "'/etc' is absolute; send a path relative to the root"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := m.Map(t.Context(), tt.req)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %q and %v, want %s", text, err, tt.want)
			}
		})
	}
	drawn(t, m, Request{Path: "a", Focus: "a/, a/x.raku"})
}

func TestMapIsCancelled(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("%02d.raku", i)] = "sub x { }\n"
	}
	root, _ := tree(t, files)
	m := New(Options{Root: root, Workers: 1})
	defer m.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ctx = withProgress(ctx, func(done int64) {
		if done == 5 {
			cancel()
		}
	})
	if _, err := m.Map(ctx, Request{Path: "."}); err != context.Canceled {
		t.Fatalf("a map that is cancelled: %v", err)
	}
	if n := len(m.cache.files); n < 5 || n > 10 {
		t.Errorf("%d files are kept of those read before the end, want 5 or a few more", n)
	}
	if text := drawn(t, m, Request{Path: "."}); !strings.Contains(text, "[mapped 40 files, 40 definitions; ") {
		t.Errorf("the next map:\n%s", text)
	}
	if _, err := m.Map(ctx, Request{Path: "."}); err != context.Canceled {
		t.Errorf("a map in a context that has ended: %v", err)
	}
}
