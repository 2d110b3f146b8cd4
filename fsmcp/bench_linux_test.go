package fsmcp

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkList measures a whole call of list on a directory of 1,000 small files, beside its floor in the same run:
// openat and getdents64 on the directory, and the revision that the answer carries, computed by itself. The digests
// are remembered by then, as in any session, but for files that have just been written: those are read each time by
// both sides.
func BenchmarkList(b *testing.B) {
	root := b.TempDir()
	for i := range 1000 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("file-%04d.txt", i)), fmt.Appendf(nil, "file %d\n", i), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	pack, err := New(Options{Root: root, LockDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer pack.Close()
	list := pack.listTool()
	var handler, floor time.Duration
	for b.Loop() {
		start := time.Now()
		if res := list.Call(b.Context(), nil); res.IsError {
			b.Fatal(res.Text)
		}
		handler += time.Since(start)
		start = time.Now()
		listFloor(b, pack, root)
		floor += time.Since(start)
	}
	b.ReportMetric(float64(handler)/float64(floor), "x-floor")
}

func listFloor(b *testing.B, pack *FileSystem, root string) {
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer unix.Close(fd)
	buf := make([]byte, 32<<10)
	for n := 1; n > 0; {
		if n, err = unix.Getdents(fd, buf); err != nil {
			b.Fatal(err)
		}
	}
	loc, err := pack.tree.Root.Resolve("path", ".")
	if err != nil {
		b.Fatal(err)
	}
	defer loc.Close()
	if rev := pack.tree.Hasher.Observe(b.Context(), loc); rev.Token == "" {
		b.Fatal("no token")
	}
}
