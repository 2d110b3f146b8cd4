package repomap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type rakuCase struct {
	name string
	text []string
	want []string // name, kind and line
}

// rakuCases are also what the fuzzer starts from.
func rakuCases() []rakuCase {
	return []rakuCase{
		{
			"it cuts adverbs off a class",
			[]string{"unit class Tide::Pool:ver<1.2>;", "has $.depth;", "method fill($x) { }", "method !drain() { }"},
			[]string{"Tide::Pool type 1", "fill method 3", "drain method 4"},
		},
		{
			"it knows multi, proto and only",
			[]string{"proto sub scoop(|) {*}", "multi sub scoop(Int $n) { }", "multi dip(Str $s) { }", "    multi method pour(Int :$n = 3) { }", "only sub ladle() { }"},
			[]string{"scoop function 1", "scoop function 2", "dip function 3", "pour method 4", "ladle function 5"},
		},
		{
			"it knows scopes, and strips sigil and backslash",
			[]string{"my sub inner { }", "our sub outer { }", "my class Hid { }", "constant LIMIT = 9;", "enum Shade <Pale Dark>;", "my constant \\tau2 = 12;", "constant $PI = 3;"},
			[]string{"inner function 1", "outer function 2", "Hid type 3", "LIMIT value 4", "Shade type 5", "tau2 value 6", "PI value 7"},
		},
		{"it skips a Pod block", []string{"=begin pod", "sub fake($x) { }", "=end pod", "", "sub real { }"}, []string{"real function 5"}},
		{
			"it ends a Pod block at its own name",
			[]string{"=begin pod", "=begin code", "sub fake {}", "=end code", "class AlsoFake { }", "=end pod", "", "sub real { }"},
			[]string{"real function 8"},
		},
		{
			"it ends a Pod paragraph at an empty line",
			[]string{"=head1 The pool", "sub fake { }", "=for comment", "class Fake { }", "", "sub real { }"},
			[]string{"real function 6"},
		},
		{"it stops at =finish", []string{"sub real { }", "=finish", "sub fake { }"}, []string{"real function 1"}},
		{"it takes = without a letter for code", []string{"my $x", "    = 3;", "sub real { }"}, []string{"real function 3"}},
		{
			"it skips declarator comments",
			[]string{"#| sub fake { }", "#= class Fake { }", "sub real { }", "sub two { } #= sub fake2 { }"},
			[]string{"real function 3", "two function 4"},
		},
		{
			"it skips bracketed declarator comments",
			[]string{"#|( sub fakeone (with parens)", "class Prose is what this line says", "sub prose reads like code", ")", "#=[ method nope { } ]", "sub real { }"},
			[]string{"real function 6"},
		},
		{"it skips embedded comments", []string{"#`( sub fake { }", "class Fake { }", ")", "sub real { } #`{ sub x { } }"}, []string{"real function 4"}},
		{"it skips a heredoc", []string{"my $t = q:to/END/;", "    sub fake { }", "    class Fake { }", "    END", "", "sub real { }"}, []string{"real function 6"}},
		{
			"it skips two heredocs in their order",
			[]string{"f(qq:to/A/, q:to/B/);", "  sub fake { }", "  A", "class Fake { }", "  B", "sub real { }"},
			[]string{"real function 6"},
		},
		{
			"it skips strings",
			[]string{`my $s = 'sub fake { }'; my $u = "class Fake \" sub x";`, `say "method fake"; say q{ sub fake { nested } };`, "my $v = q[class Fake];", "sub real { }"},
			[]string{"real function 4"},
		},
		{"it skips quotes over several lines", []string{"my $v = q[class Fake", "sub nope { [nest] }", "role Nope", "];", "sub real { }"}, []string{"real function 5"}},
		{
			"it reads grammars",
			[]string{"grammar G {", "    token TOP { <pair>+ % ',' }", `    rule pair { <key> '=' \d+ }`, "    regex key { <-[=']>+ }", "    token op:sym<+> { <sym> }", "}"},
			[]string{"G type 1", "TOP method 2", "pair method 3", "key method 4", "op:sym<+> method 5"},
		},
		{
			"it passes over anonymous routines",
			[]string{"my $f = sub ($x) { $x };", "my $g = method { self };", "$obj.method('x'); submethodical(3);", "sub don't-stop { }"},
			[]string{"don't-stop function 4"},
		},
		{
			"it names operators in full",
			[]string{"sub infix:<plus>($a, $b) { }", "multi sub prefix:<√>($n) { }"},
			[]string{"infix:<plus> function 1", "prefix:<√> function 2"},
		},
		{
			"it knows meta-methods and role parameters",
			[]string{"role Bag[::T] does Thing {", "    method ^meta-name($) { }", "    submethod BUILD(:$!x) { }"},
			[]string{"Bag type 1", "meta-name method 2", "BUILD method 3"},
		},
		{"it reads several declarations on a line", []string{"module M { our sub f() is export { } }"}, []string{"M type 1", "f function 1"}},
		{
			"it is not misled by a signature",
			[]string{"sub long(", "    Int $a,", "    Str :$class = 'x',", "    :&sub,", ") { }"},
			[]string{"long function 1"},
		},
		{"it knows augment and package", []string{"augment class Str { }", "package P { }"}, []string{"Str type 1", "P type 2"}},
		{
			"it reads on where a quote has no end",
			[]string{"sub before { }", "my $x = q[ never closed", "sub after { }"},
			[]string{"before function 1", "after function 3"},
		},
		{"it does not take a pair for a declaration", []string{"class => 3, sub => 4;", "sub real { }"}, []string{"real function 2"}},
		{"it reads lines that end in CR LF", []string{"=begin pod\r", "sub fake { }\r", "=end pod\r", "sub real { }\r"}, []string{"real function 4"}},
	}
}

