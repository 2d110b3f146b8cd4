//go:build unix

package confine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// temp is the n-th temporary name.
func temp(n int) string { return fmt.Sprintf("%s%016x%s", tempPrefix, n, tempSuffix) }

func TestSweep(t *testing.T) {
	for _, test := range []struct {
		name       string
		tree, left []string
		more       int // further entries
	}{
		{name: "removes what a crash left", tree: []string{temp(1), temp(2), "f"}, left: []string{"f"}},
		{name: "removes nothing by a name that fits in part", tree: []string{temp(1) + "~", "x" + temp(1), tempPrefix}, left: []string{temp(1) + "~", tempPrefix, "x" + temp(1)}},
		{name: "leaves a directory of such a name", tree: []string{temp(1) + "/"}, left: []string{temp(1)}},
		{name: "leaves a link of such a name and its target", tree: []string{temp(1) + " => f", "f"}, left: []string{temp(1), "f"}},
		{name: "sweeps a directory of a thousand entries", tree: []string{temp(1), "f"}, left: []string{"f"}, more: sweepDirLimit - 2},
		{name: "leaves a larger directory alone", tree: []string{temp(1), "f"}, left: []string{temp(1), "f"}, more: sweepDirLimit - 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, dir string, o opener) {
				plant(t, dir+"/root", test.tree...)
				left := test.left
				for i := range test.more {
					name := fmt.Sprintf("n%d", i)
					must(t, os.Link(dir+"/root/f", dir+"/root/"+name))
					left = append(left, name)
				}
				d, err := o.root(t, dir+"/root").current()
				must(t, err)
				defer d.Close()
				removed, err := d.Sweep(t.Context())
				must(t, err)
				expectNames(t, dir+"/root", left)
				if removed != len(test.tree)-len(test.left) {
					t.Errorf("says that it removed %d", removed)
				}
			})
		})
	}
}

func expectNames(t *testing.T, dir string, want []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	want = slices.Clone(want)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestSweepLeavesOtherUsersFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of another user")
	}
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir+"/root", temp(1), temp(2))
		must(t, os.Chown(dir+"/root/"+temp(2), 1234, 1234))
		d, err := o.root(t, dir+"/root").current()
		must(t, err)
		defer d.Close()
		_, err = d.Sweep(t.Context())
		must(t, err)
		expectNames(t, dir+"/root", []string{temp(2)})
	})
}

func TestSweepEndsWithItsContext(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir+"/root", temp(1))
		r := o.root(t, dir+"/root")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Sweep(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v", err)
		}
		expectNames(t, dir+"/root", []string{temp(1)})
		_, err := r.Sweep(t.Context())
		must(t, err)
		expectNames(t, dir+"/root", nil)
	})
}

// makerDir is set in a child process that begins a file there and waits.
const makerDir = "CONFINE_TEST_MAKER"

// TestSweepSparesTheLiving has another process begin a file: while it lives, the file stays; when it was killed, it goes.
func TestSweepSparesTheLiving(t *testing.T) {
	if dir := os.Getenv(makerDir); dir != "" {
		begin(t, dir)
	}
	dir := physicalTemp(t)
	r, err := OpenRoot(dir)
	must(t, err)
	defer r.Close()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSweepSparesTheLiving$")
	child.Env = append(os.Environ(), makerDir+"="+dir)
	out, err := child.StdoutPipe()
	must(t, err)
	in, err := child.StdinPipe()
	must(t, err)
	defer in.Close()
	must(t, child.Start())
	name, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	name = strings.TrimSpace(name)

	_, err = r.Sweep(t.Context())
	must(t, err)
	expectNames(t, dir, []string{name})
	must(t, child.Process.Kill())
	child.Wait()
	expectNames(t, dir, []string{name})
	removed, err := r.Sweep(t.Context())
	must(t, err)
	expectNames(t, dir, nil)
	if removed != 1 {
		t.Errorf("says that it removed %d", removed)
	}
}

// begin prints the name of a file that it begins, and waits to be killed.
func begin(t *testing.T, dir string) {
	r, err := OpenRoot(dir)
	must(t, err)
	d, err := r.current()
	must(t, err)
	p, err := d.PrepareNamed(0o600)
	must(t, err)
	writeAll(t, p, "half")
	fmt.Println(p.temp)
	os.Stdin.Read(make([]byte, 1))
	os.Exit(1)
}

func TestRootSweepsTheTree(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir+"/root", temp(1), "a/"+temp(2), "a/b/"+temp(3), "a/b/f", "l => ROOT/../out")
		plant(t, dir+"/out", temp(4))
		removed, err := o.root(t, dir+"/root").Sweep(t.Context())
		must(t, err)
		if removed != 3 {
			t.Errorf("says that it removed %d", removed)
		}
		expectNames(t, dir+"/root", []string{"a", "l"})
		expectNames(t, dir+"/root/a", []string{"b"})
		expectNames(t, dir+"/root/a/b", []string{"f"})
		expectNames(t, dir+"/out", []string{temp(4), "dir", "secret"})
		must(t, os.Remove(dir+"/out/"+temp(4)))
	})
}

func TestTempsAreNotListed(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir+"/root", temp(1), "d/"+temp(2), "d/f", temp(3)+"/")
		d, err := o.root(t, dir+"/root").current()
		must(t, err)
		defer d.Close()
		list, err := d.Entries()
		must(t, err)
		// A directory is none of ours, whatever its name.
		if diff := cmp.Diff([]string{temp(3), "d"}, sortedNames(list)); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{temp(3), "d", "d/f"}, pathsOf(t, d)); diff != "" {
			t.Errorf("walked (-want +got):\n%s", diff)
		}
	})
}

func pathsOf(t *testing.T, d *Dir) []string {
	t.Helper()
	var paths []string
	must(t, d.Walk(t.Context(), ByPath, func(s *Step) error {
		paths = append(paths, s.Path())
		return nil
	}))
	return paths
}

func TestRemoveTakesADirectoryWithLeftovers(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir+"/root", "d/"+temp(1), "e/"+temp(2), "e/f")
		d, err := o.root(t, dir+"/root").current()
		must(t, err)
		defer d.Close()
		must(t, d.Remove("d", Directory))
		if err := d.Remove("e", Directory); !errors.Is(err, fs.ErrExist) {
			t.Errorf("removed a directory that holds a file: %v", err)
		}
		expectNames(t, dir+"/root", []string{"e"})
		expectNames(t, dir+"/root/e", []string{"f"})
	})
}

func TestLocationSweepsADirectoryOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir+"/root", "d/", "e/")
		r := o.root(t, dir+"/root")
		for _, c := range []struct {
			arg  string
			want int
		}{{"d/f", 1}, {"d/g", 0}, {"e/f", 1}, {"f", 1}, {"f", 0}} {
			plant(t, dir+"/root", "d/"+temp(1), "e/"+temp(1), temp(1))
			loc, err := r.Resolve("path", c.arg)
			must(t, err)
			got, err := loc.Sweep(t.Context())
			must(t, err)
			must(t, loc.Close())
			if got != c.want {
				t.Errorf("%s: removed %d, want %d", c.arg, got, c.want)
			}
		}
	})
}
