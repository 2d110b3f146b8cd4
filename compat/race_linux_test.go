package compat

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSwapper calls the tools while a directory is exchanged, as fast as the system can, for a link that leads outside.
// Nothing outside is read, changed or made.
func TestSwapper(t *testing.T) {
	outside := physical(t, t.TempDir())
	s := open(t, map[string]string{"d/f": "inside", outside + "/f": "the-secret"})
	if err := os.Symlink(outside, s.path("link")); err != nil {
		t.Fatal(err)
	}
	budget := 300 * time.Millisecond
	if os.Getenv("LOOKFIRST_LONG") != "" {
		budget = 20 * time.Second
	}
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swaps := 0
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if unix.Renameat2(unix.AT_FDCWD, s.path("d"), unix.AT_FDCWD, s.path("link"), unix.RENAME_EXCHANGE) == nil {
					swaps++
				}
			}
		}
	})
	worked := map[string]int{}
	for end := time.Now().Add(budget); time.Now().Before(end); {
		for tool, a := range map[string]args{
			"read_file":  {"path": "d/f"},
			"write_file": {"path": s.root + "/d/../d/new/deep/x", "content": "x"},
			"multi_edit": {"path": "d/f", "edits": []args{{"old_string": "inside", "new_string": "inside!"}, {"old_string": "inside!", "new_string": "inside"}}},
			"list_files": {"path": "d"},
		} {
			r := s.call(tool, a)
			if strings.Contains(r.Text, "the-secret") || strings.Contains(r.Text, "f.outside") {
				t.Fatalf("%s: %s", tool, r.Text)
			}
			if !r.IsError {
				worked[tool]++
			}
		}
		s.call("write_file", args{"path": "d/w", "content": "x"})
	}
	close(stop)
	swapping.Wait()
	t.Logf("%d swaps, worked: %v", swaps, worked)
	names, err := filepath.Glob(outside + "/*")
	if err != nil || len(names) != 1 || s.content(outside+"/f") != "the-secret" {
		t.Errorf("outside are %q", names)
	}
}
