package textfile_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"lookfirst/fsmcp/textfile"
)

// childDir is set in a child process, to the directory in which the test's body is to work.
const childDir = "STORE_TEST_DIR"

// nobody is the number of a user and a group without rights.
const nobody = 65534

// inChild runs body in a process of its own: this test binary once more, told to run this test alone. So body may give up
// its rights, limit itself or mount something. through is a command that starts the child, such as strace.
func inChild(t *testing.T, through []string, body func(t *testing.T, dir string)) {
	t.Helper()
	if dir := os.Getenv(childDir); dir != "" {
		body(t, dir)
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Split(t.Name(), "/")
	for i, name := range names {
		names[i] = "^" + regexp.QuoteMeta(name) + "$"
	}
	args := append(through, program, "-test.run="+strings.Join(names, "/"), "-test.v")
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), childDir+"="+openTempDir(t))
	out, err := cmd.CombinedOutput()
	if skip := regexp.MustCompile(`\.go:\d+: (.*)\n(?s:.*)--- SKIP`).FindSubmatch(out); skip != nil {
		t.Skipf("%s", skip[1])
	}
	if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
		t.Errorf("in a process of its own: %v\n%s", err, out)
	}
}

// openTempDir is t.TempDir for everybody.
func openTempDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// giveUpRights makes the child act as a plain user, if it was none. Only the effective user and group count, so only those
// are changed.
func giveUpRights(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	must(t, unix.Setgroups(nil), unix.Setresgid(0, nobody, 0), unix.Setresuid(0, nobody, 0))
}

// giveAway makes a plain user the owner.
func giveAway(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if os.Geteuid() == 0 {
			must(t, os.Chown(path, nobody, nobody))
		}
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of another user")
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// row is a case in which a file is stored that may not be replaced as usual.
type row struct {
	name    string
	setup   func(t *testing.T, dir string) // as root, where the tests run as root; giveUpRights comes after it
	content string
	refusal string
	want    textfile.Stored
	tree    map[string]string
}

// run stores content as 'd/f' below dir, and compares.
func (r row) run(t *testing.T, dir string) {
	r.setup(t, dir)
	root := openRoot(t, dir)
	giveUpRights(t)
	got, err := store(t.Context(), root, "d/f", []byte(r.content), textfile.StoreOptions{Sync: true})
	if r.refusal != "" {
		expectRefusal(t, err, r.refusal)
	} else {
		expectStored(t, root, "d/f", got, err, r.want)
	}
	// The test has to read it even where Store could not.
	os.Chmod(dir+"/d", 0o755)
	os.Chmod(dir+"/d/f", 0o644)
	expectTree(t, dir, r.tree)
}

func TestStoreAsPlainUser(t *testing.T) {
	const directoryDenied = "(not atomic: the directory is not writable)"
	for _, r := range []row{
		{
			name: "replaces a file of its own",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/d/f", "old")
				giveAway(t, dir+"/d", dir+"/d/f")
			},
			content: "new",
			tree:    map[string]string{"d": "dir", "d/f": "new"},
		},
		{
			name: "refuses a read-only file, although it could be replaced",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/d/f", "old")
				giveAway(t, dir+"/d", dir+"/d/f")
				must(t, os.Chmod(dir+"/d/f", 0o444))
			},
			content: "new",
			refusal: "'d/f' is read-only",
			tree:    map[string]string{"d": "dir", "d/f": "old"},
		},
		{
			name: "writes a longer text in place where the directory is not writable",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/d/f", "old")
				giveAway(t, dir+"/d/f")
				must(t, os.Chmod(dir+"/d", 0o555))
			},
			content: "longer than it was",
			want:    textfile.Stored{Note: directoryDenied},
			tree:    map[string]string{"d": "dir", "d/f": "longer than it was"},
		},
		{
			name: "writes a shorter text in place where the directory is not writable",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/d/f", "old and long")
				giveAway(t, dir+"/d/f")
				must(t, os.Chmod(dir+"/d", 0o555))
			},
			content: "new",
			want:    textfile.Stored{Note: directoryDenied},
			tree:    map[string]string{"d": "dir", "d/f": "new"},
		},
		{
			name: "leaves a file with two hard links alone where the directory is not writable",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/d/f", "old")
				must(t, os.Link(dir+"/d/f", dir+"/g"))
				giveAway(t, dir+"/d/f")
				must(t, os.Chmod(dir+"/d", 0o555))
			},
			content: "new",
			refusal: "'d/f' can only be written in place (the directory is not writable), and would change under all of its 2 hard links; it is unchanged",
			tree:    map[string]string{"d": "dir", "d/f": "old", "g": "old"},
		},
		{
			name: "refuses a new file where the directory is not writable",
			setup: func(t *testing.T, dir string) {
				must(t, os.Mkdir(dir+"/d", 0o777), os.Chmod(dir+"/d", 0o555))
			},
			content: "new",
			refusal: "permission denied: 'd/f'",
			tree:    map[string]string{"d": "dir"},
		},
		{
			name: "writes a file of somebody else in place, who stays its owner",
			setup: func(t *testing.T, dir string) {
				needRoot(t)
				put(t, dir+"/d/f", "old")
				giveAway(t, dir+"/d")
				must(t, os.Chown(dir+"/d/f", 0, nobody), os.Chmod(dir+"/d/f", 0o664))
			},
			content: "new",
			want:    textfile.Stored{Note: "(not atomic: its owner cannot be kept)"},
			tree:    map[string]string{"d": "dir", "d/f": "new"},
		},
		{
			name: "writes a file of somebody else in place in a sticky directory",
			setup: func(t *testing.T, dir string) {
				needRoot(t)
				put(t, dir+"/d/f", "old")
				must(t, os.Chmod(dir+"/d", 0o777|os.ModeSticky), os.Chmod(dir+"/d/f", 0o666))
			},
			content: "new",
			want:    textfile.Stored{Note: "(not atomic: its owner cannot be kept)"},
			tree:    map[string]string{"d": "dir", "d/f": "new"},
		},
		{
			name: "replaces a file that it may write and not read",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/d/f", "old")
				giveAway(t, dir+"/d", dir+"/d/f")
				must(t, os.Chmod(dir+"/d/f", 0o222))
			},
			content: "new",
			tree:    map[string]string{"d": "dir", "d/f": "new"},
		},
		{
			name: "replaces a file in a directory that it may write and not read",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/d/f", "old")
				giveAway(t, dir+"/d", dir+"/d/f")
				must(t, os.Chmod(dir+"/d", 0o333))
			},
			content: "new",
			tree:    map[string]string{"d": "dir", "d/f": "new"},
		},
	} {
		t.Run(r.name, func(t *testing.T) { inChild(t, nil, r.run) })
	}
}

