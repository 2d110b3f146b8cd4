package search

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"lookfirst/fsmcp/textfile"
)

func TestRequiredLiterals(t *testing.T) {
	cases := []struct {
		name, pattern   string
		cleaned, stored []string // a fold is marked with ~
	}{
		{"it takes a literal", "needle", []string{"needle"}, []string{"needle"}},
		{"it takes the rarest part", `\w+needle\d+haystack[x-z]`, []string{"haystackx", "haystacky", "haystackz"}, []string{"haystackx", "haystacky", "haystackz"}},
		{"it passes word boundaries", `\bword\b`, []string{"word"}, []string{"word"}},
		{"it takes all alternatives", "TODO|FIXME|XXX", []string{"TODO", "FIXME", "XXX"}, []string{"TODO", "FIXME", "XXX"}},
		{"it takes what all alternatives need", `TODO\(\w+\)|FIXME`, []string{"TODO(", "FIXME"}, []string{"TODO(", "FIXME"}},
		{"it takes nothing if one alternative needs nothing", `TODO|\d+`, nil, nil},
		{"it joins an optional part in both ways", "colou?r!", []string{"colour!", "color!"}, []string{"colour!", "color!"}},
		{"it takes a repeated part once", "(?:needle)+x", []string{"needle"}, []string{"needle"}},
		{"it takes nothing of what may not be there", "(?:needle)*", nil, nil},
		{"it folds ASCII", "(?i)Deprecated", []string{"~deprecated"}, []string{"~deprecated"}},
		{"it leaves out letters with other cases beyond ASCII", "(?i)backquoted", []string{"~quoted"}, []string{"~quoted"}},
		{"it leaves out frequent letters, but for whole files", `c\d`, nil, []string{"c"}},
		{"it leaves out what a file may spell otherwise", "naïveté123", []string{"naïveté123"}, []string{"123"}},
		{"it leaves out characters with doubles", "WORK;queue", []string{"WORK;queue"}, []string{"queue"}},
		{"it leaves out a line break that may be there", `\n?needle`, []string{"needle"}, []string{"needle"}},
		{"it leaves out a carriage return", `needle\r`, []string{"needle"}, []string{"needle"}},
	}
	list := func(strands []strand) []string {
		var texts []string
		for _, s := range strands {
			for _, e := range s.ends {
				text := e.text
				if e.fold {
					text = "~" + text
				}
				if !strings.Contains(strings.Join(texts, "\n")+"\n", text+"\n") {
					texts = append(texts, text)
				}
			}
		}
		return texts
	}
	sorted := cmp.Transformer("sorted", func(in []string) map[string]bool {
		out := map[string]bool{}
		for _, s := range in {
			out[s] = true
		}
		return out
	})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			re, err := syntax.Parse(c.pattern, syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			re = re.Simplify()
			if diff := cmp.Diff(c.cleaned, list(required(re, asCleaned)), sorted); diff != "" {
				t.Errorf("cleaned: want -, got +:\n%s", diff)
			}
			if diff := cmp.Diff(c.stored, list(required(re, asStored)), sorted); diff != "" {
				t.Errorf("stored: want -, got +:\n%s", diff)
			}
		})
	}
}

// TestDoublesOfASCII holds the list of characters that are ASCII in their normal form against Unicode's.
func TestDoublesOfASCII(t *testing.T) {
	for r := rune(utf8.RuneSelf); r <= utf8.MaxRune; r++ {
		for _, c := range norm.NFC.String(string(r)) {
			if c < utf8.RuneSelf && asStored.allows(c) {
				t.Errorf("%U is %q in its normal form", r, c)
			}
		}
	}
}

func TestSeekerFindsTheFirstLine(t *testing.T) {
	cases := []struct {
		name string
		set  []literal
		in   string
		want []string // the lines it leads to
	}{
		{"it finds one", []literal{{text: "needle"}}, "a needle\nb\nneedle needle\n", []string{"a needle", "needle needle"}},
		{"it finds the first of several", []literal{{text: "one"}, {text: "two"}}, "two\none two\nx\none\n", []string{"two", "one two", "one"}},
		{"it finds both cases", []literal{{text: "qxz", fold: true}}, "QXZ\nqXz\nqx\nqxz", []string{"QXZ", "qXz", "qxz"}},
		{"it does not fold what is no letter", []literal{{text: "@q", fold: true}}, "`q\n@Q\n", []string{"@Q"}},
		{"it finds one that is as long as the text", []literal{{text: "abc"}}, "abc", []string{"abc"}},
		{"it finds none in a shorter text", []literal{{text: "abc"}}, "ab", nil},
		{"it finds one by two bytes", []literal{{text: "InitTime"}}, "InitTim\nInIT InitTimeInitTime\ninitTime\nInitTime", []string{"InIT InitTimeInitTime", "InitTime"}},
		{"it finds both cases by two bytes", []literal{{text: "a_gone", fold: true}}, "A_GONE\n\x01_gone\na\x7fgone\na_gonE", []string{"A_GONE", "a_gonE"}},
		{"it finds several by a pair and by a byte", []literal{{text: "InitTime"}, {text: "qx"}}, "qx\nInitTime qx\nI T\nInitTime\n", []string{"qx", "InitTime qx", "InitTime"}},
		{"it finds several with one key", []literal{{text: "xX"}, {text: "Xy"}}, "Xy\nxX\nX\n", []string{"Xy", "xX"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			k := newSeeker(strands(c.set), &watch{ctx: t.Context()})
			for range 2 { // The second time, nothing of the first is left.
				k.reset()
				var got []string
				for from := 0; ; {
					start, end := k.find([]byte(c.in), from)
					if start < 0 {
						break
					}
					from = indexFrom([]byte(c.in), end, '\n') + 1
					got = append(got, strings.TrimSuffix(c.in[lineStart([]byte(c.in), start):from-1], "\n"))
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("want -, got +:\n%s", diff)
				}
			}
		})
	}
}

