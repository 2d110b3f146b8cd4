package revision

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// BenchmarkTree measures a directory's token against floors in the same run, turn by turn, so that a neighbour's noise
// meets both alike. What counts is the ratio, the median over the turns; the time of one operation covers both sides.
//
//   - first: no digest is remembered. The floor reads and hashes every file on two goroutines: raw openat, read and
//     close, one reused buffer each, SHA-256. It keeps no order, looks at no file before it reads it, checks no
//     confinement and ends with no token. Beside it, plain-go: filepath.WalkDir, os.ReadFile and SHA-256, likewise.
//   - second: every digest is remembered. The floors walk and lstat: openat, getdents and fstatat on names that are never
//     copied; one goroutine, and two. They keep no order and remember nothing.
//
// The page cache is warm on both sides, by a turn that is not counted.
func BenchmarkTree(b *testing.B) {
	trees := []struct {
		name string
		dir  func(testing.TB) string
	}{
		{"generated", generated},
		{"gosrc", goSource},
	}
	for _, tree := range trees {
		b.Run("first/"+tree.name, func(b *testing.B) { benchFirst(b, tree.dir(b)) })
		b.Run("second/"+tree.name, func(b *testing.B) { benchSecond(b, tree.dir(b)) })
	}
}

func benchFirst(b *testing.B, dir string) {
	loc := located(b, rooted(b, dir), ".")
	var c contest
	for b.Loop() {
		c.turn(
			side{"token", func() { mustFresh(b, NewHasher(Options{}), loc) }},
			side{"read+hash", func() { floorRead(b, dir) }},
			side{"plain-go", func() { plainRead(b, dir) }},
		)
	}
	c.report(b, "token", "read+hash")
	c.report(b, "token", "plain-go")
}

func benchSecond(b *testing.B, dir string) {
	loc := located(b, rooted(b, dir), ".")
	h := NewHasher(Options{Memo: 1 << 20, Now: func() time.Time { return time.Now().Add(time.Hour) }})
	want := mustObserve(b, h, loc)
	if n := len(h.memo.entries); n < 1000 {
		b.Fatalf("remembers %d digests", n)
	}
	var c contest
	for b.Loop() {
		c.turn(
			side{"token", func() {
				if got := mustObserve(b, h, loc); got != want {
					b.Fatalf("token changed from %v to %v", want, got)
				}
			}},
			side{"lstat-1", func() { floorStat(b, dir) }},
			side{"lstat-2", func() { floorStatTwo(b, dir) }},
			side{"first", func() { mustFresh(b, h, loc) }},
		)
	}
	c.report(b, "token", "lstat-1")
	c.report(b, "token", "lstat-2")
	c.report(b, "token", "first")
}

// contest holds the times of each side, turn by turn.
type contest struct {
	turns     int
	wall, cpu map[string][]float64
}

type side struct {
	name string
	run  func()
}

// turn runs every side once. Who begins changes from turn to turn, and each starts with an empty heap.
func (c *contest) turn(sides ...side) {
	if c.wall == nil {
		c.wall, c.cpu = map[string][]float64{}, map[string][]float64{}
		for _, s := range sides {
			s.run()
		}
	}
	for i := range sides {
		s := sides[(i+c.turns)%len(sides)]
		runtime.GC()
		start, used := time.Now(), cpuTime()
		s.run()
		c.wall[s.name] = append(c.wall[s.name], float64(time.Since(start)))
		c.cpu[s.name] = append(c.cpu[s.name], float64(cpuTime()-used))
	}
	c.turns++
}

// report gives one side's wall time in terms of another's, as the median over the turns and as the ratio of the least
// times, and the same of the processor time, which a busy machine disturbs less.
func (c *contest) report(b *testing.B, of, to string) {
	for unit, times := range map[string]map[string][]float64{"wall/": c.wall, "cpu/": c.cpu} {
		b.ReportMetric(slices.Min(times[of])/slices.Min(times[to]), "least-"+unit+to)
		var r []float64
		for i, t := range times[of] {
			r = append(r, t/times[to][i])
		}
		slices.Sort(r)
		b.ReportMetric(r[len(r)/2], unit+to)
	}
}

// cpuTime is what this process has used, in the system too.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// goSource is the source of the Go that runs the benchmark.
func goSource(tb testing.TB) string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Skipf("no go command to ask for its source: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(root)), "src")
}

