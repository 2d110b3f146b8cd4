package search

import (
	"math"
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"
)

// String writes a row as a regular expression would be written, with the bytes of a set in their order.
func (r row) String() string {
	var b strings.Builder
	for _, set := range r {
		var in []byte
		for c := range 256 {
			if set.has(byte(c)) {
				in = append(in, byte(c))
			}
		}
		switch {
		case len(in) == 1:
			b.WriteByte(in[0])
		case len(in) == int(in[len(in)-1]-in[0])+1:
			b.WriteString("[" + string(in[0]) + "-" + string(in[len(in)-1]) + "]")
		default:
			b.WriteString("[" + string(in) + "]")
		}
	}
	return b.String()
}

func mustSimplify(t *testing.T, pattern string) *syntax.Regexp {
	t.Helper()
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return re.Simplify()
}

func TestShapes(t *testing.T) {
	const digit = "[0-9]"
	cases := []struct{ name, pattern, want string }{
		{"it takes a class as often as it is there at least", `\d{7,}`, strings.Repeat(digit, 7)},
		{"it takes parts that follow each other", `[A-Z]{3,}_[0-9]{4,}`, "[A-Z][A-Z][A-Z]_" + strings.Repeat(digit, 4)},
		{"it takes the end of a repetition", `x[a-f]+\d{4}`, "[a-f]" + strings.Repeat(digit, 4)},
		{"it takes the beginning of a repetition", `\d{4}[a-f]+x*`, strings.Repeat(digit, 4) + "[a-f]"},
		{"it takes what is repeated once", `(?:[0-4]:[5-9]:)+`, "[0-4]:[5-9]:"},
		{"it takes nothing across what may not be there", `\d\d\d\dx?\d\d\d\d\d`, strings.Repeat(digit, 5)},
		{"it takes nothing across other characters", `\d{4}.\d{5}`, strings.Repeat(digit, 5)},
		{"it passes what takes no character", `\b\d{2}(?:$|)^\d{2}\b`, ""},
		{"it passes word boundaries", `\b\d{2}\b\d{2}\b`, strings.Repeat(digit, 4)},
		{"it takes both cases", `(?i)q[0-9]x[0-9]`, "[Qq]" + digit + "[Xx]" + digit},
		{"it takes no letter with a case beyond ASCII", `(?i)[0-9]{4}k[0-9]{3}`, strings.Repeat(digit, 4)},
		{"it takes the bytes of a character", `é\d\d\d`, "\xc3\xa9" + strings.Repeat(digit, 3)},
		{"it takes no class of more than ASCII", `[0-9é]{9}\d{4}`, strings.Repeat(digit, 4)},
		{"it leaves out line breaks", `[\n,][\n;][\n,][\n;]`, ",;,;"},
		{"it takes the end of what is too long", `\d{20}x{4}`, strings.Repeat(digit, 12) + "xxxx"},
		{"it takes none that spares little", `\d\d[a-z]`, ""},
		{"it takes none of frequent bytes", `[ -~]{10}`, ""},
		{"it takes none of what may be empty", `(?:\d{7})*`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if s := shapeOf(mustSimplify(t, c.pattern)); s != nil {
				got = s.row.String()
			}
			if got != c.want {
				t.Errorf("%s: got %q, want %q", c.pattern, got, c.want)
			}
		})
	}
}

// TestShapeIsFoundWhereItStands compares the search for a shape with one that looks at every place.
func TestShapeIsFoundWhereItStands(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		r := make(row, 1+random.IntN(6))
		for i := range r {
			for c := byte('a'); c <= 'd'; c++ {
				if random.IntN(3) == 0 {
					r[i].add(c)
				}
			}
		}
		text := make([]byte, random.IntN(60))
		for i := range text {
			text[i] = 'a' + byte(random.IntN(5))
		}
		from := random.IntN(len(text) + 1)
		want := -1
		for i := from; i+len(r) <= len(text) && want < 0; i++ {
			ok := true
			for k := range r {
				ok = ok && r[k].has(text[i+k])
			}
			if ok {
				want = i
			}
		}
		start, end, spent := newShape(r).find(text, from, math.MaxInt)
		if start != want || want >= 0 && end != want+len(r) {
			t.Fatalf("%v in %q from %d: got %d to %d, want %d", r, text, from, start, end, want)
		}
		// With less patience it comes as far as a place before which there is none.
		patience := random.IntN(spent + 1)
		start, end, _ = newShape(r).find(text, from, patience)
		if patience < spent && (start >= 0 || want >= 0 && want+len(r) <= end) || patience == spent && start != want {
			t.Fatalf("%v in %q from %d with patience for %d of %d: got %d to %d, want %d", r, text, from, patience, spent, start, end, want)
		}
	}
}

