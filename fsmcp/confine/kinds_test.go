//go:build unix

package confine

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHandlesAgreeOnInfo asks both handles about one entry of every kind.
func TestHandlesAgreeOnInfo(t *testing.T) {
	dir := physicalTemp(t)
	names := plantEveryKind(t, dir)
	must(t, os.Chmod(dir+"/f", 0o640|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky))
	must(t, os.Link(dir+"/f", dir+"/f2"))
	var first map[string]Info
	for _, o := range openers(t) {
		r := o.root(t, dir)
		got := map[string]Info{}
		for name := range names {
			info, err := r.dir.Stat(name)
			must(t, err)
			got[name] = info
		}
		if first == nil {
			first = got
		}
		if diff := cmp.Diff(first, got); diff != "" {
			t.Errorf("%s (-%s +%s):\n%s", o.name, openers(t)[0].name, o.name, diff)
		}
	}
	want, err := os.Lstat(dir + "/f")
	must(t, err)
	if f := first["f"]; f.Mode != want.Mode() || f.Size != want.Size() || f.ModTime != want.ModTime().UnixNano() || f.Links != 2 || f.Kind != Regular || f.ID == (ID{}) {
		t.Errorf("got %+v of %+v", f, want)
	}
	for name, kind := range names {
		if got := first[name].Kind; got != kind {
			t.Errorf("%s is a %s, want a %s", name, got, kind)
		}
	}
}

// plantEveryKind makes an entry of each kind that this process may make.
func plantEveryKind(t *testing.T, dir string) map[string]Kind {
	t.Helper()
	plant(t, dir, "f", "d/", "l => nowhere")
	names := map[string]Kind{"f": Regular, "d": Directory, "l": Link}
	must(t, syscall.Mkfifo(dir+"/fifo", 0o666))
	names["fifo"] = FIFO
	// Bound by a short path: an address holds about a hundred bytes.
	t.Chdir(dir)
	s, err := net.ListenUnix("unix", &net.UnixAddr{Name: "socket", Net: "unix"})
	must(t, err)
	s.SetUnlinkOnClose(false)
	must(t, s.Close())
	names["socket"] = Socket
	if makeDevice(dir+"/device") == nil {
		names["device"] = Device
	}
	return names
}

// TestSpecialFiles shows that no look-up waits for the other end of a FIFO, and that each kind has its sentence.
func TestSpecialFiles(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		names := plantEveryKind(t, dir+"/root")
		plant(t, dir, "root/to-fifo => fifo")
		r := o.root(t, dir+"/root")
		want := map[string]string{
			"fifo":    "'fifo' is not a regular file (fifo)",
			"socket":  "'socket' is not a regular file (socket)",
			"device":  "'device' is not a regular file (device)",
			"to-fifo": "'to-fifo' is not a regular file (fifo)",
		}
		names["to-fifo"] = FIFO
		for name, kind := range names {
			if kind == Regular || kind == Directory || kind == Link {
				continue
			}
			if got := opened(t, r, dir, name); got != want[name] {
				t.Errorf("got %s, want %s", got, want[name])
			}
			if got, want := opened(t, r, dir, name+"/x"), fmt.Sprintf("'%s/x' leads through something that is not a directory", name); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			loc, err := r.Resolve("path", name)
			must(t, err)
			d, err := loc.OpenDir()
			if got, want := namesOf(t, dir, name, d, err), fmt.Sprintf("'%s' is not a directory", name); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			loc.Access()
			loc.Close()
		}
		for name, kind := range names {
			if name == "to-fifo" || kind == Regular {
				continue
			}
			from := entryOf(t, r, name)
			must(t, from.Parent().Rename(name, from.Parent(), "moved-"+name))
			must(t, from.Parent().Remove("moved-"+name, kind))
		}
	})
}
