package mutation

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/toolkit"
)

// strangers gives two locks on the same files that know nothing of each other, as those of two processes do. Both
// stay in use until the test ends, so that their idle descriptors are kept however many roots other tests leave behind.
func strangers(t *testing.T, opt Options) (ours, theirs *Lock) {
	t.Helper()
	parent := t.TempDir()
	dir, link := filepath.Join(parent, "locks"), filepath.Join(parent, "also")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	opt.Dir = dir
	ours, theirs = For("/root", rootID, opt), lockIn(link)
	for _, l := range []*Lock{ours, theirs} {
		r := process.enter(l.key)
		t.Cleanup(func() { process.leave(r) })
	}
	return ours, theirs
}

func (l *Lock) in(m mode) func(context.Context) (func(), error) {
	if m == exclusive {
		return l.Write
	}
	return l.Read
}

func mustTake(t *testing.T, take func(context.Context) (func(), error)) (release func()) {
	t.Helper()
	release, err := take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// until waits for what another goroutine is about to do.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !done(); runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatalf("never came: %s", what)
		}
	}
}

func strays(l *Lock) int {
	r := process.enter(l.key)
	defer process.leave(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stray
}

var pairings = []struct {
	name          string
	first, second mode
	together      bool
}{
	{"lets a reader join a reader", shared, shared, true},
	{"keeps a mutator from a reader", shared, exclusive, false},
	{"keeps a reader from a mutator", exclusive, shared, false},
	{"keeps a mutator from a mutator", exclusive, exclusive, false},
}

func TestLockInOneProcess(t *testing.T) {
	for _, test := range pairings {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				// Two packs on one root have a Lock each.
				release := mustTake(t, lockIn(dir).in(test.first))
				entered := false
				go func() {
					defer mustTake(t, lockIn(dir).in(test.second))()
					entered = true
				}()
				synctest.Wait()
				if entered != test.together {
					t.Errorf("the second is in: %v, want %v", entered, test.together)
				}
				release()
				synctest.Wait()
				if !entered {
					t.Error("the second is not in after the first has left")
				}
			})
		})
	}
}

func TestLockBetweenProcesses(t *testing.T) {
	for _, test := range pairings {
		t.Run(test.name, func(t *testing.T) {
			ours, theirs := strangers(t, Options{Wait: time.Millisecond})
			release := mustTake(t, theirs.in(test.first))
			if got := lockedApart(t, ours, test.second); got != test.together {
				t.Errorf("the second has the files locked: %v, want %v", got, test.together)
			}
			release()
			until(t, "the end of the wait that was given up", func() bool { return strays(ours) == 0 })
			if !lockedApart(t, ours, test.second) {
				t.Error("the second does not get the lock after the first has left")
			}
		})
	}
}

// lockedApart says whether l can be had so that strangers are kept out.
func lockedApart(t *testing.T, l *Lock, m mode) bool {
	t.Helper()
	r := process.enter(l.key)
	defer process.leave(r)
	c, err := l.claim(t.Context(), r, m)
	if err != nil {
		if !errors.Is(err, ErrHeld) {
			t.Fatal(err)
		}
		return false
	}
	c.close()
	return true
}

func TestLockGoesOnWithoutAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	other := startChild(t, dir, "hold", "write")
	other.expect("held")
	l := For("/root", rootID, Options{Dir: dir, Wait: time.Millisecond})

	t.Run("it lets a reader in", func(t *testing.T) {
		release := mustTake(t, l.Read)
		release()
	})
	t.Run("it refuses a mutator in one sentence", func(t *testing.T) {
		_, err := l.Write(t.Context())
		var refusal *toolkit.Refusal
		if !errors.Is(err, ErrHeld) || !errors.As(err, &refusal) {
			t.Fatalf("got %v, want a refusal that is ErrHeld", err)
		}
		const want = "another process holds the directory, so nothing was changed; send the call again"
		if diff := cmp.Diff(want, refusal.Refusal()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("it lets the mutator in once the other process lets go", func(t *testing.T) {
		other.tell()
		other.expect("released")
		release := mustTake(t, lockIn(dir).Write)
		release()
	})
}

func TestLockIsHandedOver(t *testing.T) {
	for _, m := range []mode{shared, exclusive} {
		for _, holds := range []string{"read", "write"} {
			if m == shared && holds == "read" {
				continue // Readers share.
			}
			t.Run("it comes to mode "+strconv.Itoa(int(m))+" from another process that holds "+holds, func(t *testing.T) {
				ours, third := strangers(t, Options{Wait: patience})
				other := startChild(t, ours.key.dir, "hold", holds)
				other.expect("held")
				got := make(chan func())
				watch := newWatched(t)
				go func() {
					release, err := ours.in(m)(watch)
					if err != nil {
						t.Error(err)
					}
					got <- release
				}()
				<-watch.waiting
				select {
				case <-got:
					t.Fatal("it came while the other process held it")
				default:
				}
				other.tell()
				(<-got)()
				third.wait = time.Millisecond
				if !lockedApart(t, third, exclusive) {
					t.Error("something of it is still locked after its release")
				}
			})
		}
	}
}

// watched is a context that tells when the lock waits for another process, which is when it asks for Done the
// second time: the first is for the queue of this process.
type watched struct {
	context.Context
	cancel  func()
	waiting chan struct{}

	mu    sync.Mutex // guards what follows
	asked int
}

func newWatched(t *testing.T) *watched {
	ctx, cancel := context.WithCancel(t.Context())
	return &watched{Context: ctx, cancel: cancel, waiting: make(chan struct{})}
}

func (w *watched) Done() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked++; w.asked == 2 {
		close(w.waiting)
	}
	return w.Context.Done()
}

func TestLockServesInOrderOfArrival(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := lockIn(dir)
		release := mustTake(t, l.Read)
		var mu sync.Mutex
		var got []string
		arrive := func(name string, m mode) {
			go func() {
				defer mustTake(t, l.in(m))()
				mu.Lock()
				defer mu.Unlock()
				got = append(got, name)
			}()
			synctest.Wait()
		}
		arrive("mutator 1", exclusive)
		arrive("reader", shared) // Would get in at once if readers could pass a mutator that waits.
		arrive("mutator 2", exclusive)
		release()
		synctest.Wait()
		if diff := cmp.Diff([]string{"mutator 1", "reader", "mutator 2"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestLockEndsAWaitForThisProcess(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := lockIn(dir)
		release := mustTake(t, l.Read)
		ctx, cancel := context.WithCancel(t.Context())
		var cancelled error
		go func() { _, cancelled = l.Write(ctx) }()
		synctest.Wait()
		behind := false
		go func() {
			defer mustTake(t, l.Read)()
			behind = true
		}()
		synctest.Wait()
		if behind {
			t.Fatal("a reader passed a mutator that waits")
		}
		cancel()
		synctest.Wait()
		if !errors.Is(cancelled, context.Canceled) {
			t.Errorf("got %v, want that the wait was cancelled", cancelled)
		}
		if !behind {
			t.Error("the reader behind the one who left is still waiting")
		}
		release()
		mustTake(t, l.Write)()
	})
}

func TestLockEndsAWaitForAnotherProcess(t *testing.T) {
	for _, m := range []mode{shared, exclusive} {
		t.Run("it ends for mode "+strconv.Itoa(int(m)), func(t *testing.T) {
			ours, theirs := strangers(t, Options{Wait: patience})
			release := mustTake(t, theirs.Write)
			watch := newWatched(t)
			ended := make(chan error)
			go func() {
				_, err := ours.in(m)(watch)
				ended <- err
			}()
			<-watch.waiting
			watch.cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want that the wait was cancelled", err)
			}
			release()
			mustTake(t, ours.in(m))()
			mustTake(t, theirs.Write)()
			until(t, "the end of the wait that was given up", func() bool { return strays(ours) == 0 })
		})
	}
}

func TestLockGivenUpKeepsNobodyOut(t *testing.T) {
	ours, theirs := strangers(t, Options{Wait: time.Millisecond})
	release := mustTake(t, theirs.Read)
	defer release()
	if _, err := ours.Write(t.Context()); !errors.Is(err, ErrHeld) {
		t.Fatalf("got %v, want ErrHeld", err)
	}
	// The mutator that left was at the gate. Were it still locked, no reader could pass.
	theirs.wait = time.Millisecond
	if !lockedApart(t, theirs, shared) {
		t.Error("a reader is kept out by a mutator that has left")
	}
}

func TestLockBoundsTheWaitsGivenUp(t *testing.T) {
	ours, theirs := strangers(t, Options{Wait: time.Millisecond})
	release := mustTake(t, theirs.Write)
	for range 2 * strayLimit {
		mustTake(t, ours.Read)()
	}
	if got := strays(ours); got != strayLimit {
		t.Errorf("%d waits are left behind, want %d", got, strayLimit)
	}
	release()
	until(t, "the end of the waits that were given up", func() bool { return strays(ours) == 0 })
	if !lockedApart(t, ours, shared) {
		t.Error("a reader does not get the lock after the other process has left")
	}
}

func TestLockLosesNoUpdate(t *testing.T) {
	for _, test := range []struct{ name, flaw string }{
		{"it counts every addition of three processes", "none"},
		{"it counts them though the lock files are deleted again and again", "delete"},
	} {
		t.Run(test.name, func(t *testing.T) {
			const times, workers = 100, 2
			dir, file := t.TempDir(), filepath.Join(t.TempDir(), "number")
			if err := os.WriteFile(file, []byte("0"), 0o600); err != nil {
				t.Fatal(err)
			}
			others := []*child{}
			for range 2 {
				others = append(others, startChild(t, dir, "count", file, strconv.Itoa(times), test.flaw))
			}
			for _, other := range others {
				other.expect("ready")
				other.tell()
			}
			var group sync.WaitGroup
			for range workers {
				group.Go(func() { count(t, lockIn(dir), file, times, test.flaw) })
			}
			group.Wait()
			for _, other := range others {
				other.expect("counted")
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strconv.Itoa((len(others)+workers)*times), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLockFindsTheFileInPlace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows lets nobody remove or rename a file that is open")
	}
	for _, test := range []struct {
		name   string
		change func(l *Lock) error
	}{
		{"deleted", func(l *Lock) error { return os.Remove(l.key.path(".lock")) }},
		{"deleted with its directory", func(l *Lock) error { return os.RemoveAll(l.key.dir) }},
		{"replaced", func(l *Lock) error {
			if err := os.Rename(l.key.path(".lock"), l.key.path(".old")); err != nil {
				return err
			}
			return os.WriteFile(l.key.path(".lock"), nil, 0o600)
		}},
	} {
		t.Run("it locks what newcomers find after the file was "+test.name, func(t *testing.T) {
			ours, theirs := strangers(t, Options{Wait: time.Millisecond})
			mustTake(t, ours.Write)() // From now on a descriptor of the old file is kept.
			if err := test.change(ours); err != nil {
				t.Fatal(err)
			}
			release := mustTake(t, ours.Write)
			theirs.wait = time.Millisecond
			if lockedApart(t, theirs, exclusive) {
				t.Error("both have the lock")
			}
			release()
		})
	}
}

func TestLockWithoutLockFiles(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(t *testing.T, dir string) error
	}{
		{"a file in place of the directory", func(t *testing.T, dir string) error {
			return os.WriteFile(dir, nil, 0o600)
		}},
		{"a directory in place of the lock file", func(t *testing.T, dir string) error {
			return os.MkdirAll(filepath.Join(dir, "7-42.lock"), 0o700)
		}},
		{"a link in place of the lock file", func(t *testing.T, dir string) error {
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "7-42.lock"))
		}},
	} {
		t.Run("it warns once and goes on with "+test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "locks")
			if err := test.spoil(t, dir); err != nil {
				t.Fatal(err)
			}
			checkAlone(t, Options{Dir: dir}, dir)
			if _, err := os.Lstat(filepath.Join(dir, "elsewhere")); err == nil {
				t.Error("a file was made where a link points")
			}
		})
	}
	t.Run("it warns once and goes on where there is no cache directory", func(t *testing.T) {
		for _, name := range []string{"XDG_CACHE_HOME", "HOME", "home", "LocalAppData"} {
			t.Setenv(name, "")
		}
		process.mu.Lock()
		delete(process.warned, "") // The same test may have run before in this process.
		process.mu.Unlock()
		checkAlone(t, Options{}, "")
	})
	t.Run("it needs nobody to warn", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "locks")
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		mustTake(t, For("/root", rootID, Options{Dir: dir}).Write)()
	})
}

