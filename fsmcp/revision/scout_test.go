package revision

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
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

// A directory that is listed has the revision that it has otherwise, whether few or many of its digests are remembered.
func TestList(t *testing.T) {
	change := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "m", name), []byte(text), 0o644))
		}
	}
	cases := []struct {
		name   string
		files  int
		memo   int
		change func(t *testing.T, dir string)
	}{
		{"it is that of an empty directory", 0, 0, nil},
		{"it is that of a small directory", 10, 0, nil},
		{"it is that of a directory that has just a scout", scoutFrom, 0, nil},
		{"it is that of a directory told of in several pieces", 1000, 0, nil},
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
			if c.change != nil {
				c.change(t, dir)
			}
			for range 3 {
				list, observe, err := h.List(t.Context(), loc)
				must(t, err)
				if !slices.IsSortedFunc(list, byName) {
					t.Error("it is not sorted")
				}
				got := observe()
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

func byName(a, b confine.Entry) int { return cmp.Compare(a.Name, b.Name) }

// What happens between the list and the look is seen by whoever looks, the scout or the walk.
func TestListedThenChanged(t *testing.T) {
	cases := []struct {
		name   string
		change func(path string) error // of one file in three
	}{
		{"it sees changes", func(path string) error { return os.WriteFile(path, []byte("changed"), 0o644) }},
		{"it sees that files are gone", os.Remove},
		{"it sees links in the place of files", func(path string) error {
			must(t, os.Remove(path))
			return os.Symlink("elsewhere", path)
		}},
	}
	for _, c := range cases {
		for who, look := range map[string]func(*scout){"scout": (*scout).run, "walk": (*scout).stop} {
			t.Run(c.name+": "+who, func(t *testing.T) {
				root, dir := planted(t, many(300)...)
				h := NewHasher(Options{Now: later().now})
				loc := located(t, root, "m")
				mustObserve(t, h, loc) // which remembers
				l := heard(t, h, loc)
				for i := 0; i < 300; i += 3 {
					must(t, c.change(filepath.Join(dir, "m", fmt.Sprintf("file-%05d", i))))
				}
				look(l.scout)
				got, err := h.revise(t.Context(), loc, reuse{digests: true, listing: l})
				if c.name == "it sees links in the place of files" {
					// The list says that they are files, and what is no file is not opened.
					if err == nil {
						t.Errorf("got %v for links that were listed as files", got)
					}
					return
				}
				must(t, err)
				if want := mustFresh(t, h, loc); got != want {
					t.Errorf("got %v, want %v", got, want)
				}
			})
		}
	}
}

// heard is a listing that has been read, with a scout that was told all and has not set out.
func heard(t *testing.T, h *Hasher, loc *confine.Location) *listing {
	t.Helper()
	l, err := h.memo.open(loc)
	must(t, err)
	t.Cleanup(l.close)
	l.scout = newScout(l.dir)
	l.list, err = l.dir.EntriesInPieces(l.scout.tell)
	must(t, err)
	l.scout.allTold()
	confine.SortByName(l.list)
	return l
}

// What a scout has seen is given for the entry alone that it was seen of, and nothing once it was stopped.
func TestScout(t *testing.T) {
	root, _ := planted(t, many(700)...)
	loc := located(t, root, "m")
	h := NewHasher(Options{})
	l := heard(t, h, loc)
	l.scout.run()
	for _, e := range l.list {
		want, err := l.dir.Stat(e.Name)
		must(t, err)
		for range 2 {
			if got, ok := l.scout.find(l.dir, e.Nth); ok != (e.Kind == confine.Regular) || ok && got != want {
				t.Errorf("%s: got %v, %t; want %v", e.Name, got, ok, want)
			}
			if _, ok := l.scout.find(nil, e.Nth); ok {
				t.Errorf("%s was found in another directory", e.Name)
			}
		}
	}
	if _, ok := l.scout.find(l.dir, scoutRun*uint32(len(l.scout.runs))); ok {
		t.Error("something was found of which the scout was not told")
	}
	idle := heard(t, h, loc)
	idle.scout.stop()
	idle.scout.run()
	if _, ok := idle.scout.find(idle.dir, idle.list[0].Nth); ok {
		t.Error("one that was stopped has seen something")
	}
}

// Of a file that is gone nothing is known, and whoever asks meets the error.
func TestScoutMeetsAFileThatIsGone(t *testing.T) {
	root, dir := planted(t, "m/a", "m/b")
	l := heard(t, NewHasher(Options{}), located(t, root, "m"))
	must(t, os.Remove(filepath.Join(dir, "m/a")))
	l.scout.run()
	for _, e := range l.list {
		if info, ok := l.scout.find(l.dir, e.Nth); ok != (e.Name == "b") {
			t.Errorf("%s: got %v, %t", e.Name, info, ok)
		}
	}
}

// What has been asked for before a scout came to it is left to whoever asked.
func TestScoutLeavesWhatIsTaken(t *testing.T) {
	root, _ := planted(t, many(300)...)
	l := heard(t, NewHasher(Options{}), located(t, root, "m"))
	asked := func(e confine.Entry) bool { return e.Nth%3 == 0 }
	for _, e := range l.list {
		if asked(e) {
			if _, ok := l.scout.find(l.dir, e.Nth); ok {
				t.Fatalf("%s was found before anyone looked", e.Name)
			}
		}
	}
	l.scout.run()
	for _, e := range l.list {
		if _, ok := l.scout.find(l.dir, e.Nth); ok == asked(e) && e.Kind == confine.Regular {
			t.Errorf("%s: found is %t", e.Name, ok)
		}
	}
}

// Of a directory that is too large for it, a scout takes as much as it has room for, and what runs held before is gone.
func TestScoutHasBounds(t *testing.T) {
	root, _ := planted(t, many(3)...)
	entries := make([]confine.Entry, scoutRuns*scoutRun+1)
	for i := range entries {
		entries[i] = confine.Entry{Name: "file-00000", Kind: confine.Regular, Nth: uint32(i)}
	}
	for _, n := range []int{0, 1, scoutRun - 1, scoutRun, scoutRun + 1, scoutRuns*scoutRun - 1, scoutRuns * scoutRun, len(entries)} {
		for _, kind := range []confine.Kind{confine.Regular, confine.Link} {
			dir, err := located(t, root, "m").OpenDir()
			must(t, err)
			for i := range entries {
				entries[i].Kind = kind
			}
			s := newScout(dir)
			s.tell(entries[:n/2])
			s.tell(entries[n/2 : n])
			s.allTold()
			s.run()
			for i := range uint32(len(entries)) {
				if _, ok := s.find(dir, i); ok && (int(i) >= n || kind != confine.Regular) {
					t.Fatalf("told of %d entries, a %v each, it has found that of %d", n, kind, i)
				} else if !ok && kind == confine.Regular && int(i) < min(n, scoutRuns*scoutRun) {
					t.Fatalf("told of %d entries, it has not found that of %d", n, i)
				}
			}
			s.release()
			dir.Close()
		}
	}
}

// Several workers may ask while the scout is on its way.
func TestScoutIsAskedMeanwhile(t *testing.T) {
	root, _ := planted(t, many(700)...)
	l := heard(t, NewHasher(Options{}), located(t, root, "m"))
	var all sync.WaitGroup
	all.Go(l.scout.run)
	for range 2 {
		all.Go(func() {
			for _, e := range l.list {
				got, ok := l.scout.find(l.dir, e.Nth)
				want, err := l.dir.Stat(e.Name)
				if err != nil || ok && got != want {
					t.Errorf("%s: got %v, want %v, %v", e.Name, got, want, err)
				}
			}
		})
	}
	all.Wait()
}
