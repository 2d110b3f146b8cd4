package textfile_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/textfile"
)

// openRoot opens dir as a root for the length of the test.
func openRoot(tb testing.TB, dir string) *confine.Root {
	tb.Helper()
	root, err := confine.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { root.Close() })
	return root
}

// store stores content at the path below root.
func store(ctx context.Context, root *confine.Root, path string, content []byte, opt textfile.StoreOptions) (textfile.Stored, error) {
	loc, err := root.Resolve("path", path)
	if err != nil {
		return textfile.Stored{}, err
	}
	defer loc.Close()
	return textfile.Store(ctx, loc, content, opt)
}

// put makes a file, and the directories on the way to it.
func put(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		tb.Fatal(err)
	}
}

// tree lists everything below dir, temporary files too: files with their content, links with their target.
func tree(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	got := make(map[string]string)
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		at := filepath.Join(dir, path)
		switch {
		case err != nil || path == ".":
			return err
		case e.IsDir():
			got[path] = "dir"
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(at)
			got[path] = "=> " + target
			return err
		default:
			b, err := os.ReadFile(at)
			got[path] = string(b)
			return err
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

func expectTree(tb testing.TB, dir string, want map[string]string) {
	tb.Helper()
	if diff := cmp.Diff(want, tree(tb, dir)); diff != "" {
		tb.Errorf("tree (-want +got):\n%s", diff)
	}
}

// expectRefusal wants the sentence, as one that a model may be shown.
func expectRefusal(tb testing.TB, err error, want string) {
	tb.Helper()
	var refusal interface{ Refusal() string }
	if !errors.As(err, &refusal) {
		tb.Fatalf("got error %v, want the refusal %q", err, want)
	}
	if diff := cmp.Diff(want, refusal.Refusal()); diff != "" {
		tb.Errorf("refusal (-want +got):\n%s", diff)
	}
}

// expectStored compares but for Info, which it holds against what stands at path.
func expectStored(tb testing.TB, root *confine.Root, path string, got textfile.Stored, err error, want textfile.Stored) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	loc, err := root.Resolve("path", path)
	if err != nil {
		tb.Fatal(err)
	}
	defer loc.Close()
	want.Info = loc.Info
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("stored (-want +got):\n%s", diff)
	}
}

func TestStoreWrites(t *testing.T) {
	longName := strings.Repeat("n", 255)
	for _, test := range []struct {
		name    string
		setup   func(t *testing.T, dir string)
		path    string
		content string
		want    textfile.Stored
		tree    map[string]string
	}{
		{
			name: "creates a file",
			path: "f", content: "new", want: textfile.Stored{Created: true},
			tree: map[string]string{"f": "new"},
		},
		{
			name: "creates an empty file",
			path: "f", want: textfile.Stored{Created: true},
			tree: map[string]string{"f": ""},
		},
		{
			name:  "replaces a file by a longer one",
			setup: func(t *testing.T, dir string) { put(t, dir+"/d/f", "old") },
			path:  "d/f", content: "the new one",
			tree: map[string]string{"d": "dir", "d/f": "the new one"},
		},
		{
			name:  "replaces a file by an empty one",
			setup: func(t *testing.T, dir string) { put(t, dir+"/f", "old") },
			path:  "f",
			tree:  map[string]string{"f": ""},
		},
		{
			name:  "replaces a file by more than is written at once",
			setup: func(t *testing.T, dir string) { put(t, dir+"/f", "old") },
			path:  "f", content: strings.Repeat("0123456789abcde\n", 200_000),
			tree: map[string]string{"f": strings.Repeat("0123456789abcde\n", 200_000)},
		},
		{
			name: "creates a file whose name leaves no room for a suffix",
			path: longName, content: "new", want: textfile.Stored{Created: true},
			tree: map[string]string{longName: "new"},
		},
		{
			name:  "replaces a file whose name leaves no room for a suffix",
			setup: func(t *testing.T, dir string) { put(t, dir+"/"+longName, "old") },
			path:  longName, content: "new",
			tree: map[string]string{longName: "new"},
		},
		{
			name: "replaces the file behind a link and keeps the link",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/d/f", "old")
				link(t, "d/f", dir+"/l")
			},
			path: "l", content: "new",
			tree: map[string]string{"d": "dir", "d/f": "new", "l": "=> d/f"},
		},
		{
			name: "creates the target of a dangling link inside",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/d/x", "x")
				link(t, "d/f", dir+"/l")
			},
			path: "l", content: "new", want: textfile.Stored{Created: true},
			tree: map[string]string{"d": "dir", "d/x": "x", "d/f": "new", "l": "=> d/f"},
		},
		{
			name: "replaces one of two hard links and says so",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/f", "old")
				if err := os.Link(dir+"/f", dir+"/g"); err != nil {
					t.Skip("no hard links on this file system:", err)
				}
			},
			path: "f", content: "new",
			want: textfile.Stored{Note: "(it had 2 hard links; the others keep the old text)"},
			tree: map[string]string{"f": "new", "g": "old"},
		},
	} {
		for _, sync := range []bool{false, true} {
			t.Run(test.name+syncName(sync), func(t *testing.T) {
				dir := t.TempDir()
				if test.setup != nil {
					test.setup(t, dir)
				}
				root := openRoot(t, dir)
				got, err := store(t.Context(), root, test.path, []byte(test.content), textfile.StoreOptions{Sync: sync})
				expectStored(t, root, test.path, got, err, test.want)
				expectTree(t, dir, test.tree)
			})
		}
	}
}

