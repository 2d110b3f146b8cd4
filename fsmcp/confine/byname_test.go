package confine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestSortByName(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	cases := []struct {
		name string
		make func(i int) string
	}{
		{"it sorts names that begin alike", func(i int) string { return fmt.Sprintf("file-%d.go", i) }},
		{"it sorts names that have nothing in common", func(int) string { return fmt.Sprintf("%x", random.Uint64()) }},
		{"it sorts names that begin with one another", func(i int) string { return strings.Repeat("a", 1+i%255) }},
		{"it sorts bytes of all values", func(i int) string { return string([]byte{byte(i), byte(i >> 8), byte(random.Uint32())}) }},
		{"it keeps equal names", func(int) string { return "same" }},
	}
	byAll := func(a, b Entry) int { return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) }
	for _, c := range cases {
		for _, n := range []int{0, 1, 2, fewNames, fewNames + 1, 1000} {
			t.Run(fmt.Sprintf("%s: %d", c.name, n), func(t *testing.T) {
				got := make([]Entry, n)
				for i := range got {
					got[i] = Entry{Name: c.make(i), Kind: Regular, ID: uint64(i)}
				}
				random.Shuffle(n, func(i, j int) { got[i], got[j] = got[j], got[i] })
				want := slices.Clone(got)
				slices.SortFunc(want, byAll)
				SortByName(got)
				if !slices.IsSortedFunc(got, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) }) {
					t.Errorf("it is not sorted: %v", got)
				}
				slices.SortFunc(got, byAll) // as equal names may be in any order
				if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(Entry{})); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// What is measured is a directory of 1,000 names that begin alike, in an order as chance has it.
func BenchmarkSortByName(b *testing.B) {
	list := make([]Entry, 1000)
	for i := range list {
		list[i].Name = fmt.Sprintf("file-%04d.go", i)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	room := make([]Entry, len(list))
	for _, sort := range []struct {
		name string
		do   func([]Entry)
	}{
		{"by buckets", SortByName},
		{"by comparing", func(list []Entry) {
			slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
		}},
	} {
		b.Run(sort.name, func(b *testing.B) {
			for b.Loop() {
				copy(room, list)
				sort.do(room)
			}
		})
	}
}