// generated is a tree of 10,000 files in about 800 directories, three levels deep at most, the same each time. Sizes are
// log-normal, 8 KB in the mean and 1.5 KB in the median, as those of a source tree are.
func generated(tb testing.TB) string {
	root := tb.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	dirs := []string{root}
	for len(dirs) < 800 {
		parent := dirs[r.IntN(len(dirs))]
		if rel, _ := filepath.Rel(root, parent); len(rel) > 20 {
			continue
		}
		d := filepath.Join(parent, fmt.Sprintf("dir-%03d", len(dirs)))
		if err := os.Mkdir(d, 0o755); err != nil {
			tb.Fatal(err)
		}
		dirs = append(dirs, d)
	}
	body := make([]byte, 4<<20)
	for i := range body {
		body[i] = byte(r.Uint32())
	}
	for i := range 10_000 {
		size := min(int(math.Exp(7.3+1.83*r.NormFloat64())), len(body)/2)
		at := r.IntN(len(body) / 2)
		name := filepath.Join(dirs[r.IntN(len(dirs))], fmt.Sprintf("file_%d_%x.go", i, r.Uint32()))
		if err := os.WriteFile(name, body[at:at+size], 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return root
}

// rawDir calls visit for each entry of an opened directory with its name, which ends in a NUL, and its type.
func rawDir(tb testing.TB, fd int, buf []byte, visit func(name *byte, kind byte)) {
	for {
		n, err := unix.Getdents(fd, buf)
		if err != nil {
			tb.Error(err)
		}
		if n <= 0 {
			return
		}
		for b := buf[:n]; len(b) > 0; {
			size := binary.NativeEndian.Uint16(b[16:])
			name := b[19:size]
			if !bytes.HasPrefix(name, []byte(".\x00")) && !bytes.HasPrefix(name, []byte("..\x00")) {
				visit(&name[0], b[18])
			}
			b = b[size:]
		}
	}
}

func rawOpen(fd int, name *byte, flags int) int {
	got, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(fd), uintptr(unsafe.Pointer(name)), uintptr(flags|unix.O_CLOEXEC|unix.O_NOFOLLOW), 0, 0, 0)
	if errno != 0 {
		return -1
	}
	return int(got)
}

// rawWalk shares directories between goroutines, each of which calls work for an opened one and may give it more.
func rawWalk(tb testing.TB, dir string, goroutines int, work func(w int, fd int, push func(fd int))) {
	top, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	var mu sync.Mutex
	more := sync.NewCond(&mu)
	todo, busy := []int{top}, 0
	push := func(fd int) {
		mu.Lock()
		todo = append(todo, fd)
		mu.Unlock()
		more.Signal()
	}
	var wg sync.WaitGroup
	for w := range goroutines {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			for {
				for len(todo) == 0 && busy > 0 {
					more.Wait()
				}
				if len(todo) == 0 {
					more.Broadcast()
					return
				}
				fd := todo[len(todo)-1]
				todo = todo[:len(todo)-1]
				busy++
				mu.Unlock()
				work(w, fd, push)
				unix.Close(fd)
				mu.Lock()
				busy--
			}
		})
	}
	wg.Wait()
}

// floorRead reads and hashes every file.
func floorRead(tb testing.TB, dir string) {
	const workers = 2
	var names, data [workers][]byte
	for w := range workers {
		names[w], data[w] = make([]byte, 32<<10), make([]byte, bufferSize)
	}
	var last [workers][sha256.Size]byte
	rawWalk(tb, dir, workers, func(w, fd int, push func(int)) {
		rawDir(tb, fd, names[w], func(name *byte, kind byte) {
			switch kind {
			case unix.DT_DIR:
				push(rawOpen(fd, name, unix.O_RDONLY|unix.O_DIRECTORY))
			case unix.DT_REG:
				f := rawOpen(fd, name, unix.O_RDONLY)
				last[w] = rawHash(tb, f, data[w])
				unix.Close(f)
			}
		})
	})
}

// plainRead is the same work as anybody would write it: filepath.WalkDir, os.ReadFile and SHA-256, on two goroutines.
func plainRead(tb testing.TB, dir string) {
	files := make(chan string, 256)
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			for name := range files {
				b, err := os.ReadFile(name)
				if err != nil {
					tb.Error(err)
				}
				sha256.Sum256(b)
			}
		})
	}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files <- name
		}
		return err
	})
	close(files)
	running.Wait()
	if err != nil {
		tb.Error(err)
	}
}

// rawHash needs one read for a file that is smaller than the buffer.
func rawHash(tb testing.TB, fd int, buf []byte) [sha256.Size]byte {
	n, err := unix.Read(fd, buf)
	if err != nil {
		tb.Error(err)
	}
	if n < len(buf) {
		return sha256.Sum256(buf[:n])
	}
	sum := sha256.New()
	for n > 0 {
		sum.Write(buf[:n])
		if n, err = unix.Read(fd, buf); err != nil {
			tb.Error(err)
		}
	}
	return [sha256.Size]byte(sum.Sum(nil))
}

// floorStat walks and lstats every entry that is no directory, and opens those that are.
func floorStat(tb testing.TB, dir string) {
	buf := make([][]byte, 0, 64)
	var walk func(fd, depth int)
	walk = func(fd, depth int) {
		if depth == len(buf) {
			buf = append(buf, make([]byte, 32<<10))
		}
		rawDir(tb, fd, buf[depth], func(name *byte, kind byte) {
			if kind == unix.DT_DIR {
				child := rawOpen(fd, name, unix.O_RDONLY|unix.O_DIRECTORY)
				walk(child, depth+1)
				unix.Close(child)
				return
			}
			rawStat(tb, fd, name)
		})
	}
	top, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer unix.Close(top)
	walk(top, 0)
}

func floorStatTwo(tb testing.TB, dir string) {
	buf := [2][]byte{make([]byte, 32<<10), make([]byte, 32<<10)}
	rawWalk(tb, dir, 2, func(w, fd int, push func(int)) {
		rawDir(tb, fd, buf[w], func(name *byte, kind byte) {
			if kind == unix.DT_DIR {
				push(rawOpen(fd, name, unix.O_RDONLY|unix.O_DIRECTORY))
				return
			}
			rawStat(tb, fd, name)
		})
	})
}

func rawStat(tb testing.TB, fd int, name *byte) {
	var st unix.Stat_t
	_, _, errno := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(fd), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
	if errno != 0 {
		tb.Error(errno)
	}
}