func syncName(sync bool) string {
	if sync {
		return ", on the disk"
	}
	return ""
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skip("no symbolic links:", err)
	}
}

func TestStoreRefuses(t *testing.T) {
	outside := t.TempDir()
	for _, test := range []struct {
		name  string
		setup func(t *testing.T, dir string)
		path  string
		want  string
		is    error
		tree  map[string]string
		cure  func(t *testing.T, dir string) // takes the cause away
	}{
		{
			name: "a file without its directory",
			path: "a/b/f", want: "Parent directory of 'a/b/f' does not exist; create it with the mkdir tool first", is: confine.ErrNotExist,
			cure: func(t *testing.T, dir string) { os.MkdirAll(dir+"/a/b", 0o777) },
		},
		{
			name:  "a directory",
			setup: func(t *testing.T, dir string) { os.Mkdir(dir+"/d", 0o777) },
			path:  "d", want: "'d' is a directory", is: confine.ErrNotRegular,
			tree: map[string]string{"d": "dir"},
			cure: func(t *testing.T, dir string) { os.Remove(dir + "/d") },
		},
		{
			name: "the root",
			path: ".", want: "'.' is a directory", is: confine.ErrNotRegular,
		},
		{
			name: "a new file whose name ends in a slash",
			path: "f/", want: "'f/' ends as the name of a directory does; send the name of a file, without the slash", is: confine.ErrName,
		},
		{
			name: "a link that leads outside",
			setup: func(t *testing.T, dir string) {
				link(t, filepath.Join(outside, "f"), dir+"/l")
			},
			path: "l", want: "'l' leads outside the root", is: confine.ErrOutside,
			tree: map[string]string{"l": "=> " + filepath.Join(outside, "f")},
			cure: func(t *testing.T, dir string) { os.Remove(dir + "/l") },
		},
		{
			name:  "the name of a temporary file, which would not be seen and could be swept away",
			setup: func(t *testing.T, dir string) { link(t, ".lookfirst-0123456789abcdef.tmp", dir+"/l") },
			path:  "l", is: confine.ErrName,
			want: "'l' is a name that is kept for temporary files; use another name",
			tree: map[string]string{"l": "=> .lookfirst-0123456789abcdef.tmp"},
			cure: func(t *testing.T, dir string) { os.Remove(dir + "/l") },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if test.setup != nil {
				test.setup(t, dir)
			}
			root := openRoot(t, dir)
			_, err := store(t.Context(), root, test.path, []byte("new"), textfile.StoreOptions{})
			expectRefusal(t, err, test.want)
			if !errors.Is(err, test.is) {
				t.Errorf("the error is no %q: %#v", test.is, err)
			}
			if test.tree == nil {
				test.tree = map[string]string{}
			}
			expectTree(t, dir, test.tree)
			if test.cure == nil {
				return
			}
			test.cure(t, dir)
			if _, err := store(t.Context(), root, test.path, []byte("new"), textfile.StoreOptions{}); err != nil {
				t.Errorf("without the cause: %v", err)
			}
		})
	}
	expectTree(t, outside, map[string]string{})
}

func TestStoreKeepsPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits on Windows")
	}
	for _, test := range []struct {
		name      string
		old, want fs.FileMode
	}{
		{name: "keeps a private file private", old: 0o600, want: 0o600},
		{name: "keeps a shared file shared", old: 0o664, want: 0o664},
		{name: "keeps what the umask would take", old: 0o777, want: 0o777},
		{name: "keeps execute bits", old: 0o751, want: 0o751},
		{name: "drops setuid and setgid, as a write does", old: 0o751 | fs.ModeSetuid | fs.ModeSetgid, want: 0o751},
		{name: "keeps the sticky bit", old: 0o644 | fs.ModeSticky, want: 0o644 | fs.ModeSticky},
		{name: "keeps a file that may be written and not read", old: 0o200, want: 0o200},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir+"/f", "old")
			if err := os.Chmod(dir+"/f", test.old); err != nil {
				t.Fatal(err)
			}
			if _, err := store(t.Context(), openRoot(t, dir), "f", []byte("new"), textfile.StoreOptions{}); err != nil {
				t.Fatal(err)
			}
			fi, err := os.Stat(dir + "/f")
			if err != nil {
				t.Fatal(err)
			}
			if got := fi.Mode(); got != test.want || fi.Size() != 3 {
				t.Errorf("got mode %v and %d bytes, want %v and 3", got, fi.Size(), test.want)
			}
		})
	}
}

// hooked is a context that calls a function each time it is asked, which puts an event at a place inside of Store.
type hooked struct {
	context.Context
	asked func(times int) error
	times int
}

func (h *hooked) Err() error {
	h.times++
	return h.asked(h.times)
}

// hook calls asked at the n-th question only.
func hook(ctx context.Context, n int, asked func() error) *hooked {
	return &hooked{Context: ctx, asked: func(times int) error {
		if times == n {
			return asked()
		}
		return nil
	}}
}

// questions is how often Store of a small file asks its context until the new file takes the name.
const questions = 4

func TestStoreCancelledDoesNothing(t *testing.T) {
	for _, path := range []string{"old", "new"} {
		for n, cancelled := 1, true; cancelled; n++ {
			dir := t.TempDir()
			put(t, dir+"/old", "old")
			ctx := hook(t.Context(), n, func() error { return context.Canceled })
			_, err := store(ctx, openRoot(t, dir), path, []byte("content"), textfile.StoreOptions{Sync: true})
			want := map[string]string{"old": "old"}
			// Once the new file has the name it is too late.
			if cancelled = err != nil; !cancelled {
				want[path] = "content"
			}
			expectTree(t, dir, want)
			if cancelled != errors.Is(err, context.Canceled) || !cancelled && n <= questions {
				t.Fatalf("%s: cancelled at question %d: got error %v", path, n, err)
			}
		}
	}
}

func TestStorePanicLeavesNothing(t *testing.T) {
	for n := 1; n <= questions; n++ {
		dir := t.TempDir()
		put(t, dir+"/f", "old")
		root := openRoot(t, dir)
		before := openFiles(t)
		func() {
			defer func() {
				if got := recover(); got != "boom" {
					t.Errorf("recovered %v, want the panic", got)
				}
			}()
			ctx := hook(t.Context(), n, func() error { panic("boom") })
			store(ctx, root, "f", []byte("new"), textfile.StoreOptions{})
		}()
		expectTree(t, dir, map[string]string{"f": "old"})
		if after := openFiles(t); after != before {
			t.Errorf("panic at question %d: %d open files, were %d", n, after, before)
		}
	}
}

// openFiles counts this process's descriptors, where the system tells.
func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

