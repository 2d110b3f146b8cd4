//go:build unix

package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// opener is one of the two ways to open a root's directory. What holds of one holds of the other.
type opener struct {
	name string
	open func(physical string) (handle, error)
}

// onBoth runs a test on each kind of handle that this system has, each time in a new directory that holds an empty "root"
// and an "out", which nothing may come out of or change.
func onBoth(t *testing.T, test func(t *testing.T, dir string, o opener)) {
	t.Helper()
	for _, o := range openers(t) {
		t.Run(o.name, func(t *testing.T) {
			dir := physicalTemp(t)
			plant(t, dir, "root/", "out/secret", "out/dir/secret", "root2/secret")
			before := snapshot(t, dir+"/out")
			test(t, dir, o)
			if diff := cmp.Diff(before, snapshot(t, dir+"/out")); diff != "" {
				t.Errorf("what is outside has changed:\n%s", diff)
			}
		})
	}
}

func (o opener) root(t *testing.T, path string) *Root {
	t.Helper()
	r, err := openRootWith(path, o.open)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// snapshot is all that is below dir: modes and contents, and link targets, by path.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case e.Type().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(b)
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " => " + target
		}
		all[strings.TrimPrefix(path, dir)] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
