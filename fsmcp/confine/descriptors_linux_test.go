package confine

import (
	"errors"
	"os"
	"testing"
)

// TestDescriptors calls everything often, with success and without.
func TestDescriptors(t *testing.T) {
	inMemory(t)
	const calls = 1000
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plantEveryKind(t, dir+"/root")
		plant(
			t, dir, "root/a/b/f", "root/a/l => b/f", "root/o => ../out/secret", "root/od => ../out", "root/cycle => cycle",
			"root/k => a", "root/dangling => a/new", "root/home => .",
		)
		r := o.root(t, dir+"/root")
		args := []string{
			".", "f", "a/b/f", "a/l", "a", "a/", "f/", "f/x", "new", "new/new/new", "a/new", "o", "od/secret", "od/", "cycle",
			"k/b/f", "k/", "dangling", "dangling/x", "home/a/b", "home", "fifo", "socket", "..", "", "l/x",
		}
		call := 0
		next := func() string {
			call++
			return args[call%len(args)]
		}
		acts := map[string]func(){
			"open":             func() { closed(r.Open("path", next())) },
			"use":              func() { useAll(r.Resolve("path", next())) },
			"use the entry":    func() { useAll(r.ResolveEntry("path", next())) },
			"walk":             func() { walkAll(t, r.dir) },
			"replace the root": func() { replaceRoot(t, r) },
		}
		for name, act := range acts {
			act()
			before := openDescriptors(t)
			for range calls {
				act()
			}
			if after := openDescriptors(t); after != before {
				t.Errorf("%s: %d descriptors more after %d calls", name, after-before, calls)
			}
		}
	})
}

func closed(f *File, err error) {
	if err == nil {
		f.Close()
	}
}

// useAll does with a location whatever can be done, most of which fails for most locations.
func useAll(loc *Location, err error) {
	if err != nil {
		return
	}
	defer loc.Close()
	closed(loc.Open())
	if d, err := loc.OpenDir(); err == nil {
		d.Entries()
		d.Close()
	}
	if d, err := loc.Parent().OpenDirSameMount(loc.Name()); err == nil {
		d.Close()
	}
	closed(loc.Parent().OpenFile(loc.Name()))
	closed(loc.Parent().OpenSeen(loc.Name()))
	loc.ReadLink()
	if loc.Missing() == 1 {
		if loc.Parent().Mkdir(loc.Name()) == nil {
			loc.Parent().Rename(loc.Name(), loc.Parent(), loc.Name()+"2")
			loc.Parent().Remove(loc.Name()+"2", Directory)
		}
		return
	}
	loc.Parent().Mkdir(loc.Name())
	loc.Parent().Rename(loc.Name(), loc.Parent(), loc.Name())
	loc.Parent().Remove(loc.Name(), otherKind(loc.Info.Kind))
}

// otherKind makes sure that Remove fails.
func otherKind(k Kind) Kind {
	if k == Directory {
		return Regular
	}
	return Directory
}

func walkAll(t *testing.T, d *Dir) {
	stop := errors.New("stop")
	for _, walk := range []func() error{
		func() error { return d.Walk(t.Context(), ByPath, func(s *Step) error { return nil }) },
		func() error { return d.WalkOneMount(t.Context(), Inside, func(s *Step) error { return nil }) },
		func() error {
			return d.Walk(t.Context(), ByPath, func(s *Step) error {
				if s.Path() == "a/b/f" {
					return stop
				}
				return nil
			})
		},
	} {
		if err := walk(); err != nil && err != stop {
			t.Error(err)
		}
	}
}

// replaceRoot puts another directory in the place of the root, uses it, takes it away, fails, and puts the first back.
func replaceRoot(t *testing.T, r *Root) {
	aside := r.path + "-aside"
	must(t, os.Rename(r.path, aside))
	must(t, os.Mkdir(r.path, 0o777))
	closed(r.Open("path", "f"))
	must(t, os.Remove(r.path))
	closed(r.Open("path", "f"))
	must(t, os.Rename(aside, r.path))
	f, err := r.Open("path", "f")
	must(t, err)
	f.Close()
}
