package search

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	cases := []struct {
		name, pattern string
		want          int
	}{
		{"it is four bytes for a character", "a[bc].", 12},
		{"it is nothing for a boundary", `^\ba$`, 4},
		{"it is that of the longest branch", "(ab|cde)x?", 16},
		{"it counts what is repeated", "a{2,5}", 20},
		{"it has no bound where a part has none", "ab(c+|d)", anyWidth},
		{"it is not worth while when it is large", "a.{100}", anyWidth},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			re, err := syntax.Parse(c.pattern, syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			if got := width(re.Simplify()); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// checkCandidate looks for a pattern in a long line of a text and filler.
func checkCandidate(t *testing.T, pattern, text string) {
	t.Helper()
	p, err := compile(Query{Pattern: pattern, Regex: true})
	if err != nil || p.cleaned == nil {
		return
	}
	c := newScanner(t.Context(), &search{pattern: p, settings: defaults()})
	text = strings.ReplaceAll(text, "\n", "")
	line := []byte(text + strings.Repeat("x - ", longCandidate/4) + text)
	c.cleaned.reset()
	if at, _ := c.cleaned.find(line, 0); at >= 0 && c.looksAround() {
		if got, _ := c.matchCandidate(line, at); got != c.matchLine(line) {
			t.Errorf("%s in %q: ends at %d, want %d", pattern, line, got, c.matchLine(line))
		}
	}
}

// TestCandidateAgreesWithTheWholeLine looks around literals and at whole lines, and asks Go's regexp.
func TestCandidateAgreesWithTheWholeLine(t *testing.T) {
	patterns := []string{
		`\bneedle\b`, `needle$`, `^needle`, `needle.?`, `.?needle`, `[^x]needle[^y]`, `\Bneedle`, `needle\B`, `(?:é|\s)?needle\d?\b`, `.{0,3}needle.{3}$`, `^.{2}needle`, `\bneedle.{20}x`, `😀\b`, `\b😀\B`,
	}
	pieces := []string{"needle", "needle ", "xneedle", "needley", "a", "é", "日", " ", "_", "😀", "😀x", "12", "needl", "e", "need", strings.Repeat("abc ", 90), strings.Repeat("é", 200)}
	r := rand.New(rand.NewPCG(5, 6))
	for _, pattern := range patterns {
		p, err := compile(Query{Pattern: pattern, Regex: true})
		if err != nil {
			t.Fatal(err)
		}
		c := newScanner(t.Context(), &search{pattern: p, settings: defaults()})
		re := regexp.MustCompile(pattern)
		if !c.cleaned.isOne() || p.width == anyWidth {
			t.Errorf("%s is not looked for around its literal", pattern)
			continue
		}
		spared := 0
		for range 300 {
			var b strings.Builder
			for least := longCandidate + r.IntN(4000); b.Len() < least; {
				b.WriteString(pieces[r.IntN(len(pieces))])
			}
			line := []byte(b.String())
			c.cleaned.reset()
			at, _ := c.cleaned.find(line, 0)
			if at < 0 {
				continue
			}
			got, shown := c.matchCandidate(line, at)
			if want := c.matchLine(line); got != want || re.Match(line) != (want >= 0) {
				t.Fatalf("%s in %q: ends at %d, want %d; regexp: %v", pattern, line, got, want, re.Match(line))
			}
			spared += len(line) - shown
		}
		if spared < 300*longCandidate/4 {
			t.Errorf("%s: spared %d bytes", pattern, spared)
		}
	}
}