func TestRaku(t *testing.T) {
	for _, tt := range rakuCases() {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, d := range scanRaku(lines(tt.text...)).Definitions {
				got = append(got, fmt.Sprint(d.Name, " ", [...]string{"type", "function", "method", "value"}[d.Kind], " ", d.Line))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("definitions of\n%s(-want +got):\n%s", lines(tt.text...), diff)
			}
		})
	}
}

func TestRakuUse(t *testing.T) {
	got := scanRaku(lines("use v6.d;", "use Foo::Bar:ver<1.0>:auth<zef:x> :ALL;", "need Baz;", "    require Qux::Deep <&x>;", "# use Not::This;")).Modules
	if diff := cmp.Diff([]string{"Foo::Bar", "Baz", "Qux::Deep"}, got); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
}

func TestRakuReferences(t *testing.T) {
	got := scanRaku(lines(
		"sub helper($x) { other($x); $x.send; Foo::Bar.new; my Widget $w; say 'quoted(1)'; }", "class Own { }", "helper(1); other(2); :named(3); $sigil(4);",
	)).References
	want := []Reference{{Name: "other", Count: 2}, {Name: "send", Count: 1}, {Name: "Foo::Bar", Count: 1}, {Name: "Widget", Count: 1}, {Name: "helper", Count: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
}

func TestRakuIsLinear(t *testing.T) {
	// Each of these would take the square of its length if a quote without an end, a comment or a Pod block were read
	// again and again. The test's own time limit is the measure.
	for _, part := range []string{"q[ x\n", "#`( x\n", "q:to/E/;\n", "=begin x\n", "my $a = 'x\n", "sub a { ", "a::", "infix:<", "sub infix:< ", "my ", "qq{{{{\n", "q/ x\n"} {
		scanRaku(strings.Repeat(part, maxFile/len(part)))
	}
}

func TestRakuEdges(t *testing.T) {
	root, _ := tree(t, map[string]string{
		"lib/Tide/Pool.rakumod": "unit class Tide::Pool;\n",
		"a/lib/Twin.rakumod":    "unit module Twin;\n",
		"b/lib/Twin.pm6":        "unit module Twin;\n",
		"src/Lost.rakumod":      "unit module Lost;\n",
		"bin/main.raku":         "use Tide::Pool;\nuse Twin;\nuse Lost;\nuse Nowhere;\n",
	})
	m := mapper(t, root)
	drawn(t, m, Request{Path: "."})
	found, err := m.survey(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	files, err := m.load(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	g := newGraph(files, m.cache.names)
	got := map[string]float64{}
	for f := range files {
		for e := g.first[f]; e < g.first[f+1]; e++ {
			got[files[f].path+" -> "+files[g.to[e]].path] = g.weight[e]
		}
	}
	want := map[string]float64{
		"bin/main.raku -> lib/Tide/Pool.rakumod": 1,
		"bin/main.raku -> a/lib/Twin.rakumod":    .5,
		"bin/main.raku -> b/lib/Twin.pm6":        .5,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
}

func FuzzRaku(f *testing.F) {
	f.Add("sub a { } #`( x\nq:to/E/;\nE\n=begin pod\n=end pod\nclass A::B:ver<1> { method !b { } }\ntoken t:sym<+> { }\nmy $x = q[")
	for _, c := range rakuCases() {
		f.Add(lines(c.text...))
	}
	f.Add("infix:«>» sub infix:<>>> constant \\x = 'a\\'")
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range scanRaku(text).Definitions {
			if d.Name == "" || d.Line < 1 || strings.ContainsAny(d.Text, "\n\r") {
				t.Errorf("a definition %+v", d)
			}
		}
	})
}
