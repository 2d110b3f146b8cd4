package search

import (
	"errors"
	"strings"
	"testing"
)

// rakuCases are patterns with lines that they match and lines that they do not.
func rakuCases() []struct{ pattern, match, miss string } {
	return []struct{ pattern, match, miss string }{
		// White space and literals.
		{"foo bar", "xfoobarx", "foo bar"},
		{"foo ' ' bar", "foo bar", "foobar"},
		{`foo \s bar`, "foo bar|foo\tbar", "foobar"},
		{`foo \s+ bar`, "foo   bar", "foobar"},
		{"f o   o", "foo", "f o o"},
		{"_x1", "a_x1", "_x2"},
		{"größe", "Die größe", "große"},
		{"'a.b'", "a.b", "axb"},
		{`"a.b"`, "a.b", "axb"},
		{`'it\'s'`, "it's", `it\'s`},
		{`'C:\\x'`, `C:\x`, `C:\\x`},
		{`'a\d'`, `a\d`, "a1"},
		{`"tab\there"`, "tab\there", `tab\there`},
		{`"cost: $5"`, "cost: $5", "cost: 5"},
		{"「a\\b」", `a\b`, "ab"},
		{"‘a b’", "a b", "ab"},
		{`\.`, "a.b", "ab"},
		{`a\-b`, "a-b", "ab"},
		{`\(x\)`, "f(x)", "fx"},
		{`\x41 \x[42]`, "AB", "ab"},
		{`\x[41,42]`, "AB", "A"},
		{`\c[65]`, "A", "a"},
		{`\o101`, "A", "a"},
		{`\t`, "a\tb", "a b"},
		{"'' a", "a", "b"},

		// Classes.
		{".", "x|é", ""},
		{`a . c`, "abc|a c", "ac"},
		{`\d`, "x1|٣", "x"},
		{`\D`, "1x", "12"},
		{`^ \w+ $`, "ab_1|naïve", "a b|a-b"},
		{`\W`, "a b", "ab_é"},
		{`\S`, " x", " \t\u00a0"},
		{`a \h b`, "a b|a\tb|a\u00a0b", "a\vb"},
		{`a \v b`, "a\vb|a\u2028b", "a b"},
		{`a \N b`, "a b", "ab"},
		{`\H`, " x", " \t"},
		{"<[abc]>", "xbx", "xyz[]"},
		{"<[a b c]>", "c", " "},
		{"<[a..z]>", "Xm", "XM-."},
		{"^ <[a..z0..9]>+ $", "a1b2", "a-b|A"},
		{"<-[abc]>", "abcd", "abc"},
		{"^ <-[\\s]>+ $", "abc", "a c"},
		{`^ <[\d_]>+ $`, "1_2", "1-2"},
		{`<[\]\\\-]>`, "]", "["},
		{`<[-+]>`, "a-b|a+b", "ab"},
		{`<[.*]>`, "a.b|*", "ab"},
		{"<[a..z] - [aeiou]>", "ab", "aeiou"},
		{"<+[a..c] + [x..z]>", "y", "d"},
		{"^ <alpha>+ $", "abc_|é", "a1"},
		{"<digit>", "a1", "a"},
		{"^ <alnum>+ $", "a1_", "a-"},
		{"<upper> <lower>", "xAb", "AB|ab"},
		{"<punct>", "a,b", "ab"},
		{"^ <xdigit>+ $", "DEADbeef09", "xyz"},
		{"<space>", "a b", "ab"},
		{"<alpha - [a..y]>", "z|A", "a"},
		{"<-alpha>", "a1", "abc"},
		{"<:L>", "1é", "12"},
		{"<:Lu>", "aB", "ab"},
		{"<:!L>", "a1", "ab"},
		{"<-:L>", "a1", "ab"},
		{"<:Letter + :Nd>", "1", "-"},
		{"<:Script<Greek>>", "xλ", "xl"},
		{"<[\\x[41]..\\x[43]]>", "xB", "D"},

		// Quantifiers.
		{"^ ab* $", "a|abbb", "abab"},
		{"^ 'ab'* $", "|ab|abab", "abb"},
		{"^ ab+ $", "ab|abb", "a"},
		{"^ ab? $", "a|ab", "abb"},
		{"^ a ** 3 $", "aaa", "aa|aaaa"},
		{"^ a ** 2..3 $", "aa|aaa", "a|aaaa"},
		{"^ a ** 2..* $", "aa|aaaaaa", "a"},
		{"^ a ** 1..^3 $", "a|aa", "aaa"},
		{"^ a ** 1^..3 $", "aa|aaa", "a"},
		{"^ a ** ^3 $", "|a|aa", "aaa"},
		{"^ [ab] ** 2 $", "abab", "ab"},
		{"a .*? b", "axxb", "ba"},
		{"a .+! b", "axb", "ab"},
		{"^ \\d+ % ',' $", "1|1,2,3", "1,|,1|22"},
		{"^ [\\d+]+ %% ',' $", "1|1,22,3,", ",1|"},
		{"^ \\d* % ',' $", "|1|1,2", "1,"},
		{"^ \\d ** 2..3 % '-' $", "1-2|1-2-3", "1|1-2-3-4"},
		{"^ [\\w+]+ % [\\s* '=' \\s*] $", "a|a = b|a=b", "a b"},

		// Alternation and groups.
		{"foo | bar", "a bar", "baz"},
		{"foo || bar", "a foo", "baz"},
		{"^ [ foo | bar ] $", "foo|bar", "foobar"},
		{"| a | b", "a|b", "c"},
		{"|| a || b", "a|b", "c"},
		{"^ (a) [b|c] $", "ab|ac", "a"},
		{"a [b | ] c", "ac|abc", "adc"},
		{"$<year>=(\\d ** 4) '-'", "2024-", "24-"},
		{"foo <( bar )> baz", "foobarbaz", "bar"},

		// Anchors and boundaries.
		{"^ a", "ab", "ba"},
		{"a $", "ba", "ab"},
		{"^^ a $$", "a", "ab"},
		{"^ $", "", "a"},
		{"<< for >>", "for|a for b|(for)", "fork|before|_for|éfor|fore"},
		{"« for »", "for x", "fork"},
		{"<< über", "das über|über", "aüber"},
		{"\\w+ >> \\s+ << \\w+", "a b", "ab"},
		{"<|w> x <|w>", "a x b", "axb"},
		{"<!|w> x", "ax", "x"},
		{"a .* << b", "a b|a-b", "ab"},
		{":i << todo >>", "TODO: x", "todos"},

		// Adverbs.
		{":i foo", "FOO|fOo", "fo"},
		{":ignorecase foo", "FOO", "bar"},
		{"a [:i b] c", "aBc", "ABc|abC"},
		{":i a :!i b", "Ab", "aB"},
		{":i <[a..c]>", "B", "D"},
		{"<?> a", "a", "b"},
		{"a | <!>", "a", "b"},
		{"^ sub \\w+", "subx", "sub x"},
		{"^ sub \\s \\w+", "sub x", "subx"},
	}
}

