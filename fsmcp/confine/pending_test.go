//go:build unix

package confine

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// preparing are the two ways to begin a file.
var preparing = []struct {
	name    string
	prepare func(d *Dir, perm fs.FileMode) (*Pending, error)
}{
	{"nameless where possible", (*Dir).Prepare},
	{"named", (*Dir).PrepareNamed},
}

// onBothWays runs a test on both handles and both ways to begin a file, in an empty root.
func onBothWays(t *testing.T, test func(t *testing.T, dir string, d *Dir, prepare func(perm fs.FileMode) *Pending)) {
	t.Helper()
	onBoth(t, func(t *testing.T, dir string, o opener) {
		for _, way := range preparing {
			t.Run(way.name, func(t *testing.T) {
				dir := physicalTemp(t)
				d, err := o.root(t, dir).current()
				must(t, err)
				defer d.Close()
				test(t, dir, d, func(perm fs.FileMode) *Pending {
					p, err := way.prepare(d, perm)
					must(t, err)
					t.Cleanup(func() { p.Close() })
					return p
				})
			})
		}
	})
}

func writeAll(t *testing.T, p *Pending, text string) {
	t.Helper()
	if n, err := p.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("wrote %d bytes of %d: %v", n, len(text), err)
	}
}

// filesIn gives the names and contents on the disk, temporary ones too.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	got := map[string]string{}
	for _, e := range list {
		b, err := os.ReadFile(dir + "/" + e.Name())
		must(t, err)
		got[e.Name()] = string(b)
	}
	return got
}

func expectFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, filesIn(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestPendingPublishes(t *testing.T) {
	long := strings.Repeat("n", 255)
	onBothWays(t, func(t *testing.T, dir string, d *Dir, prepare func(fs.FileMode) *Pending) {
		p := prepare(0o666)
		must(t, p.Reserve(3))
		writeAll(t, p, "one")
		must(t, p.Sync())
		must(t, p.Create(long))
		must(t, d.Sync())
		expectFiles(t, dir, map[string]string{long: "one"})
		info, err := p.Info()
		must(t, err)
		if now, err := d.Stat(long); err != nil || now != info {
			t.Errorf("got info %+v, the file's is %+v, %v", info, now, err)
		}
		must(t, p.Close())
		must(t, p.Close())

		p = prepare(0o600)
		writeAll(t, p, "two")
		must(t, p.TakeOver(long))
		must(t, p.Replace(long))
		must(t, p.Close())
		expectFiles(t, dir, map[string]string{long: "two"})
		if now, err := d.Stat(long); err != nil || now.Mode != info.Mode || now.ID == info.ID {
			t.Errorf("got %+v, %v, want another file with mode %v", now, err, info.Mode)
		}
	})
}

func TestPendingNeverReplacesOnCreate(t *testing.T) {
	onBothWays(t, func(t *testing.T, dir string, _ *Dir, prepare func(fs.FileMode) *Pending) {
		must(t, os.WriteFile(dir+"/f", []byte("theirs"), 0o666))
		must(t, os.Symlink("nowhere", dir+"/l"))
		p := prepare(0o666)
		writeAll(t, p, "ours")
		for _, name := range []string{"f", "l"} {
			if err := p.Create(name); !errors.Is(err, ErrExist) {
				t.Errorf("created over %s: %v", name, err)
			}
		}
		must(t, os.Remove(dir+"/l"))
		// The refusals have used nothing up.
		must(t, p.Create("g"))
		must(t, p.Close())
		expectFiles(t, dir, map[string]string{"f": "theirs", "g": "ours"})
	})
}

func TestPendingClosedLeavesNothing(t *testing.T) {
	onBothWays(t, func(t *testing.T, dir string, d *Dir, prepare func(fs.FileMode) *Pending) {
		p := prepare(0o666)
		writeAll(t, p, "ours")
		list, err := d.Entries()
		if must(t, err); len(list) > 0 {
			t.Errorf("listed while it is being prepared: %v", list)
		}
		must(t, p.Close())
		expectFiles(t, dir, map[string]string{})

		// A rename that fails may have given it a name already.
		must(t, os.Mkdir(dir+"/d", 0o777))
		p = prepare(0o666)
		if err := p.Replace("d"); err == nil {
			t.Error("replaced a directory")
		}
		must(t, p.Close())
		must(t, os.Remove(dir+"/d"))
		expectFiles(t, dir, map[string]string{})
	})
}

func TestPendingTakesOverOnlyFromFiles(t *testing.T) {
	onBothWays(t, func(t *testing.T, dir string, _ *Dir, prepare func(fs.FileMode) *Pending) {
		names := plantEveryKind(t, dir)
		p := prepare(0o600)
		for name, kind := range names {
			err := p.TakeOver(name)
			if kind == Regular != (err == nil) || err != nil && !errors.Is(err, ErrNotRegular) {
				t.Errorf("took over from a %s: %v", kind, err)
			}
		}
		if err := p.TakeOver("absent"); !errors.Is(err, ErrNotExist) {
			t.Errorf("took over from nothing: %v", err)
		}
	})
}

func TestInPlaceOpensOnlyFiles(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		names := plantEveryKind(t, dir+"/root")
		d, err := o.root(t, dir+"/root").current()
		must(t, err)
		defer d.Close()
		for name, kind := range names {
			w, err := d.OpenInPlace(name)
			if kind == Regular != (err == nil) || err != nil && !errors.Is(err, ErrNotRegular) {
				t.Errorf("opened a %s: %v", kind, err)
			}
			if err == nil {
				must(t, w.Close())
			}
		}
		for _, c := range []struct {
			name string
			want bool
		}{{"f", true}, {"d", true}} {
			if err := d.MayWrite(c.name); (err == nil) != c.want {
				t.Errorf("may write %s: %v", c.name, err)
			}
		}
	})
}

