package confine

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestMounts has a bind mount of an outside directory inside the root: of the same disk, so that no device number tells.
// A tmpfs has a number of its own.
func TestMounts(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/a/x", "root/bind/", "root/b/tmp/", "root/b/x")
		inMountNamespace(t, func() {
			must(t, unix.Mount(dir+"/out", dir+"/root/bind", "", unix.MS_BIND, ""))
			must(t, unix.Mount("tmpfs", dir+"/root/b/tmp", "tmpfs", 0, "size=64k"))
			must(t, os.WriteFile(dir+"/root/b/tmp/y", nil, 0o666))
			r := o.root(t, dir+"/root")
			// The operator has mounted it, so it is read.
			if got := opened(t, r, dir, "bind/secret"); got != "out/secret" {
				t.Errorf("got %s", got)
			}
			checkMountWalk(t, r, o, "bind")
			checkMountWalk(t, r, o, "b/tmp")
			checkSameMount(t, r, o)
			checkRenameOverMounts(t, r)
		})
	})
}

// checkMountWalk walks the directory above a mount, once without and once with regard to it.
func checkMountWalk(t *testing.T, r *Root, o opener, mount string) {
	t.Helper()
	loc := entryOf(t, r, mount)
	all := 0
	must(t, loc.Parent().Walk(t.Context(), Inside, func(s *Step) error { all++; return s.Err }))
	got := 0
	err := loc.Parent().WalkOneMount(t.Context(), Inside, func(s *Step) error { got++; return s.Err })
	if o.name != "openat2" && mount == "bind" {
		// os.Root tells other devices alone.
		return
	}
	var at *fs.PathError
	if !errors.As(err, &at) || !errors.Is(err, ErrMount) || at.Path != loc.Name() && at.Path != "b/tmp" || got >= all {
		t.Errorf("%s: got %v after %d of %d visits, want %v", mount, err, got, all, ErrMount)
	}
}

func checkSameMount(t *testing.T, r *Root, o opener) {
	t.Helper()
	got := map[string]error{}
	for _, arg := range []string{"a", "b", "bind", "b/tmp"} {
		loc := entryOf(t, r, arg)
		d, err := loc.Parent().OpenDirSameMount(loc.Name())
		if err == nil {
			d.Close()
		}
		got[arg] = err
	}
	want := map[string]error{"a": nil, "b": nil, "bind": ErrMount, "b/tmp": ErrMount}
	if o.name != "openat2" {
		want["bind"] = nil
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func checkRenameOverMounts(t *testing.T, r *Root) {
	t.Helper()
	from, to := entryOf(t, r, "a/x"), entryOf(t, r, "b/tmp/new")
	if err := from.Parent().Rename(from.Name(), to.Parent(), to.Name()); !errors.Is(err, unix.EXDEV) {
		t.Errorf("got %v, want %v", err, unix.EXDEV)
	}
	mount, to := entryOf(t, r, "bind"), entryOf(t, r, "new")
	if err := mount.Parent().Rename(mount.Name(), to.Parent(), to.Name()); !errors.Is(err, unix.EBUSY) {
		t.Errorf("got %v, want %v", err, unix.EBUSY)
	}
	if err := mount.Parent().Remove(mount.Name(), Directory); !errors.Is(err, unix.EBUSY) {
		t.Errorf("got %v, want %v", err, unix.EBUSY)
	}
}