func TestRakuMatches(t *testing.T) {
	for _, c := range rakuCases() {
		re, err := parse(c.pattern, Query{Pattern: c.pattern, Dialect: Raku})
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		p, err := compileRegex(re, Query{Pattern: c.pattern})
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for want, lines := range map[bool]string{true: c.match, false: c.miss} {
			if lines == "" && !want && !strings.Contains(c.match, "|") {
				continue
			}
			for line := range strings.SplitSeq(lines, "|") {
				if line == "" && !want && !strings.HasSuffix(lines, "|") {
					continue
				}
				s := &scanner{automaton: newAutomaton(p.program, &watch{ctx: t.Context()})}
				if got := s.matchLine([]byte(line)) >= 0; got != want {
					t.Errorf("%s matches %q: %v, want %v", c.pattern, line, got, want)
				}
			}
		}
	}
	if n := len(rakuCases()); n < 80 {
		t.Errorf("there are %d patterns, want at least 80", n)
	}
}

func TestRakuRefuses(t *testing.T) {
	const code = "Prohibited regex interpolation: { } is code, which is never run; quote '{' to look for one, and write ** 2..3 for a count"
	cases := []struct{ name, pattern, want string }{
		{"it refuses an open group", "a(b", "Unable to parse expression; couldn't find final ')'"},
		{"it refuses an open bracket", "a[b", "Unable to parse expression; couldn't find final ']'"},
		{"it refuses what nothing opened", "a)b", "Unable to parse expression; nothing opened the ')'"},
		{"it refuses an open quote", "'a", "Unable to parse expression in quotes; couldn't find final '"},
		{"it refuses an open class", "<[a", "Unable to parse expression; couldn't find final ']'"},
		{"it refuses a backslash at the end", `a\`, `Unable to parse expression; nothing follows the \ at its end`},
		{"it refuses code", "{ unlink 'x' }", code},
		{"it refuses code after an atom", "a{2,3}", code},
		{"it refuses code in a count", "a ** {3}", code},
		{"it refuses code in a string", `"a{1}"`, code},
		{"it refuses code in an assertion", "<?{ 1 }>", code},
		{"it refuses code in angle brackets", "<{ 'a' }>", code},
		{"it refuses declarations", ":my $x = 1; a", code},
		{"it refuses variables", "$x", "'$' begins a variable, and there are none here; write \\$ to look for one"},
		{"it refuses variables in a string", `"a $x"`, "'$' begins a variable, and there are none here; write \\$ to look for one"},
		{"it refuses variables as rules", "<$x>", "'$' begins a variable, and there are none here; write \\$ to look for one"},
		{"it refuses expressions", "$(1)", "'$' begins a variable, and there are none here; write \\$ to look for one"},
		{"it refuses arrays", "@x", "'@' begins a variable, and there are none here; quote it to look for one"},
		{"it refuses numbered back-references", "(a) $0", "RE2 cannot express the back-reference $0"},
		{"it refuses named back-references", "$<a>=(b) $<a>", "RE2 cannot express the back-reference $<a>"},
		{"it refuses back-references of other dialects", `(a) \1`, `RE2 cannot express the back-reference \1`},
		{"it refuses looking ahead", "<?before a>", "RE2 cannot express look-around, <?before a>"},
		{"it refuses looking behind", "<!after a> b", "RE2 cannot express look-around, <!after a>"},
		{"it refuses conjunctions", "a & b", "RE2 cannot express the conjunction &"},
		{"it refuses sequential conjunctions", "a && b", "RE2 cannot express the conjunction &"},
		{"it refuses goal matchers", "'(' ~ ')' a", "RE2 cannot express the goal matcher ~; quote it to look for one"},
		{"it refuses ratchets", "a+: b", "RE2 cannot express a quantifier without backtracking (:)"},
		{"it refuses ratcheting adverbs", ":r a", "RE2 cannot express the adverb :r"},
		{"it refuses significant space", ":s a b", "RE2 cannot express the adverb :s"},
		{"it refuses to ignore marks", ":m a", "RE2 cannot express the adverb :m"},
		{"it refuses large counts", "a ** 2000", "RE2 cannot express a count of more than 1000"},
		{"it refuses an empty range of counts", "a ** 3..2", "the range after ** is empty"},
		{"it refuses a count that is none", "a ** b", "** wants a number or a range, such as ** 2 or ** 2..4"},
		{"it refuses rules of its own", "<ident>", "there is no rule <ident> here; named classes are <alpha>, <digit>, <alnum>, <upper>, <lower>, <space>, <blank>, <punct>, <xdigit> and properties such as <:L>; quote '<' to look for one"},
		{"it refuses recursion", "<~~>", "there is no rule <~~> here; named classes are <alpha>, <digit>, <alnum>, <upper>, <lower>, <space>, <blank>, <punct>, <xdigit> and properties such as <:L>; quote '<' to look for one"},
		{"it refuses lists of words", "< a b >", "a list of words < > is not to be had here; write ['a' | 'b']"},
		{"it refuses unknown properties", "<:Nonsense>", "RE2 cannot express the property <:Nonsense>"},
		{"it refuses punctuation that is not quoted", "a-b", "Unrecognized regex metacharacter - (must be quoted to match literally)"},
		{"it refuses comments", "a # b", "'#' begins a comment; quote it to look for one"},
		{"it refuses quantifiers of nothing", "*a", "Quantifier quantifies nothing: there is nothing before the '*'; quote it to look for one"},
		{"it refuses ranges of other dialects", "<[a-z]>", `Unsupported use of - as character range; write .. for a range, or \- for the character`},
		{"it refuses ranges that are empty", "<[z..a]>", "the range 'z'..'a' in a class is empty"},
		{"it refuses boundaries of other dialects", `\ba`, `Unsupported use of \b; write <|w> for a word's boundary`},
		{"it refuses anchors of other dialects", `\Aa\z`, `Unsupported use of \A; write ^`},
		{"it refuses unknown escapes", `\q`, `Unrecognized backslash sequence: '\q'`},
		{"it refuses names of characters", `\c[DIGIT ONE]`, "there is no number of a character after the escape; characters cannot be given by name"},
		{"it refuses a boundary that it cannot direct", "<< '-'", "RE2 can express << only right before a letter, a digit or _; write <|w> for either kind of boundary"},
		{"it refuses a boundary after what may be nothing", "a* >>", "RE2 can express >> only right after a letter, a digit or _; write <|w> for either kind of boundary"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := compile(Query{Pattern: c.pattern, Regex: true, Dialect: Raku})
			var bad *PatternError
			if want := "Invalid regex pattern '" + c.pattern + "': " + c.want; err == nil || !errors.As(err, &bad) || bad.Refusal() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestRakuTakesWhatWasRefusedWhenQuoted(t *testing.T) {
	for _, text := range []string{"{", "}", "$x", "@x", "a-b", "#", "*", "<", "&", "~", "%", ":", ";", ",", "="} {
		if _, err := compile(Query{Pattern: "'" + text + "'", Regex: true, Dialect: Raku}); err != nil {
			t.Errorf("'%s': %v", text, err)
		}
	}
}

func FuzzRaku(f *testing.F) {
	for _, c := range rakuCases() {
		f.Add(c.pattern)
	}
	f.Add("(((((")
	f.Add("a ** 1000 ** 1000")
	f.Fuzz(func(t *testing.T, pattern string) {
		if len(pattern) > 200 {
			return
		}
		_, err := compile(Query{Pattern: pattern, Regex: true, Dialect: Raku})
		var bad *PatternError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("%q: %v is no sentence for a model", pattern, err)
		}
	})
}
