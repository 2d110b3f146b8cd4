//go:build unix

package revision

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/confine"
)

// strange adds what only a Unix system has: FIFOs, and where the file system takes them names that are no UTF-8.
func strange(t *testing.T, dir string) {
	t.Helper()
	must(t, syscall.Mkfifo(filepath.Join(dir, "a+fifo"), 0o644))
	err := os.WriteFile(filepath.Join(dir, "a\xff\xfe"), []byte("latin"), 0o644)
	if err != nil && !errors.Is(err, syscall.EILSEQ) {
		t.Fatal(err)
	}
}

// Opening a FIFO would wait for its other end: a test that ends has not.
func TestSpecialFilesAreNeverOpened(t *testing.T) {
	root, dir := planted(t, "to-fifo => fifo", "d/f")
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	h := NewHasher(Options{})
	if diff := cmp.Diff(slowToken(t, dir), mustFresh(t, h, located(t, root, "."))); diff != "" {
		t.Errorf("a tree that holds one: %s", diff)
	}
	if got := h.Observe(t.Context(), located(t, root, "fifo")); got != (Revision{State: Unknown}) {
		t.Errorf("got %v", got)
	}
	got, err := h.Fresh(t.Context(), located(t, root, "fifo"))
	if want := "'fifo' is not a regular file (fifo)"; got != (Revision{}) || err == nil || err.Error() != want {
		t.Errorf("got %v and %v, want the error %q", got, err, want)
	}
	// A link to one has a state: it can be moved and deleted.
	fifo, other := mustFresh(t, h, entry(t, root, "to-fifo")), mustFresh(t, h, located(t, root, "to-fifo"))
	if fifo.State != Symlink || fifo != other {
		t.Errorf("got %v for the link and %v through it", fifo, other)
	}
	must(t, os.Remove(filepath.Join(dir, "fifo")))
	if gone := mustFresh(t, h, entry(t, root, "to-fifo")); gone == fifo {
		t.Errorf("the fifo's going does not show: %v", gone)
	}
}

// asUser says whether the test runs as a user whom permissions hold back. For root it runs the test in a new process of
// another user.
func asUser(t *testing.T) bool {
	if os.Getuid() != 0 {
		return true
	}
	if runtime.GOOS != "linux" {
		t.Skip("needs a user other than root, or /proc to become one")
	}
	again, err := os.StartProcess("/proc/self/exe", []string{os.Args[0], "-test.run=^" + t.Name() + "$", "-test.count=1"}, &os.ProcAttr{
		Dir: "/", Env: []string{"TMPDIR=" + os.TempDir()}, Files: []*os.File{nil, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}},
	})
	must(t, err)
	state, err := again.Wait()
	must(t, err)
	if !state.Success() {
		t.Errorf("as another user: %v", state)
	}
	return false
}

func TestWhatMayNotBeReadHasNoToken(t *testing.T) {
	if !asUser(t) {
		return
	}
	tests := []struct {
		name, arg string
		lock      string // what loses its permissions
		mode      os.FileMode
		want      string
	}{
		{"refuses a file", "d/f", "d/f", 0, "permission denied: 'd/f'"},
		{"refuses a tree for one file in it, by its path", ".", "d/f", 0, "permission denied: 'd/f'"},
		{"refuses a tree named by a path for one file in it", "d/", "d/sub/f", 0, "permission denied: 'd/sub/f'"},
		{"refuses a tree for a directory that may not be listed", ".", "d/sub", 0o111, "permission denied: 'd/sub'"},
		{"refuses a tree for a directory that may not be entered", "d", "d/sub", 0, "permission denied: 'd/sub'"},
		{"refuses a directory that may not be listed", "d", "d", 0o111, "permission denied: 'd'"},
		{"refuses a link to something behind a closed door", "link", "d", 0, "permission denied: 'link'"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			root, dir := planted(t, "d/f", "d/sub/f", "link => d/sub/f")
			locked := filepath.Join(dir, tt.lock)
			h := NewHasher(Options{})
			before := mustFresh(t, h, entry(t, root, tt.arg))
			must(t, os.Chmod(locked, tt.mode))
			loc := entry(t, root, tt.arg)
			if got := h.Observe(t.Context(), loc); got != (Revision{State: Unknown}) {
				t.Errorf("observed %v", got)
			}
			got, err := h.Fresh(t.Context(), loc)
			var refusal *confine.Error
			if got != (Revision{}) || !errors.Is(err, confine.ErrPermission) || !errors.As(err, &refusal) || err.Error() != tt.want {
				t.Errorf("got %v and %v, want the refusal %q", got, err, tt.want)
			}
			must(t, os.Chmod(locked, 0o755))
			if after := mustFresh(t, h, entry(t, root, tt.arg)); after != before {
				t.Errorf("without the cause: got %v, want %v", after, before)
			}
		})
	}
}

func TestFileThatVanishesWhileItsTreeIsHashedWasNeverThere(t *testing.T) {
	root, dir := planted(t, "a", "d/b", "d/c", "e/", "l => a")
	for _, name := range []string{"d/b", "l"} {
		c := later()
		h := NewHasher(Options{Now: c.now})
		// The first reading is the tree's, made when the names are known and nothing has been opened.
		c.onNow = at(1, func() { must(t, os.Remove(filepath.Join(dir, name))) })
		got := mustFresh(t, h, located(t, root, "."))
		if want := slowToken(t, dir); got != want {
			t.Errorf("without %s: got %v, want %v", name, got, want)
		}
	}
}

func TestFileThatBecomesSomethingElseWhileItsTreeIsHashedIsAnError(t *testing.T) {
	tests := []struct {
		name   string
		become func(path string) error
	}{
		{"a directory", func(path string) error { return os.Mkdir(path, 0o755) }},
		{"a link", func(path string) error { return os.Symlink("a", path) }},
		{"a fifo", func(path string) error { return syscall.Mkfifo(path, 0o644) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, dir := planted(t, "a", "d/b")
			path := filepath.Join(dir, "d", "b")
			c := later()
			c.onNow = at(1, func() {
				must(t, os.Remove(path))
				must(t, tt.become(path))
			})
			h := NewHasher(Options{Now: c.now})
			if got, err := h.Fresh(context.Background(), located(t, root, ".")); err == nil {
				t.Errorf("got %v", got)
			}
			if got, want := mustFresh(t, h, located(t, root, ".")), slowToken(t, dir); got != want {
				t.Errorf("afterwards: got %v, want %v", got, want)
			}
		})
	}
}
