package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// alphabet holds the bytes of a pair in both cases, with their highest bit set, and what differs from them in one bit.
const alphabet = "iItT\xe9\xc9\xf4\xd4hHsSjJuUyYdD)4@`[{\x00\x7f\x80\xff"

func TestSieveStopsWhereThePairStands(t *testing.T) {
	for _, fold := range []bool{false, true} {
		for _, gap := range []int{1, 2, 7, 8, 9, 63, 64, 65, 200} {
			t.Run(fmt.Sprintf("it does %d apart, fold %t", gap, fold), func(t *testing.T) {
				l := literal{text: "i" + string(bytes.Repeat([]byte{'e'}, gap-1)) + "t", fold: fold}
				s, _ := newSieve(end{literal: l, at: gap, second: 0})
				r := rand.New(rand.NewPCG(uint64(gap), 1))
				for size := 0; size < 300; size += 7 { // Of all remainders of 8.
					checkSieve(t, s, fold, randomBytes(r, size))
				}
			})
		}
	}
}

func randomBytes(r *rand.Rand, size int) []byte {
	b := make([]byte, size)
	often := r.IntN(100)
	for i := range b {
		b[i] = 'e'
		if r.IntN(100) < often {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
	}
	return b
}

// checkSieve compares every stop of a sieve with what a look at each place on its own finds.
func checkSieve(t *testing.T, s *sieve, fold bool, b []byte) {
	t.Helper()
	counts := byte(0x7f)
	if fold {
		counts = 0x5f
	}
	is := func(c byte, what uint64) bool { return (c^byte(what))&counts == 0 }
	want := -1
	for i := len(b); i >= 0; i-- {
		if i+s.gap < len(b) && is(b[i], s.first) && is(b[i+s.gap], s.second) {
			want = i
		}
		if got := s.next(b, i); got != want {
			t.Fatalf("of %q from %d it stops at %d, want %d", b, i, got, want)
		}
	}
}

func TestLiteralWithoutARareByteIsSieved(t *testing.T) {
	for _, c := range []struct {
		name string
		literal
		want int // strands with a pair
	}{
		{"it is where one byte stops too often", literal{text: "runtimeInitTime"}, 1},
		{"it is where each case would take a pass", literal{text: "zq_gone", fold: true}, 1},
		{"it is not where a byte is rare", literal{text: "zq_gone"}, 0},
		{"it is not where the other byte is frequent", literal{text: "ve"}, 0},
		{"it is not where there is one byte", literal{text: "I"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := 0
			for _, s := range strands([]literal{c.literal}) {
				if s.pair != nil {
					got++
				}
			}
			if got != c.want {
				t.Errorf("%d strands of %q look for a pair, want %d", got, c.text, c.want)
			}
		})
	}
}

func BenchmarkSeeker(b *testing.B) {
	// Of each pair, two words in ten have a byte, and none has both.
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"return", "err", "the", "index", "Type", "string", "func", "if", "Init", "\n\t"}
	var text []byte
	for len(text) < 1<<20 {
		text = append(append(text, words[r.IntN(len(words))]...), ' ')
	}
	for _, word := range []string{"runtimeInitTime", "zq_absent_needle"} {
		b.Run(word, func(b *testing.B) {
			k := newSeeker(strands([]literal{{text: word}}), &watch{ctx: b.Context()})
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if k.in(text) {
					b.Fatal("it is not there")
				}
			}
		})
	}
}