func TestStoreNeverReplacesWhatAppeared(t *testing.T) {
	const want = "'f' was made by another program meanwhile and is left as it is; read it first"
	// The last question comes between the last look at the name and the new file's taking it.
	for n := 1; n <= questions; n++ {
		dir := t.TempDir()
		ctx := hook(t.Context(), n, func() error {
			put(t, dir+"/f", "theirs")
			return nil
		})
		root := openRoot(t, dir)
		_, err := store(ctx, root, "f", []byte("ours"), textfile.StoreOptions{})
		expectRefusal(t, err, want)
		if !errors.Is(err, textfile.ErrConflict) {
			t.Errorf("the error is no conflict: %#v", err)
		}
		expectTree(t, dir, map[string]string{"f": "theirs"})
		if _, err := store(t.Context(), root, "f", []byte("ours"), textfile.StoreOptions{}); err != nil {
			t.Errorf("once it is known: %v", err)
		}
	}
}

func TestStoreBefore(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(t *testing.T, path string)
		want   string // what is then there
	}{
		{name: "other bytes", change: func(t *testing.T, path string) { put(t, path, "theirs") }, want: "theirs"},
		{
			name: "another file of that name with the same bytes",
			change: func(t *testing.T, path string) {
				put(t, path+"2", "old")
				if err := os.Rename(path+"2", path); err != nil {
					t.Fatal(err)
				}
			},
			want: "old",
		},
		{name: "no file any more", change: func(t *testing.T, path string) { os.Remove(path) }},
		{
			name: "a directory",
			change: func(t *testing.T, path string) {
				os.Remove(path)
				os.Mkdir(path, 0o777)
			},
			want: "dir",
		},
	} {
		for n := 1; n < questions; n++ {
			t.Run(test.name, func(t *testing.T) {
				dir := t.TempDir()
				put(t, dir+"/f", "old")
				loc, err := openRoot(t, dir).Resolve("path", "f")
				if err != nil {
					t.Fatal(err)
				}
				defer loc.Close()
				opt := textfile.StoreOptions{Before: &loc.Info}
				ctx := hook(t.Context(), n, func() error {
					test.change(t, dir+"/f")
					return nil
				})
				_, err = textfile.Store(ctx, loc, []byte("ours"), opt)
				expectRefusal(t, err, "'f' changed while it was being edited; read it again")
				want := map[string]string{}
				if test.want != "" {
					want["f"] = test.want
				}
				expectTree(t, dir, want)
			})
		}
	}
	t.Run("unchanged", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir+"/f", "old")
		loc, err := openRoot(t, dir).Resolve("path", "f")
		if err != nil {
			t.Fatal(err)
		}
		defer loc.Close()
		if _, err := textfile.Store(t.Context(), loc, []byte("ours"), textfile.StoreOptions{Before: &loc.Info}); err != nil {
			t.Fatal(err)
		}
		expectTree(t, dir, map[string]string{"f": "ours"})
	})
}

func TestStoreWhatBecameOfTheFileWithoutBefore(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(t *testing.T, path string)
		refusal string
		tree    map[string]string
	}{
		{
			name:   "writes over other bytes: the last one wins",
			change: func(t *testing.T, path string) { put(t, path, "theirs") },
			tree:   map[string]string{"f": "ours"},
		},
		{
			name:    "does not bring a deleted file back",
			change:  func(t *testing.T, path string) { os.Remove(path) },
			refusal: "'f' changed while it was being written; read it again",
			tree:    map[string]string{},
		},
		{
			name: "leaves a directory alone",
			change: func(t *testing.T, path string) {
				os.Remove(path)
				put(t, path+"/g", "theirs")
			},
			refusal: "'f' is a directory",
			tree:    map[string]string{"f": "dir", "f/g": "theirs"},
		},
		{
			name: "leaves a link alone",
			change: func(t *testing.T, path string) {
				os.Remove(path)
				link(t, "elsewhere", path)
			},
			refusal: "'f' is not a regular file (symbolic link)",
			tree:    map[string]string{"f": "=> elsewhere"},
		},
	} {
		for n := 1; n < questions; n++ {
			t.Run(test.name, func(t *testing.T) {
				dir := t.TempDir()
				put(t, dir+"/f", "old")
				ctx := hook(t.Context(), n, func() error {
					test.change(t, dir+"/f")
					return nil
				})
				_, err := store(ctx, openRoot(t, dir), "f", []byte("ours"), textfile.StoreOptions{})
				if test.refusal != "" {
					expectRefusal(t, err, test.refusal)
				} else if err != nil {
					t.Error(err)
				}
				expectTree(t, dir, test.tree)
			})
		}
	}
}

