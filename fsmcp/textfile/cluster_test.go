package textfile

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// boundaries segments the whole of s and returns where clusters start, and the end.
func boundaries(s string) []int {
	at := []int{0}
	for state, rest := -1, s; len(rest) > 0; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at = append(at, at[len(at)-1]+len(cluster))
	}
	return at
}

// The local decision must agree with segmentation of the whole text, asked in rising order, in any order, and once.
func TestIsBoundaryAgreesWithSegmentation(t *testing.T) {
	for name, s := range randomTexts(8_000, 14) {
		checkBoundaries(t, name, s)
	}
}

func TestIsBoundary(t *testing.T) {
	const man, laptop, joiner, d, e = "\U0001f468", "\U0001f4bb", "\u200d", "\U0001f1e9", "\U0001f1ea"
	for _, tt := range []struct {
		name, before, after string
		want                bool
	}{
		{"breaks between letters", "a", "b", true},
		{"keeps a carriage return and a line feed together", "a\r", "\n", false},
		{"breaks between a line feed and a carriage return", "\n", "\r\n", true},
		{"keeps an accent with its letter", "q", "\u0303", false},
		{"breaks before an accent at the start of a line", "q\n", "\u0303", true},
		{"breaks after an accent", "q\u0303", "q", true},
		{"keeps a prefixed sign with what follows", "\u0600", "1", false},
		{"keeps joined emoji together", man + joiner, laptop, false},
		{"breaks after a joiner that follows no emoji", "a" + joiner, laptop, true},
		{"keeps the halves of a flag together", d + e + d, e, false},
		{"breaks between flags", d + e, d + e, true},
		{"breaks between flags far into a row of them", strings.Repeat(d+e, 999), d + e, true},
		{"keeps the halves of a flag together far into a row", strings.Repeat(d+e, 999) + d, e, false},
		{"keeps a syllable together", "\u1112\u1161", "\u11ab", false},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			c := clusters{b: []byte(tt.before + tt.after)}
			if got := c.isBoundary(len(tt.before)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// A character on the list must break from every other on it: the kinds that the rules know are all tried beside it.
func TestIsSelfContained(t *testing.T) {
	neighbours := []string{"x", "\u00e9", "\u4e2d", "\ud558", "\ud55c", "\u3042"}
	listed := 0
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !isSelfContained(r) {
			continue
		}
		listed++
		for _, n := range neighbours {
			if uniseg.GraphemeClusterCount(n+string(r)+n) != 3 {
				t.Errorf("%U is not self-contained beside %s", r, n)
			}
		}
		if isExtending([]byte(string(r))) {
			t.Errorf("%U extends", r)
		}
	}
	if listed < 30_000 {
		t.Errorf("the list has %d characters only", listed)
	}
}

func FuzzClusters(f *testing.F) {
	for _, s := range randomTexts(200, 20) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if utf8.ValidString(s) {
			checkBoundaries(t, "fuzz", s)
		}
	})
}

func checkBoundaries(t *testing.T, name, s string) {
	t.Helper()
	want := boundaries(s)
	rising := clusters{b: []byte(s)}
	anyOrder := clusters{b: []byte(s)}
	for i := range s {
		once := clusters{b: []byte(s)}
		_, expected := slices.BinarySearch(want, i)
		if got := rising.isBoundary(i); got != expected {
			t.Errorf("%s: rising order: %v at %d of %+q, want %v", name, got, i, s, expected)
		}
		if got := once.isBoundary(i); got != expected {
			t.Errorf("%s: alone: %v at %d of %+q, want %v", name, got, i, s, expected)
		}
		if !expected {
			if next := want[slices.IndexFunc(want, func(at int) bool { return at > i })]; once.end != next {
				t.Errorf("%s: the cluster around %d of %+q ends at %d, want %d", name, i, s, once.end, next)
			}
		}
	}
	r := rand.New(rand.NewPCG(3, uint64(len(s))))
	for range 2 * len(s) {
		i := r.IntN(len(s))
		if !utf8.RuneStart(s[i]) {
			continue
		}
		_, expected := slices.BinarySearch(want, i)
		if got := anyOrder.isBoundary(i); got != expected {
			t.Errorf("%s: any order: %v at %d of %+q, want %v", name, got, i, s, expected)
		}
	}
}
