package textfile_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"lookfirst/fsmcp/textfile"
)

// strace gives the command that runs another and writes the system calls named in trace to log; inject makes some fail.
func strace(t *testing.T, log, trace string, inject ...string) []string {
	t.Helper()
	if os.Getenv(childDir) != "" {
		return nil // This is the process that it has started.
	}
	program, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is absent")
	}
	command := []string{program, "-f", "--seccomp-bpf", "-qq", "-o", log, "-e", "signal=none", "-e", "trace=" + trace}
	for _, i := range inject {
		command = append(command, "-e", "inject="+i)
	}
	if err := exec.CommandContext(t.Context(), program, "-f", "--seccomp-bpf", "-qq", "-o", log, "-e", "trace=fsync", "true").Run(); err != nil {
		t.Skip("strace may not trace here:", err)
	}
	return command
}

func TestStoreTakesItsStepsInOrder(t *testing.T) {
	const watched = "openat,fallocate,fchown,fsetxattr,fremovexattr,fchmod,fsync,fdatasync,linkat,renameat,renameat2,rename,unlinkat,ftruncate,pwrite64"
	for _, test := range []struct {
		name   string
		inject []string
		setup  func(t *testing.T, dir string)
		want   string
	}{
		{
			name:  "creates a file: reserves, syncs, names, syncs the directory",
			setup: func(t *testing.T, dir string) {},
			want:  "openat:0666 fallocate fsync linkat fsync",
		},
		{
			name: "replaces a file: owner, access list, permissions, and the disk before the name",
			setup: func(t *testing.T, dir string) {
				needRoot(t)
				put(t, dir+"/f", "old")
				must(t, os.Chown(dir+"/f", 1234, 1234))
				setAttribute(t, dir+"/f", accessList, string(list()))
				must(t, os.Chmod(dir+"/f", 0o751))
			},
			want: "openat:0600 fallocate fchown fsetxattr fsync linkat renameat fsync",
		},
		{
			name: "replaces a file: permissions that differ are set",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/f", "old")
				must(t, os.Chmod(dir+"/f", 0o640))
			},
			want: "openat:0600 fallocate fchmod fsync linkat renameat fsync",
		},
		{
			name:   "replaces a file: the name is given through the proc file system",
			inject: []string{"linkat:error=ENOENT:when=1"},
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/f", "old")
				must(t, os.Chmod(dir+"/f", 0o640))
			},
			want: "openat:0600 fallocate fchmod fsync linkat linkat renameat fsync",
		},
		{
			name:   "replaces a file: begins with a name where none can be given",
			inject: []string{"linkat:error=ENOENT"},
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/f", "old")
				must(t, os.Chmod(dir+"/f", 0o640))
			},
			want: "openat:0600 fallocate fchmod fsync linkat linkat openat:0600 fallocate fchmod fsync renameat fsync",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			inChild(t, strace(t, log, watched, test.inject...), func(t *testing.T, dir string) {
				test.setup(t, dir)
				// What comes before this call is no part of what is watched.
				unix.Fsync(-1)
				_, err := store(t.Context(), openRoot(t, dir), "f", []byte("new"), textfile.StoreOptions{Sync: true})
				unix.Fsync(-1)
				must(t, err)
			})
			if os.Getenv(childDir) != "" {
				return
			}
			if diff := cmp.Diff(test.want, strings.Join(steps(t, log), " ")); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

