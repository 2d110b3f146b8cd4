package search

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func mustProgram(t testing.TB, pattern string) *program {
	t.Helper()
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProgram(re.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// matchingLines are the lines that an automaton finds in one run over a text.
func matchingLines(a *automaton, text []byte) []string {
	c := &scanner{automaton: a}
	var found []string
	for from := 0; from < len(text); {
		start, end, _ := c.next(text, from)
		if start < 0 {
			break
		}
		found = append(found, string(text[start:end]))
		from = end + 1
	}
	return found
}

// linesByRegexp are the lines that Go's regexp finds.
func linesByRegexp(re *regexp.Regexp, text []byte) []string {
	var found []string
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSuffix(line, []byte("\n")); re.Match(line) {
			found = append(found, string(line))
		}
	}
	return found
}

func patterns() []string {
	return []string{
		`a`, `abc`, `a|b`, `abc|abd|x`, `a*`, `a+b`, `a?b`, `(a|b)*c`, `a{2,4}b`, `(ab){2}`, `a*?b`, `a+?$`,
		`^a`, `a$`, `^$`, `^`, `$`, `^a$`, `(^a|b$)`, `a^b`, `a$b`, `(?m)^a$`, `\Aa`, `a\z`, `(?:^|x)y`,
		`\ba`, `a\b`, `\bword\b`, `\B`, `a\B`, `\Ba`, `\b`, `\B$`, `^\B`, `\b\B`, `x\b-`, `(\b|a)b`, `\b.`,
		`.`, `..`, `a.c`, `.*`, `.+x`, `(?s).`, `[abc]`, `[^abc]`, `[^a]b`, `[a-z]+`, `[[:alpha:]]`, `\d+`, `\D`, `\w+`, `\W`, `\s`, `\S+`,
		`é`, `[é-ü]`, `[^é]`, `\p{L}+`, `\p{Greek}`, `\P{L}`, `[\x{1F600}-\x{1F64F}]`, `日本`, `.日`, `[^日]本`, `\x{10FFFF}`, `[\x{D7FF}-\x{E000}]`, `\p{Cs}`,
		`(?i)k`, `(?i)s`, `(?i)straße`, `(?i)ΣΑΣ`, `(?i)[k-s]`, `(?i)abc`, `a(?i:b)c`,
		`(a*)*b`, `(a+)+$`, `(a|aa)+$`, `(.*)(.*)(.*)x`, `(x+x+)+y`, `([a-c]|b)*\d`, `((a)|(b)|(c))*d`,
		`func \w+\(`, `[A-Z]{3,}_[0-9]{2,}`, `\w+\s*=\s*\w+\(\)$`, `TODO|FIXME|XXX`, `(?i)deprecated`, `\bInitTime\b|I?T\d`, `(?i)zq_gone|InitTime`,
		`[^\x00-\x{10FFFF}]`, `a[^\x00-\x{10FFFF}]|b`, `(|a)b`, `(?:)`, `\r`, `a\r?$`, `[\n,]`, `\s$`, `^\s+\S`, `\x00`,
	}
}

func texts() []string {
	return []string{
		"", "\n", "\n\n", "a", "a\n", "\na", "abc\nabd\nxyz\n", "aab\naaab\nb\n", "word\nwords\na word here\nswordfish\nword-x\n",
		"é\naé\néa\naéb\n", "日本\nx日本\n本\n", "😀\n\U0010ffff\n\ud7ff\n\ue000\n", "k\nK\nK\ns\nſ\nS\n", "straße\nSTRASSE\nSTRAßE\n", "σας\nΣΑΣ\n",
		"  x = y()\nfoo(a)\nfunc main() {\n", "ABC_12\nAB_1\nABCD_1234x\n", "todo\nTODO\nFIXME: x\nDeprecated\n", strings.Repeat("a", 300) + "\n", strings.Repeat("ab", 99) + "c",
		"a\x00b\n\x00\n", "a\rb\r\n\r\n", "x-y\n-x\n_\n0\n", "1 2\n\t3\n ,\n", "xxxxxxxxxxxxxxxxxxxy\nxx\n", "a b c d\nabcabcd\n", "InitTime\nIT1 T2\nxInitTime InitTime\nZQ_gone\nIniT ime\n",
	}
}

func TestAutomatonAgreesWithRegexp(t *testing.T) {
	for _, pattern := range patterns() {
		a := newAutomaton(mustProgram(t, pattern), &watch{ctx: t.Context()})
		re := regexp.MustCompile(pattern)
		for _, text := range texts() {
			got, want := matchingLines(a, []byte(text)), linesByRegexp(re, []byte(text))
			if strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != len(want) {
				t.Errorf("%s in %q: got %q, want %q", pattern, text, got, want)
			}
		}
	}
}

func FuzzAutomaton(f *testing.F) {
	all := texts()
	for i, p := range patterns() {
		f.Add(p, all[i%len(all)])
		f.Add(p, all[(i*7+3)%len(all)])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 100 || len(text) > 1000 || !utf8.ValidString(text) {
			return
		}
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil || needsLineBreak(parsed) {
			return
		}
		simple := parsed.Simplify()
		p, err := newProgram(simple)
		if err != nil {
			return
		}
		re := regexp.MustCompile(pattern)
		want := linesByRegexp(re, []byte(text))
		got := matchingLines(newAutomaton(p, &watch{ctx: t.Context()}), []byte(text))
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != len(want) {
			t.Errorf("%s in %q: got %q, want %q", pattern, text, got, want)
		}
		checkCandidate(t, pattern, text)
		checkShape(t, simple, want)
		for _, literals := range [][]strand{required(simple, asCleaned), required(simple, asStored)} {
			if len(literals) == 0 {
				continue
			}
			for _, line := range want {
				k := newSeeker(literals, &watch{ctx: t.Context()})
				k.reset()
				if at, _ := k.find([]byte(line), 0); at < 0 && utf8.ValidString(line) && !strings.ContainsAny(line, "\u212a\u037e\u1fef") {
					t.Errorf("%s matches %q, which holds none of %v", pattern, line, literals)
				}
			}
		}
	})
}

