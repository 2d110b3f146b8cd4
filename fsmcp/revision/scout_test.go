package revision

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lookfirst/fsmcp/confine"
)

// many is a directory m of so many files, with a directory and a link among each hundred, and a file whose name stands between
// that of the directory and what the directory holds.
func many(files int) []string {
	tree := []string{"m/"}
	for i := range files {
		tree = append(tree, fmt.Sprintf("m/file-%05d", i))
		if i%100 == 50 {
			tree = append(tree, fmt.Sprintf("m/file-%05d.d/inner", i), fmt.Sprintf("m/file-%05d.l => file-00000", i), fmt.Sprintf("m/file-%05d.d.go", i))
		}
	}
	return tree
}

func listed(t *testing.T, loc *confine.Location) []confine.Entry {
	t.Helper()
	dir, err := loc.OpenDir()
	must(t, err)
	defer dir.Close()
	list, err := dir.Entries()
	must(t, err)
	confine.SortByName(list)
	return list
}

// A directory that is listed has the revision that it has otherwise, whether few or many of its digests are remembered,
// and what has changed between the list and the look is seen.
func TestObserveListed(t *testing.T) {
	change := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "m", name), []byte(text), 0o644))
		}
	}
	cases := []struct {
		name   string
		files  int
		memo   int
		change func(t *testing.T, dir string) // after the list was made
	}{
		{"it is that of an empty directory", 0, 0, nil},
		{"it is that of a small directory", 10, 0, nil},
		{"it is that of a directory with a scout", scoutFrom, 0, nil},
		{"it is that of a directory beyond what the walk does alone", (aloneBatches + 2) * batchEntries, 0, nil},
		{"it is that of a directory of which little is remembered", 400, 40, nil},
		{"it is that of a directory of which nothing is remembered", 400, -1, nil},
		{"it sees a change of the first file", 400, 0, change("file-00000", "changed")},
		{"it sees a change of the last file", 400, 0, change("file-00399", "changed")},
		{"it sees a change of a file of the same length", 400, 0, change("file-00399", "m/file+00399")},
		{"it sees that the last file is gone", 400, 0, func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "m/file-00399"))) }},
		{"it sees a change below a directory", 400, 0, change("file-00350.d/inner", "changed")},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root, dir := planted(t, many(c.files)...)
			h := NewHasher(Options{Memo: c.memo, Now: later().now})
			loc := located(t, root, "m")
			before := mustObserve(t, h, loc) // which remembers
			list := listed(t, loc)
			if c.change != nil {
				c.change(t, dir)
			}
			for range 3 {
				got := h.ObserveListed(t.Context(), loc, list)()
				if want := mustFresh(t, h, loc); got != want {
					t.Errorf("got %v, want %v", got, want)
				}
				if changed := got != before; changed != (c.change != nil) {
					t.Errorf("it has changed: %t", changed)
				}
			}
		})
	}
}

// What a scout has found is given for the entry alone that it was found for, and nothing once it was stopped.
func TestScout(t *testing.T) {
	root, _ := planted(t, many(scoutFrom)...)
	loc := located(t, root, "m")
	list := listed(t, loc)
	dir, err := loc.OpenDir()
	must(t, err)
	defer dir.Close()
	s := newScout(dir, list)
	s.run()
	for _, e := range list {
		want, err := dir.Stat(e.Name)
		must(t, err)
		for range 2 {
			if got, ok := s.find(dir, e.Name); ok != (e.Kind == confine.Regular) || ok && got != want {
				t.Errorf("%s: got %v, %t; want %v", e.Name, got, ok, want)
			}
			if _, ok := s.find(nil, e.Name); ok {
				t.Errorf("%s was found in another directory", e.Name)
			}
		}
		if _, ok := s.find(dir, e.Name+"\x00"); ok { // which would be the next
			t.Errorf("%s with a NUL was found", e.Name)
		}
	}
	idle := newScout(dir, list)
	idle.stop()
	idle.run()
	if _, ok := idle.find(dir, list[len(list)-1].Name); ok {
		t.Error("one that was stopped has found something")
	}
}
