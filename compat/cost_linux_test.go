package compat

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lookfirst/fsmcp/revision"
)

// bytesRead is how many bytes this process has asked the system for so far.
func bytesRead(t testing.TB) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip("there is no /proc/self/io")
	}
	var n int64
	if _, err := fmt.Sscanf(string(b), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestGuardCosts counts how often a file is read: once to edit it, in any case. The guard adds one reading where the file is
// so young that its times prove nothing, and none where they do.
func TestGuardCosts(t *testing.T) {
	const size = 8 << 20
	for name, tt := range map[string]struct {
		ahead time.Duration // of the memo's clock
		times int64
	}{"it hashes a young file once": {0, 2}, "it hashes an old file not at all": {time.Hour, 1}} {
		t.Run(name, func(t *testing.T) {
			s := open(t, map[string]string{"f": "once\n" + strings.Repeat("0123456789abcde\n", size/16)})
			s.pack.hasher = revision.NewHasher(revision.Options{Now: func() time.Time { return time.Now().Add(tt.ahead) }})
			before := bytesRead(t)
			s.works(s.call("read_file", args{"path": "f", "limit": 3}))
			if n := bytesRead(t) - before; n > size+size/10 {
				t.Errorf("reading took %d bytes of a file of %d", n, size)
			}
			before = bytesRead(t)
			s.works(s.call("edit_file", args{"path": "f", "old_string": "once", "new_string": "twice"}))
			if n := bytesRead(t) - before; n > tt.times*size+size/10 {
				t.Errorf("editing took %d bytes of a file of %d", n, size)
			}
		})
	}
}

// TestLargeFile reads 2000 lines from the middle of 1 GB (64 MB in the ordinary run), once, and holds little of it.
func TestLargeFile(t *testing.T) {
	size := int64(64 << 20)
	if os.Getenv("LOOKFIRST_LONG") != "" {
		size = 1 << 30
	}
	s := open(t, nil)
	f, err := os.Create(s.path("f"))
	if err != nil {
		t.Fatal(err)
	}
	piece := []byte(strings.Repeat("0123456789abcdefghijklmnopqrstu\n", 32768))
	for n := int64(0); n < size; n += int64(len(piece)) {
		if _, err := f.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	read, begun := bytesRead(t), time.Now()
	r := s.works(s.call("read_file", args{"path": "f", "offset": size / 64, "limit": 2000}))
	took := time.Since(begun)
	read = bytesRead(t) - read
	runtime.ReadMemStats(&after)
	t.Logf("%d MB in %v, allocated %d KB", size>>20, took, (after.TotalAlloc-before.TotalAlloc)>>10)
	if read > size+size/20 {
		t.Errorf("read %d bytes of a file of %d", read, size)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("allocated %d bytes", n)
	}
	if lines := strings.Count(r.Text, "\n") + 1; lines != 2000 || !strings.HasPrefix(r.Text, fmt.Sprintf("%d\t0123", size/64)) {
		t.Errorf("%d lines: %.60s", lines, r.Text)
	}
	if got := r.Revisions["path"].State; got != revision.File {
		t.Errorf("the state is %s", got)
	}
}

// BenchmarkEditFile edits a file of 10 MB, beside a copy of it by reading, writing anew and renaming. Nothing is synced.
func BenchmarkEditFile(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "f")
	text := "once\n" + strings.Repeat("0123456789abcdefghijklmnopqrstu\n", 10<<20/32)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		b.Fatal(err)
	}
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			content, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path+".new", content, 0o666)
			}
			if err == nil {
				err = os.Rename(path+".new", path)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, sync := range []bool{false, true} {
		b.Run(fmt.Sprintf("edit/sync=%v", sync), func(b *testing.B) { benchmarkEdit(b, dir, !sync, len(text)) })
	}
}

func benchmarkEdit(b *testing.B, dir string, noSync bool, size int) {
	f, err := New(Options{Root: dir, NoSync: noSync, LockDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	call := caller(b, f)
	call("read_file", `{"path":"f","limit":1}`)
	b.SetBytes(int64(size))
	was, is := "once", "twice"
	for b.Loop() {
		call("edit_file", fmt.Sprintf(`{"path":"f","old_string":%q,"new_string":%q}`, was, is))
		was, is = is, was
	}
	if was == "twice" {
		call("edit_file", `{"path":"f","old_string":"twice","new_string":"once"}`)
	}
}
