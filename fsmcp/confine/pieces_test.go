//go:build unix

package confine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestEntriesInPieces has names of all lengths, so that pieces end at any of them.
func TestEntriesInPieces(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		for _, n := range []int{0, 1, 1500} {
			plant(t, dir, fmt.Sprintf("root/%d/", n))
			for i := range n {
				plant(t, dir, fmt.Sprintf("root/%d/%d-%0*d", n, i, 1+i%200, i))
			}
		}
		plant(t, dir, "root/1500/"+tempPrefix+strings.Repeat("0", tempDigits)+tempSuffix)
		for _, n := range []int{0, 1, 1500} {
			d, err := entryOf(t, o.root(t, dir+"/root"), fmt.Sprint(n)).OpenDir()
			must(t, err)
			defer d.Close()
			var told []Entry
			var lengths []int
			list, err := d.EntriesInPieces(func(piece []Entry) {
				lengths = append(lengths, len(piece))
				told = append(told, piece...)
				if len(piece) == 0 {
					t.Error("it told of nothing")
				}
			})
			must(t, err)
			for i, e := range told {
				if int(e.Nth) != i {
					t.Fatalf("of %d, that in place %d says %d", n, i, e.Nth)
				}
			}
			shown := slices.DeleteFunc(slices.Clone(told), func(e Entry) bool { return IsTemp(e.Name) })
			if len(list) != n || !slices.Equal(shown, list) {
				t.Errorf("of %d, it told of %d and listed %d", n, len(shown), len(list))
			}
			if n == 1500 && (len(told) != n+1 || len(lengths) < 2) {
				t.Errorf("it told of %d in %d pieces, want all and the one that is left out, in several", len(told), len(lengths))
			}
			if _, portable := d.h.(rootDir); n == 1500 && !portable && lengths[0] > n/8 {
				t.Errorf("it told of %d before it read on", lengths[0])
			}
			whole, err := d.Entries()
			must(t, err)
			if !slices.Equal(whole, list) {
				t.Errorf("of %d, it lists others when nobody is told", n)
			}
		}
	})
}

// A list is the caller's, whatever is read and sorted after it.
func TestEntriesStay(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		for i := range 100 {
			plant(t, dir, fmt.Sprintf("root/a/a%d", i), fmt.Sprintf("root/b/b%d", i))
		}
		r := o.root(t, dir+"/root")
		list := func(arg string) []Entry {
			d, err := entryOf(t, r, arg).OpenDir()
			must(t, err)
			defer d.Close()
			list, err := d.Entries()
			must(t, err)
			return list
		}
		first := list("a")
		want := slices.Clone(first)
		SortByName(list("b"))
		if !slices.Equal(first, want) {
			t.Errorf("it became %v", first)
		}
	})
}

// Room that is used again holds no name, which would keep all that it was read with.
func TestRoomIsEmpty(t *testing.T) {
	for _, n := range []int{1, mostRoom, mostRoom + 1} {
		r := &room{make([]Entry, n)}
		for i := range r.list {
			r.list[i].Name = "name"
		}
		was := r.list
		r.put()
		kept := len(r.list) == 0
		if kept != (n <= mostRoom) {
			t.Errorf("room for %d: kept is %t", n, kept)
		}
		if i := slices.IndexFunc(was, func(e Entry) bool { return e.Name != "" }); kept && i >= 0 {
			t.Errorf("room for %d: entry %d has a name", n, i)
		}
	}
}