// checkAlone checks that packs on one root still exclude each other, and that one of them warns, naming dir.
func checkAlone(t *testing.T, opt Options, dir string) {
	t.Helper()
	var warnings []string
	opt.Warn = func(s string) { warnings = append(warnings, s) }
	synctest.Test(t, func(t *testing.T) {
		release := mustTake(t, For("/root", rootID, opt).Write)
		entered := false
		go func() {
			defer mustTake(t, For("/root", rootID, opt).Read)()
			entered = true
		}()
		synctest.Wait()
		if entered {
			t.Error("a reader is in beside a mutator")
		}
		release()
		synctest.Wait()
		if !entered {
			t.Error("the reader is not in after the mutator has left")
		}
	})
	const what = "other processes on the same root are not kept out while this one reads or changes it: "
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], what) || !strings.Contains(warnings[0], dir) {
		t.Errorf("got the warnings %q, want one that starts with %q and names %s", warnings, what, dir)
	}
}

func TestLockOutlivesAKilledHolder(t *testing.T) {
	dir := t.TempDir()
	other := startChild(t, dir, "hold", "write")
	other.expect("held")
	if err := other.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	mustTake(t, lockIn(dir).Write)()
}

func TestLockLetsAMutatorPastACrowd(t *testing.T) {
	dir := t.TempDir()
	others := []*child{}
	for range 4 {
		others = append(others, startChild(t, dir, "crowd"))
	}
	for _, other := range others {
		other.expect("ready")
		other.tell()
		other.expect("crowding")
	}
	for range 3 {
		mustTake(t, lockIn(dir).Write)()
	}
	for _, other := range others {
		other.tell()
	}
}