// checkShape looks for the shape of a pattern in lines that it matches.
func checkShape(t *testing.T, re *syntax.Regexp, lines []string) {
	t.Helper()
	s := newShape(outlineOf(re).best)
	if len(s.row) == 0 {
		return
	}
	for _, line := range lines {
		if at, _, _ := s.find([]byte(line), 0, math.MaxInt); at < 0 && utf8.ValidString(line) {
			t.Errorf("%s matches %q, which does not hold %v", re, line, s.row)
		}
	}
}

func TestWhatIsFoundInVainIsDropped(t *testing.T) {
	const inVain, many = "Q is no 1234567 number\n", 5000
	for _, c := range []struct {
		name, pattern, text string
		literals, shape     bool // what is left
	}{
		{"it keeps literals that are rare", `[0-9]{8}Q`, strings.Repeat("x\n", many), true, false},
		{"it looks for the shape instead of a frequent literal", `[0-9]{8}Q`, strings.Repeat(inVain, many), false, true},
		{"it drops a shape that is frequent", `[0-9]{7}[a-z]?$`, strings.Repeat(inVain, 10*many), false, false},
		{"it drops a shape of which the end is frequent", `[A-Z]{2}[0-9]{13}`, strings.Repeat("0123456789012345\n", 40*many), false, false},
		{"it adds up what it cost to find a shape", `[A-Z]{2}[0-9]{13}$`, strings.Repeat(strings.Repeat("0123456789012345\n", 3*many)+"AB1234567890123 x\n", 10) + "AB1234567890123\n", false, false},
		{"it judges a shape by what is left", `[0-9]{8}Q$`, strings.Repeat("Q is no number Q at all\n", 8000) + strings.Repeat(strings.Repeat("nothing here is of use..\n", 40)+"12345678Q x\n", 1700) + "12345678Q\n", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := Query{Pattern: c.pattern, Regex: true, Max: 10}
			p, err := compile(q)
			if err != nil {
				t.Fatal(err)
			}
			s := newScanner(t.Context(), &search{Query: q, pattern: p, settings: usual(1)})
			text := []byte(c.text + "12345678Q 1234567 Q AB1234567890123 1234567\n")
			s.begin(0)
			s.lines(text, 0)
			if n := s.found.matches; n != 1 {
				t.Errorf("got %d matches, want 1", n)
			}
			if got := s.cleaned != nil; got != c.literals {
				t.Errorf("literals are looked for: %t, want %t", got, c.literals)
			}
			if got := s.shape != nil; got != c.shape {
				t.Errorf("a shape is looked for: %t, want %t", got, c.shape)
			}
		})
	}
}

// A shape may begin before the place at which a literal was found that is looked for no more.
func TestShapeBeforeADroppedLiteral(t *testing.T) {
	loc := plant(t, map[string]string{
		"a": strings.Repeat("Q is no 1234567 number\n", 8000),
		"b": "12345678Q\n", "c": "x 12345678Q is\n", "d": "Q 12345678Q is\n",
	})
	got, err := runWith(t.Context(), loc, Query{Pattern: `[0-9]{8}Q`, Regex: true, Max: 100}, usual(1))
	if err != nil {
		t.Fatal(err)
	}
	if got.Matches != 3 {
		t.Errorf("got %d matches, want those of b, c and d: %v", got.Matches, got)
	}
}