func TestAutomatonForgets(t *testing.T) {
	// There are 2^18 states, which are more than it holds.
	const pattern = `(a|b)*a(a|b){17}c`
	p := mustProgram(t, pattern)
	a := newAutomaton(p, &watch{ctx: t.Context()})
	text := make([]byte, 0, 1<<18)
	for seed := uint32(1); len(text) < 1<<18; seed = seed*1664525 + 1013904223 {
		text = append(text, "ab"[seed>>31])
	}
	text = append(text, "abbbbbbbbbbbbbbbbbc\nbbbb"...)
	largest := 0
	for piece := range slices.Chunk(text, 1<<10) {
		a.run(a.begin, piece, 0)
		largest = max(largest, a.size)
	}
	if largest > maxSize+1000 || largest < maxSize/2 {
		t.Errorf("it grew to %d bytes, want nearly %d and no more", largest, maxSize)
	}
	if got := matchingLines(a, text); len(got) != 1 {
		t.Errorf("found %d lines, want 1", len(got))
	}
}

func BenchmarkAutomaton(b *testing.B) {
	text := bytes.Repeat([]byte("\tif err := walk(ctx, dir, func(e Entry) error { return nil }); err != nil { // see RFC_2822\n"), 1000)
	for _, pattern := range []string{`[A-Z]{3,}_[0-9]{5,}`, `\w+\s*=\s*\w+\(\)$`, `\berror\b`, `(?i)deprecated`, `(a*)*b$`, `[a-z]+\d$`} {
		b.Run(pattern, func(b *testing.B) {
			a := newAutomaton(mustProgram(b, pattern), &watch{ctx: b.Context()})
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				a.run(a.begin, text, 0)
			}
		})
	}
}

func TestLeastInstructions(t *testing.T) {
	for _, pattern := range append(patterns(), `a{3}`, `(ab){2,5}`, `(a{1000}){0}`, `(a{30}b){0,}`, `(a|b{7}|)+`, `[a-c]{4,}x`) {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		p, err := syntax.Compile(re.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		// Without counts, at most a few are not counted for each byte of a pattern.
		if n := leastInstructions(re); n > len(p.Inst) || len(p.Inst) > 3*n+3*len(pattern)+3 {
			t.Errorf("%s: counted %d of %d", pattern, n, len(p.Inst))
		}
	}
	if n := leastInstructions(must(syntax.Parse(`(a{30}b){0,9}(c{100}){10}`, syntax.Perl))); n != 31*9+1000 {
		t.Errorf("counted %d, want %d", n, 31*9+1000)
	}
}

func must(re *syntax.Regexp, err error) *syntax.Regexp {
	if err != nil {
		panic(err)
	}
	return re
}