// steps reads the names of the system calls between the two marks. Of the opens only that of the new file is a step, with
// the permissions that it is given.
func steps(t *testing.T, log string) []string {
	t.Helper()
	parts := strings.Split(string(mustRead(t, log)), "fsync(-1)")
	if len(parts) != 3 {
		t.Fatalf("%d marks in the log, want 2", len(parts)-1)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\d+ +(\w+)\((.*)`).FindAllStringSubmatch(parts[1], -1) {
		if m[1] != "openat" {
			got = append(got, m[1])
		} else if made := regexp.MustCompile(`(?:O_TMPFILE|O_EXCL).*, (0\d+)\)`).FindStringSubmatch(m[2]); made != nil {
			got = append(got, "openat:"+made[1])
		}
	}
	return got
}

// fault is what strace does to Store of a file that has an owner, permissions and an access list to keep.
type fault struct {
	name    string
	inject  []string
	plain   bool // the file has no access list: with one, permissions need no call of their own
	refusal string
	note    string
}

func TestStoreFaults(t *testing.T) {
	const unchanged = "; 'f' is unchanged"
	for _, test := range []fault{
		{name: "keeps the old file when the new one cannot be synced", inject: []string{"fsync:error=EIO"}, refusal: "input/output error" + unchanged},
		{name: "keeps the old file over quota", inject: []string{"fallocate:error=EDQUOT"}, refusal: "disk quota exceeded" + unchanged},
		{name: "keeps the old file when there is no room", inject: []string{"fallocate:error=ENOSPC"}, refusal: "no space left on device" + unchanged},
		{name: "keeps the old file when the rename fails", inject: []string{"renameat:error=EIO"}, refusal: "input/output error" + unchanged},
		{name: "has succeeded when only the directory cannot be synced", inject: []string{"fsync:error=EIO:when=2"}},
		{name: "needs no reservation", inject: []string{"fallocate:error=EOPNOTSUPP"}},
		{name: "needs no locks", inject: []string{"flock:error=ENOLCK"}},
		{name: "goes on after a signal in the sync", inject: []string{"fsync:error=EINTR:when=1"}},
		{name: "goes on after a signal in the naming", inject: []string{"linkat:error=EINTR:when=1"}},
		{name: "goes on after a signal in the rename", inject: []string{"renameat:error=EINTR:when=1"}},
		{name: "goes on after a signal in the lock", inject: []string{"flock:error=EINTR:when=1"}},
		{name: "goes on after a signal in the owner", inject: []string{"fchown:error=EINTR:when=1"}},
		{name: "goes on after a signal in the attributes", inject: []string{"fsetxattr:error=EINTR:when=1"}},
		{name: "goes on after a signal in the reservation", inject: []string{"fallocate:error=EINTR:when=1"}},
		{name: "writes in place when the new file may not take the old one's place", inject: []string{"renameat:error=EPERM"}, note: "(not atomic: it cannot be replaced in its directory)"},
		{name: "writes in place when the owner cannot be kept", inject: []string{"fchown:error=EPERM"}, note: "(not atomic: its owner cannot be kept)"},
		{name: "writes in place when the access list cannot be kept", inject: []string{"fsetxattr:error=EPERM"}, note: "(not atomic: its access list cannot be kept)"},
		{name: "writes in place when the permissions cannot be kept", inject: []string{"fchmod:error=EPERM"}, plain: true, note: "(not atomic: its permissions cannot be kept)"},
		{name: "gives a name through the proc file system", inject: []string{"linkat:error=ENOENT:when=1"}},
		{name: "begins with a name where it cannot give one", inject: []string{"linkat:error=ENOENT"}},
		{
			name:    "says so when it broke off in place",
			inject:  []string{"fchown:error=EPERM", "pwrite64:error=EIO"},
			refusal: "'f' is damaged: it had to be written in place, and that broke off (input/output error); write it again",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			needRoot(t)
			inChild(t, strace(t, os.DevNull, calls(test.inject), test.inject...), test.run)
		})
	}
}

// calls names the system calls that the injections are about.
func calls(inject []string) string {
	var names []string
	for _, i := range inject {
		name, _, _ := strings.Cut(i, ":")
		names = append(names, name)
	}
	return strings.Join(names, ",")
}

func (f fault) run(t *testing.T, dir string) {
	put(t, dir+"/f", "old")
	must(t, os.Chown(dir+"/f", 1234, 1234), os.Chmod(dir+"/f", 0o751))
	if !f.plain {
		setAttribute(t, dir+"/f", accessList, string(list()))
	}
	before := attributesOf(t, dir+"/f")

	got, err := store(t.Context(), openRoot(t, dir), "f", []byte("new"), textfile.StoreOptions{Sync: true})
	want := "new"
	if f.refusal != "" {
		want = "old"
		expectRefusal(t, err, f.refusal)
		if touched := strings.Contains(f.refusal, "damaged"); errors.Is(err, textfile.ErrTouched) != touched {
			t.Errorf("the file is said to be another now: %v, want %v", !touched, touched)
		}
	} else if err != nil || got.Note != f.note {
		t.Errorf("got note %q and error %v, want note %q", got.Note, err, f.note)
	}
	expectTree(t, dir, map[string]string{"f": want})
	if diff := cmp.Diff(before, attributesOf(t, dir+"/f")); diff != "" {
		t.Errorf("attributes (-before +after):\n%s", diff)
	}
	var st unix.Stat_t
	must(t, unix.Stat(dir+"/f", &st))
	if st.Uid != 1234 || st.Gid != 1234 {
		t.Errorf("owner %d:%d, want 1234:1234", st.Uid, st.Gid)
	}
}

// TestStoreInPlaceLooksAgain changes the file after the last look at it, when it turns out that it has to be written in
// place.
func TestStoreInPlaceLooksAgain(t *testing.T) {
	for _, test := range []struct {
		name   string
		before bool // the caller says which file it has read
		change func(t *testing.T, dir string)
		want   string
	}{
		{
			name: "refuses other bytes after a read", before: true,
			change: func(t *testing.T, dir string) { put(t, dir+"/f", "theirs") },
			want:   "'f' changed while it was being edited; read it again",
		},
		{
			name: "refuses another file",
			change: func(t *testing.T, dir string) {
				put(t, dir+"/g", "theirs")
				must(t, os.Remove(dir+"/f"), os.Link(dir+"/g", dir+"/f"), os.Remove(dir+"/g"))
			},
			want: "'f' changed while it was being written; read it again",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			const inject = "renameat:error=EPERM"
			inChild(t, strace(t, os.DevNull, "renameat", inject), func(t *testing.T, dir string) {
				put(t, dir+"/f", "old")
				loc, err := openRoot(t, dir).Resolve("path", "f")
				must(t, err)
				defer loc.Close()
				var opt textfile.StoreOptions
				if test.before {
					opt.Before = &loc.Info
				}
				ctx := hook(t.Context(), questions, func() error {
					test.change(t, dir)
					return nil
				})
				_, err = textfile.Store(ctx, loc, []byte("ours"), opt)
				expectRefusal(t, err, test.want)
				expectTree(t, dir, map[string]string{"f": "theirs"})
			})
		})
	}
}

// TestStoreByOtherMeans runs the tests above where the system does not offer what is used first.
func TestStoreByOtherMeans(t *testing.T) {
	const tests = "^TestStore(Writes|Refuses|Keeps.*|Cancelled.*|Panic.*|Never.*|Before|What.*|Reader.*|Special.*|Sweeps.*)$"
	for _, test := range []struct{ name, inject string }{
		{name: "without openat2, as on other systems", inject: "openat2:error=ENOSYS"},
		{name: "without a way to name a nameless file", inject: "linkat:error=ENOENT"},
	} {
		t.Run(test.name, func(t *testing.T) {
			command := append(strace(t, os.DevNull, calls([]string{test.inject}), test.inject), os.Args[0], "-test.run="+tests)
			if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