// mount makes a file system at dir that the child alone sees.
func mount(t *testing.T, dir, options string) {
	t.Helper()
	// What is mounted is a property of the thread. It is never unlocked, so that it ends with the test.
	runtime.LockOSThread()
	err := unix.Unshare(unix.CLONE_NEWNS)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = unix.Mount("tmpfs", dir, "tmpfs", 0, options)
	}
	if errors.Is(err, unix.EPERM) {
		t.Skip("mounting is not permitted")
	}
	must(t, err)
}

func TestStoreOnSmallDisk(t *testing.T) {
	old, big := strings.Repeat("o", 64<<10), strings.Repeat("b", 1<<20)
	const full = "no space left on device; 'd/f' is unchanged"
	for _, r := range []row{
		{
			name: "keeps the old file when the disk is full",
			setup: func(t *testing.T, dir string) {
				mount(t, dir, "size=256k")
				put(t, dir+"/d/f", old)
				giveAway(t, dir+"/d", dir+"/d/f")
			},
			content: big,
			refusal: full,
			tree:    map[string]string{"d": "dir", "d/f": old},
		},
		{
			name: "makes no new file when the disk is full",
			setup: func(t *testing.T, dir string) {
				mount(t, dir, "size=256k")
				must(t, os.Mkdir(dir+"/d", 0o777))
				giveAway(t, dir+"/d")
			},
			content: big,
			refusal: "no space left on device; 'd/f' was not created",
			tree:    map[string]string{"d": "dir"},
		},
		{
			name: "keeps the old file when it would have to be written in place and the disk is full",
			setup: func(t *testing.T, dir string) {
				mount(t, dir, "size=256k")
				put(t, dir+"/d/f", old)
				giveAway(t, dir+"/d/f")
				must(t, os.Chmod(dir+"/d", 0o555))
			},
			content: big,
			refusal: full,
			tree:    map[string]string{"d": "dir", "d/f": old},
		},
		{
			name: "replaces a file that fits",
			setup: func(t *testing.T, dir string) {
				mount(t, dir, "size=256k")
				put(t, dir+"/d/f", "old")
				giveAway(t, dir+"/d", dir+"/d/f")
			},
			content: old,
			tree:    map[string]string{"d": "dir", "d/f": old},
		},
		{
			name: "keeps the old file when there are no inodes left",
			setup: func(t *testing.T, dir string) {
				mount(t, dir, "nr_inodes=3") // the root, the directory and the file
				put(t, dir+"/d/f", "old")
				giveAway(t, dir+"/d", dir+"/d/f")
			},
			content: "new",
			refusal: full,
			tree:    map[string]string{"d": "dir", "d/f": "old"},
		},
		{
			name: "says that the file system is read-only",
			setup: func(t *testing.T, dir string) {
				mount(t, dir, "")
				put(t, dir+"/d/f", "old")
				must(t, unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
			},
			content: "new",
			refusal: "the file system is read-only; 'd/f' is unchanged",
			tree:    map[string]string{"d": "dir", "d/f": "old"},
		},
		{
			name: "says that the file system is read-only to a new file",
			setup: func(t *testing.T, dir string) {
				mount(t, dir, "")
				must(t, os.Mkdir(dir+"/d", 0o777), unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
			},
			content: "new",
			refusal: "the file system is read-only; 'd/f' was not created",
			tree:    map[string]string{"d": "dir"},
		},
		{
			name: "writes a file in place on which another is mounted",
			setup: func(t *testing.T, dir string) {
				mount(t, dir, "")
				put(t, dir+"/d/f", "below")
				put(t, dir+"/mounted", "old")
				giveAway(t, dir+"/d", dir+"/mounted")
				must(t, unix.Mount(dir+"/mounted", dir+"/d/f", "", unix.MS_BIND, ""))
			},
			content: "new",
			want:    textfile.Stored{Note: "(not atomic: it is a mount point)"},
			tree:    map[string]string{"d": "dir", "d/f": "new", "mounted": "new"},
		},
		{
			name: "needs no proc file system",
			setup: func(t *testing.T, dir string) {
				mount(t, dir, "")
				put(t, dir+"/d/f", "old")
				giveAway(t, dir+"/d", dir+"/d/f")
				must(t, unix.Mount("tmpfs", "/proc", "tmpfs", 0, ""))
			},
			content: "new",
			tree:    map[string]string{"d": "dir", "d/f": "new"},
		},
	} {
		t.Run(r.name, func(t *testing.T) { inChild(t, nil, r.run) })
	}
}

func TestStoreOverSizeLimit(t *testing.T) {
	const limit = 1 << 20
	limited := func(t *testing.T, dir string) {
		must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: limit}))
	}
	for _, r := range []row{
		{
			name: "keeps the old file",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/d/f", "old")
				giveAway(t, dir+"/d", dir+"/d/f")
				limited(t, dir)
			},
			content: strings.Repeat("b", limit+1),
			refusal: "file too large; 'd/f' is unchanged",
			tree:    map[string]string{"d": "dir", "d/f": "old"},
		},
		{
			name: "keeps the old file that would have to be written in place",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/d/f", "old")
				giveAway(t, dir+"/d/f")
				must(t, os.Chmod(dir+"/d", 0o555))
				limited(t, dir)
			},
			content: strings.Repeat("b", limit+1),
			refusal: "file too large; 'd/f' is unchanged",
			tree:    map[string]string{"d": "dir", "d/f": "old"},
		},
		{
			name: "writes as much as is allowed",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/d/f", "old")
				giveAway(t, dir+"/d", dir+"/d/f")
				limited(t, dir)
			},
			content: strings.Repeat("b", limit),
			tree:    map[string]string{"d": "dir", "d/f": strings.Repeat("b", limit)},
		},
	} {
		t.Run(r.name, func(t *testing.T) { inChild(t, nil, r.run) })
	}
}

