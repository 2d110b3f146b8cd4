//go:build unix

package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// benchBoth runs a benchmark on each kind of handle that this system has.
func benchBoth(b *testing.B, bench func(b *testing.B, dir string, r *Root)) {
	for _, o := range openers(b) {
		b.Run(o.name, func(b *testing.B) {
			dir, err := filepath.EvalSymlinks(b.TempDir())
			must(b, err)
			r, err := openRootWith(dir, o.open)
			must(b, err)
			defer r.Close()
			bench(b, dir, r)
		})
	}
}

// ratio times ours and what os does for the same by turns of 20 calls, and reports how many times as long ours takes: in
// the median, on which other work of the machine tells little. ns/op and allocations are those of both together.
func ratio(b *testing.B, unit string, ours, floor func() error) {
	const turn = 20
	var took [2][]time.Duration
	for b.Loop() {
		for i, call := range []func() error{ours, floor} {
			start := time.Now()
			for range turn {
				if err := call(); err != nil {
					b.Fatal(err)
				}
			}
			took[i] = append(took[i], time.Since(start))
		}
	}
	slices.Sort(took[0])
	slices.Sort(took[1])
	middle := len(took[0]) / 2
	b.ReportMetric(float64(took[0][middle])/float64(took[1][middle]), unit)
	b.ReportMetric(float64(took[0][middle])/turn, "ns/ours")
	b.ReportMetric(float64(took[1][middle])/turn, "ns/os")
}

// BenchmarkOpen opens and closes a file a number of directories below the root, against os.Open with the whole path, which
// confines nothing. Links cost a chase, which os.Open leaves to the kernel.
func BenchmarkOpen(b *testing.B) {
	for _, depth := range []int{1, 4, 12} {
		b.Run(fmt.Sprintf("depth%d", depth), func(b *testing.B) {
			benchBoth(b, func(b *testing.B, dir string, r *Root) {
				benchOpen(b, dir, r, strings.Repeat("directory/", depth-1)+"file")
			})
		})
	}
	b.Run("link", func(b *testing.B) {
		benchBoth(b, func(b *testing.B, dir string, r *Root) {
			must(b, os.Symlink(dir+"/directory", dir+"/link"))
			must(b, os.Mkdir(dir+"/directory", 0o777))
			benchOpen(b, dir, r, "link/file")
		})
	})
}

func benchOpen(b *testing.B, dir string, r *Root, arg string) {
	path := filepath.Join(dir, arg)
	must(b, os.MkdirAll(filepath.Dir(path), 0o777))
	must(b, os.WriteFile(path, []byte("content"), 0o666))
	ratio(b, "x-os.Open", func() error {
		f, err := r.Open("path", arg)
		if err != nil {
			return err
		}
		return f.Close()
	}, func() error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return f.Close()
	})
}

// BenchmarkList reads the names and kinds of 1,000 entries, against os.ReadDir, which sorts them too.
func BenchmarkList(b *testing.B) {
	benchBoth(b, func(b *testing.B, dir string, r *Root) {
		for i := range 1000 {
			must(b, os.WriteFile(fmt.Sprintf("%s/file-%04d.go", dir, i), nil, 0o666))
		}
		ratio(b, "x-os.ReadDir", func() error {
			loc, err := r.Resolve("path", ".")
			if err != nil {
				return err
			}
			defer loc.Close()
			d, err := loc.OpenDir()
			if err != nil {
				return err
			}
			defer d.Close()
			_, err = d.Entries()
			return err
		}, func() error {
			_, err := os.ReadDir(dir)
			return err
		})
	})
}

// BenchmarkWalk visits 1,000 files in 50 directories, against filepath.WalkDir.
func BenchmarkWalk(b *testing.B) {
	benchBoth(b, func(b *testing.B, dir string, r *Root) {
		for i := range 50 {
			must(b, os.MkdirAll(fmt.Sprintf("%s/d%d/d%d", dir, i/10, i), 0o777))
			for j := range 20 {
				must(b, os.WriteFile(fmt.Sprintf("%s/d%d/d%d/file-%d.go", dir, i/10, i, j), nil, 0o666))
			}
		}
		ratio(b, "x-filepath.WalkDir", func() error {
			return r.dir.Walk(b.Context(), ByPath, func(s *Step) error { return s.Err })
		}, func() error {
			return filepath.WalkDir(dir, func(_ string, _ os.DirEntry, err error) error { return err })
		})
	})
}