func TestSpansAgreeWithATable(t *testing.T) {
	for _, members := range []string{"x", "ABC", "az09", "\x00\x7f", "a\x80", "\xff", "", "acegi"} {
		var in [256]uint8
		for i := range len(members) {
			in[members[i]] = 1
		}
		s := newSpans(&in)
		if !s.few {
			continue
		}
		for at := range 20 {
			for c := range 256 {
				text := []byte(strings.Repeat("~", 20))
				text[at] = byte(c)
				got := s.skip(text, 0)
				if isIn := in[c] != 0; isIn && got > at || !isIn && (c < utf8.RuneSelf || s.high == 0) && got < 16 {
					t.Errorf("%q: with %#x at %d it skips to %d", members, c, at, got)
				}
			}
		}
	}
}

func TestClean(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"it keeps ASCII", "a\nb\n", "a\nb\n"},
		{"it takes CRLF for a line end", "a\r\nb\r\n\r\n", "a\nb\n\n"},
		{"it keeps a CR elsewhere", "a\rb\r\r\nc\r", "a\rb\r\nc\r"},
		{"it composes", "e\u0301\nx", "é\nx"},
		{"it keeps what is composed", "é日本", "é日本"},
		{"it takes doubles for what they are", "\u212a\u037e\u1fef", "K;`"},
		{"it does not join lines", "e\n\u0301", "e\n\u0301"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ok := (&cleaner{watch: &watch{ctx: t.Context()}}).clean([]byte(c.in))
			if !ok || string(got) != c.want {
				t.Errorf("got %q, %v; want %q", got, ok, c.want)
			}
		})
	}
	for _, bad := range []string{"\xff", "a\xe2\x82", "\xed\xa0\x80", strings.Repeat("a", 100) + "\x80"} {
		if _, ok := (&cleaner{watch: &watch{ctx: t.Context()}}).clean([]byte(bad)); ok {
			t.Errorf("%q was taken for text", bad)
		}
	}
}

func TestCleanAgreesWithTheWhole(t *testing.T) {
	pieces := []string{"a", "e\u0301", "é", "e", "\u0301\u0323", "\u0323", "\u1112\u1161\u11ab", "\u1112", "\u1161", "日本", "\u212a", "\n", " ", "\u0344", "\u0f71\u0f72"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var b strings.Builder
		for b.Len() < 5*normalAtOnce {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		c := cleaner{watch: &watch{ctx: t.Context()}}
		got, ok := c.clean([]byte(b.String()))
		if want := textfile.NFC([]byte(b.String())); !ok || string(got) != string(want) {
			t.Fatalf("%v: %s", ok, differ(string(want), string(got)))
		}
	}
}

func TestShownCutsLongLines(t *testing.T) {
	x := func(n int) string { return strings.Repeat("é", n) }
	cases := []struct {
		name, line string
		at         int // characters before the end of the match
		want       string
	}{
		{"it shows 2000 characters whole", x(2000), 1999, x(2000)},
		{"it cuts the end", x(2001), 0, x(2000) + "…"},
		{"it cuts both ends", x(1500) + "!" + x(1500), 1501, "…" + x(999) + "!" + x(1000) + "…"},
		{"it cuts the beginning", x(2500) + "!", 2501, "…" + x(999) + "!"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			at := forward([]byte(c.line), 0, c.at)
			if got := shown([]byte(c.line), at); got != c.want {
				t.Errorf("got %d characters, want %d", utf8.RuneCountInString(got), utf8.RuneCountInString(c.want))
			}
		})
	}
}

// A line break that may be in a match is in none.
func TestOptionalLineBreak(t *testing.T) {
	loc := plant(t, map[string]string{"a": "one\nQ two\nthree\n"})
	want := []Line{{Number: 2, Text: "Q two", Match: true}}
	for _, pattern := range []string{`\n?Q`, `\n??Q`, `\n{0,2}Q`, `(?:\n|)Q`, `[\nQ] two`} {
		got, err := runWith(t.Context(), loc, Query{Pattern: pattern, Regex: true, Max: 100}, usual(1))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Files) != 1 {
			t.Fatalf("%s: got %v", pattern, got)
		}
		if diff := cmp.Diff(want, got.Files[0].Lines); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
}