func TestStoreSpecialFile(t *testing.T) {
	for _, test := range []struct {
		name, want string
		make       func(path string) error
	}{
		{name: "refuses a fifo at once", want: "'f' is not a regular file (fifo)", make: func(path string) error { return unix.Mkfifo(path, 0o666) }},
		{name: "refuses a socket", want: "'f' is not a regular file (socket)", make: func(path string) error { return unix.Mknod(path, unix.S_IFSOCK|0o666, 0) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, test.make(dir+"/f"))
			_, err := store(t.Context(), openRoot(t, dir), "f", []byte("new"), textfile.StoreOptions{})
			expectRefusal(t, err, test.want)
			if fi, err := os.Lstat(dir + "/f"); err != nil || fi.Mode().IsRegular() {
				t.Errorf("it is there no more: %v", err)
			}
		})
	}
}

func TestStoreNewFileTakesTheUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o077} {
		t.Run(strconv.FormatInt(int64(umask), 8), func(t *testing.T) {
			inChild(t, nil, func(t *testing.T, dir string) {
				unix.Umask(umask)
				if _, err := store(t.Context(), openRoot(t, dir), "f", nil, textfile.StoreOptions{}); err != nil {
					t.Fatal(err)
				}
				if got, want := permOf(t, dir+"/f"), 0o666&^os.FileMode(umask); got != want {
					t.Errorf("got mode %v, want %v", got, want)
				}
			})
		})
	}
}

func permOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	fi, err := os.Stat(path)
	must(t, err)
	return fi.Mode()
}

func TestStoreKeepsOwnerAndGroup(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	put(t, dir+"/f", "old")
	must(t, os.Chown(dir+"/f", 1234, 5678), os.Chmod(dir+"/f", 0o640))
	if _, err := store(t.Context(), openRoot(t, dir), "f", []byte("new"), textfile.StoreOptions{}); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	must(t, unix.Stat(dir+"/f", &st))
	if diff := cmp.Diff([]uint32{1234, 5678, unix.S_IFREG | 0o640}, []uint32{st.Uid, st.Gid, st.Mode}); diff != "" {
		t.Errorf("owner, group and mode (-want +got):\n%s", diff)
	}
}
