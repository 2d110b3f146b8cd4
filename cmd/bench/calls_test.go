package main

import (
	"strings"
	"testing"
)

func TestFigureCompare(t *testing.T) {
	some := func() (float64, error) { return 0, nil }
	all := map[role]func() (float64, error){ours: some, loop: some, npm: some}
	rounds := []map[role]float64{{ours: 10, loop: 10, npm: 100}, {ours: 30, loop: 10, npm: 100}, {ours: 20, loop: 10, npm: 400}}
	cases := []struct {
		name  string
		f     figure
		role  role
		goal  float64
		ratio string
		limit string
		met   bool
	}{
		{"it is the median of the rounds' ratios", figure{sides: all, rounds: rounds}, loop, 2, "2.00", "<= 2", true},
		{"it shows a small one more closely", figure{sides: all, rounds: rounds[2:]}, npm, 0.04, "0.050", "<= 0.04", false},
		{"it may be wanted to be large", figure{sides: all, rounds: rounds, atLeast: true}, loop, 3, "2.00", ">= 3", false},
		{"it is met where nothing is wanted", figure{sides: all, rounds: rounds}, loop, 0, "2.00", "-", true},
		{"it is not there without the other side", figure{sides: map[role]func() (float64, error){ours: some}, rounds: rounds}, npm, 1, "-", "-", true},
		{"it is without the hash, for the loop", figure{sides: all, rounds: []map[role]float64{{ours: 30, loop: 10, hash: 15}}}, loop, 1.5, "1.50", "<= 1.5", true},
		{"it is with the hash, for npm", figure{sides: all, rounds: []map[role]float64{{ours: 30, npm: 10, hash: 15}}}, npm, 1.5, "3.00", "<= 1.5", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ratio, limit, met := c.f.compare(c.role, c.goal)
			if ratio != c.ratio || limit != c.limit || met != c.met {
				t.Errorf("got %s, %s, %t; want %s, %s, %t", ratio, limit, met, c.ratio, c.limit, c.met)
			}
		})
	}
}

// The files differ, so that no server can answer one with another's content, and end with a whole line.
func TestSource(t *testing.T) {
	seen := map[string]bool{}
	for i := range 64 {
		text := source(i, 900)
		if len(text) > 900 || len(text) < 800 || !strings.HasSuffix(text, "\n") || seen[text] {
			t.Errorf("text %d has %d bytes and ends in %q; it was there before: %t", i, len(text), text[len(text)-1:], seen[text])
		}
		seen[text] = true
	}
}