func TestInPlaceWrites(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		must(t, os.WriteFile(dir+"/root/f", []byte("0123456789"), 0o666))
		d, err := o.root(t, dir+"/root").current()
		must(t, err)
		defer d.Close()
		w, err := d.OpenInPlace("f")
		must(t, err)
		defer w.Close()
		must(t, w.Reserve(1<<20))
		// Neither opening nor reserving shows.
		expectFiles(t, dir+"/root", map[string]string{"f": "0123456789"})
		_, err = w.WriteAt([]byte("abc"), 4)
		must(t, err)
		must(t, w.Truncate(8))
		must(t, w.Sync())
		expectFiles(t, dir+"/root", map[string]string{"f": "0123abc7"})
		if now, err := w.Stat(); err != nil || now.Size != 8 || w.Info().Size != 10 {
			t.Errorf("%d bytes before and %d after, %v", w.Info().Size, now.Size, err)
		}
	})
}

func TestWritesTakeSingleNames(t *testing.T) {
	onBothWays(t, func(t *testing.T, dir string, d *Dir, prepare func(fs.FileMode) *Pending) {
		must(t, os.WriteFile(dir+"/f", nil, 0o666))
		p := prepare(0o666)
		acts := []struct {
			what, name string
			act        func(name string) error
		}{
			{"MayWrite", "f", d.MayWrite},
			{"TakeOver", "f", p.TakeOver},
			{"OpenInPlace", "f", func(name string) error {
				w, err := d.OpenInPlace(name)
				if err == nil {
					w.Close()
				}
				return err
			}},
			{"Create", "g", p.Create},
			{"Replace", "f", func(name string) error {
				p := prepare(0o666)
				defer p.Close()
				return p.Replace(name)
			}},
		}
		for _, a := range acts {
			for _, name := range []string{"", "..", "../f", "/f", dir + "/f", "./f", "f\x00"} {
				if err := a.act(name); !errors.Is(err, ErrName) {
					t.Errorf("%s takes %q: %v", a.what, name, err)
				}
			}
			if err := a.act(a.name); err != nil {
				t.Errorf("%s refuses %q: %v", a.what, a.name, err)
			}
		}
	})
}

func TestPendingLeaksNoDescriptor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no /proc to count descriptors in")
	}
	onBothWays(t, func(t *testing.T, dir string, d *Dir, prepare func(fs.FileMode) *Pending) {
		count := func() int {
			list, err := os.ReadDir("/proc/self/fd")
			must(t, err)
			return len(list)
		}
		before := count()
		for _, end := range []func(p *Pending) error{
			func(*Pending) error { return nil },
			func(p *Pending) error { return p.Create("f") },
			func(p *Pending) error { return p.TakeOver("f") },
			func(p *Pending) error { return p.Replace("f") },
			func(*Pending) error { return d.Sync() },
			func(*Pending) error { _, err := d.Sweep(t.Context()); return err },
		} {
			p := prepare(0o666)
			must(t, end(p))
			p.Close()
		}
		if after := count(); after != before {
			t.Errorf("%d descriptors, were %d", after, before)
		}
	})
}

func TestIsTemp(t *testing.T) {
	for _, test := range []struct {
		name string
		want bool
	}{
		{".lookfirst-0123456789abcdef.tmp", true},
		{".lookfirst-0000000000000000.tmp", true},
		{".lookfirst-0123456789abcde.tmp", false},
		{".lookfirst-0123456789abcdef0.tmp", false},
		{".lookfirst-0123456789ABCDEF.tmp", false},
		{".lookfirst-0123456789abcdeg.tmp", false},
		{".lookfirst-0123456789abcdef.txt", false},
		{"-lookfirst-0123456789abcdef.tmp", false},
		{"x.lookfirst-0123456789abcdef.tmp", false},
		{".lookfirst-0123456789abcdef.tmp~", false},
		{".lookfirst-", false},
		{"", false},
	} {
		if got := IsTemp(test.name); got != test.want {
			t.Errorf("IsTemp(%q) = %v", test.name, got)
		}
	}
	seen := map[string]bool{}
	for range 1000 {
		name := newTempName()
		if !IsTemp(name) || len(name) != 31 || seen[name] {
			t.Fatalf("%q is not a new temporary name", name)
		}
		seen[name] = true
	}
}
