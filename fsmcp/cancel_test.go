//go:build linux

package fsmcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestCancelledCallsSaySo has calls whose context is done before they begin; with one that is not, they work.
func TestCancelledCallsSaySo(t *testing.T) {
	root := t.TempDir()
	must(t, os.WriteFile(filepath.Join(root, "f"), []byte("a\n"), 0o666))
	pack, err := New(Options{Root: root, LockDir: t.TempDir()})
	must(t, err)
	defer pack.Close()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for tool, args := range map[string]string{
		"glob": `{"pattern":"*"}`, "list": `{}`, "read": `{"path":"f"}`, "write": `{"path":"f","content":"b\n"}`,
		"edit": `{"path":"f","old-string":"a","new-string":"b"}`, "grep": `{"pattern":"a"}`,
	} {
		for _, tl := range pack.Tools() {
			if tl.Name != tool {
				continue
			}
			want := "the " + tool + " call was cancelled before it was done"
			if got := tl.Call(done, json.RawMessage(args)); !got.IsError || got.Text != want {
				t.Errorf("%s: got %q", tool, got.Text)
			}
			if got := tl.Call(t.Context(), json.RawMessage(args)); got.IsError && tool != "edit" {
				t.Errorf("%s: got %q without a cause", tool, got.Text)
			}
		}
	}
}