func TestStoreReaderSeesNoTornFile(t *testing.T) {
	dir := t.TempDir()
	version := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 1<<16+i) }
	put(t, dir+"/f", string(version(0)))
	root := openRoot(t, dir)

	const writers, rounds = 8, 20
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for range rounds {
				if _, err := store(t.Context(), root, "f", version(i), textfile.StoreOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	for reads := 0; ; reads++ {
		select {
		case <-done:
			if reads == 0 {
				t.Error("nothing was read")
			}
			expectTree(t, dir, map[string]string{"f": string(mustRead(t, dir+"/f"))})
			return
		default:
		}
		if b := mustRead(t, dir+"/f"); len(b) == 0 || !bytes.Equal(b, version(int(b[0]-'a'))) {
			t.Fatalf("torn after %d reads: %d bytes that begin with %.20q", reads, len(b), b)
		}
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestStoreSweepsOnce(t *testing.T) {
	dir := t.TempDir()
	left := dir + "/.lookfirst-0123456789abcdef.tmp"
	root := openRoot(t, dir)
	for _, test := range []struct {
		name string
		want bool // the leftover is still there
	}{
		{name: "sweeps at the first write to a directory", want: false},
		{name: "does not look again at the next", want: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			put(t, left, "left by a crash")
			if _, err := store(t.Context(), root, "f", []byte("new"), textfile.StoreOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(left); (err == nil) != test.want {
				t.Errorf("the leftover is there: %v, want %v", err == nil, test.want)
			}
		})
	}
}

// BenchmarkStore replaces one file again and again, on whatever disk the temporary directory is; so its ratios say more
// than its times. What it is compared with keeps no owner, attributes or permissions, and os-write loses the file when
// it is stopped midway.
func BenchmarkStore(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"1KB", 1 << 10}, {"1MB", 1 << 20}} {
		content := bytes.Repeat([]byte("0123456789abcde\n"), size.n/16)
		for _, way := range []struct {
			name  string
			write func(ctx context.Context, root *confine.Root, dir string) error
		}{
			{name: "store", write: func(ctx context.Context, root *confine.Root, dir string) error {
				_, err := store(ctx, root, "f", content, textfile.StoreOptions{})
				return err
			}},
			{name: "os-write", write: func(_ context.Context, _ *confine.Root, dir string) error {
				return os.WriteFile(dir+"/f", content, 0o666)
			}},
			{name: "os-rename", write: func(_ context.Context, _ *confine.Root, dir string) error {
				return writeAndRename(dir, content, false)
			}},
			{name: "store-sync", write: func(ctx context.Context, root *confine.Root, dir string) error {
				_, err := store(ctx, root, "f", content, textfile.StoreOptions{Sync: true})
				return err
			}},
			{name: "os-rename-sync", write: func(_ context.Context, _ *confine.Root, dir string) error {
				return writeAndRename(dir, content, true)
			}},
		} {
			b.Run(size.name+"/"+way.name, func(b *testing.B) {
				dir := b.TempDir()
				root := openRoot(b, dir)
				put(b, dir+"/f", "old")
				b.SetBytes(int64(len(content)))
				b.ReportAllocs()
				for b.Loop() {
					if err := way.write(b.Context(), root, dir); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// writeAndRename is what a careful program does with the standard library.
func writeAndRename(dir string, content []byte, sync bool) error {
	f, err := os.Create(dir + "/temp")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if sync {
		err = errors.Join(err, f.Sync())
	}
	if err := errors.Join(err, f.Close(), os.Rename(dir+"/temp", dir+"/f")); err != nil || !sync {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