func TestLockLeaksNoDescriptor(t *testing.T) {
	if _, err := os.ReadDir("/dev/fd"); err != nil {
		t.Skip("there is no /dev/fd to count descriptors in")
	}
	descriptors := func() int {
		names, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	ours, theirs := strangers(t, Options{Wait: time.Microsecond})
	before := descriptors()
	for i := range 1000 {
		mustTake(t, ours.in(mode(i%2)))()
		release := mustTake(t, theirs.Read)
		if _, err := ours.Write(t.Context()); !errors.Is(err, ErrHeld) {
			t.Fatalf("got %v, want ErrHeld", err)
		}
		release()
		until(t, "the end of the wait that was given up", func() bool { return strays(ours) == 0 })
	}
	var releases []func()
	for range 100 {
		releases = append(releases, mustTake(t, ours.Read))
	}
	for _, release := range releases {
		release()
	}
	for i := range 1000 {
		l := For("/root", confine.ID{Dev: 8, Ino: uint64(i)}, Options{Dir: ours.key.dir})
		mustTake(t, l.Read)()
	}
	// Both locks may keep all they may, and the roots that were used once one claim each.
	if got, most := descriptors()-before, 2*(2*idleClaims+idleRoots); got > most {
		t.Errorf("%d descriptors more than before, want at most %d", got, most)
	}
}

func TestLockKeepsTheRootsUsedLast(t *testing.T) {
	dir := t.TempDir()
	numbered := func(i int) *Lock { return For("/root", confine.ID{Dev: 9, Ino: uint64(i)}, Options{Dir: dir}) }
	for i := range 2 * idleRoots {
		mustTake(t, numbered(0).Read)()
		mustTake(t, numbered(i).Read)()
	}
	var got []int
	process.mu.Lock()
	for i := range 2 * idleRoots {
		if process.roots[numbered(i).key] != nil {
			got = append(got, i)
		}
	}
	process.mu.Unlock()
	want := []int{0}
	for i := idleRoots + 1; i < 2*idleRoots; i++ {
		want = append(want, i)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLockReleasesOnce(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := lockIn(dir)
		release := mustTake(t, l.Write)
		release()
		next := mustTake(t, l.Write)
		release()
		entered := false
		go func() {
			defer mustTake(t, l.Read)()
			entered = true
		}()
		synctest.Wait()
		if entered {
			t.Error("the second release of one holder let somebody in beside the next")
		}
		next()
		synctest.Wait()
		if !entered {
			t.Error("the next holder's own release let nobody in")
		}
	})
}

func TestLockFilesAreTheUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	dir := filepath.Join(t.TempDir(), "made", "locks")
	mustTake(t, lockIn(dir).Write)()
	got := map[string]string{}
	for _, name := range []string{"..", ".", "7-42.lock", "7-42.gate"} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = info.Mode().String()
	}
	want := map[string]string{"..": "drwx------", ".": "drwx------", "7-42.lock": "-rw-------", "7-42.gate": "-rw-------"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLockIsNamedAfterTheRoot(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("there is no user's cache directory")
	}
	hashed := "path-6a50dc8584134c7de537c0052ff6d236bf874355e050c90523e0c5ff2a543a28"
	for _, test := range []struct {
		name string
		lock *Lock
		want lockKey
	}{
		{"by its identity", For("/a", rootID, Options{}), lockKey{filepath.Join(cache, "lookfirst", "locks"), "7-42"}},
		{"by its path where there is no identity", For("/a", confine.ID{}, Options{Dir: "x/../y"}), lockKey{"y", hashed}},
	} {
		t.Run("it goes "+test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.lock.key, cmp.AllowUnexported(lockKey{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// BenchmarkLock measures taking and releasing a lock that nobody else wants, with the lock files in a temporary
// directory. It does not measure a wait.
func BenchmarkLock(b *testing.B) {
	for _, bench := range []struct {
		name string
		mode mode
	}{{"read", shared}, {"write", exclusive}} {
		b.Run(bench.name, func(b *testing.B) {
			take := lockIn(b.TempDir()).in(bench.mode)
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				release, err := take(ctx)
				if err != nil {
					b.Fatal(err)
				}
				release()
			}
		})
	}
}
