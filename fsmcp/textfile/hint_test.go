package textfile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	legend = " of the file (→ is a tab, · a space, ␍ a carriage return):"
	drop   = "The old text still has the line numbers of a windowed read: drop the number and the tab before each line."
	larger = " the old text is only a part of larger characters (a letter with its accent, an emoji of several parts, or a \\r\\n): " +
		"quote the whole of the first and the last character."
)

func TestNearest(t *testing.T) {
	code := "package p\n\nfunc handle(w Writer, r *Request) {\n\tif err := check(r); err != nil {\n\t\treturn\n\t}\n}\n"
	for _, tt := range []struct {
		name           string
		file, old, new string
		want           string
	}{
		{
			name: "says nothing where nothing is close",
			file: code, old: "SELECT name FROM users", new: "x",
		},
		{name: "says nothing of an empty file", file: "", old: "abc\n", new: "x"},
		{name: "says nothing of an empty old text", file: code, old: "", new: "x"},
		{name: "says nothing of white space", file: "a b", old: "\t\t", new: "x"},
		{name: "says nothing of invalid UTF-8", file: code, old: "fun\xff", new: "x"},
		{name: "says nothing of a letter", file: code, old: "Z", new: "y"},

		{name: "knows padded line numbers", file: "\tfoo()\n", old: "    12\t\tfoo()", new: "x", want: drop},
		{name: "knows line numbers", file: "a\nfoo\nbar\n", old: "2\tfoo\n3\tbar\n", new: "x", want: drop},
		{name: "knows line numbers from the second line on", file: "a\nfoo()\nbar\n", old: "oo()\n3\tbar", new: "x", want: drop},
		{
			name: "knows line numbers and line ends together", file: "a\r\nb\r\n", old: "1\ta\n2\tb", new: "x",
			want: drop + ` The old text is there but for its line ends: the file has \r\n, the old text has \n. ` +
				`Send \r\n (a whole read, without offset and limit, shows it).`,
		},
		{
			name: "takes numbers in a table for what they are", file: "12\tapple pie\n13\tbanana bread\n", old: "12\tappel pie\n", new: "x",
			want: "The most similar text is this. Line 1" + legend + "\n1: 12→apple·pie",
		},

		{
			name: "knows a mark where a line was cut", file: strings.Repeat("abc ", 2000), old: strings.Repeat("abc ", 1500) + "…", new: "x",
			want: "The … in the old text is a mark for where a long line was cut when it was shown: leave it out.",
		},
		{
			name: "knows that the file has CRLF", file: "a\r\nb\r\nc\r\n", old: "a\nb\n", new: "x",
			want: `The old text is there but for its line ends: the file has \r\n, the old text has \n. ` +
				`Send \r\n (a whole read, without offset and limit, shows it).`,
		},
		{
			name: "knows that the file has LF", file: "a\nb\nc\n", old: "a\r\nb\r\n", new: "x",
			want: `The old text is there but for its line ends: the file has \n, the old text has \r\n. Send \n.`,
		},
		{name: "knows a part of a letter", file: "x\nq\u0303\n", old: "q", new: "z", want: "On line 2" + larger},
		{name: "knows a part of a line end", file: "a\r\n", old: "a\r", new: "x", want: "On line 1" + larger},

		{
			name: "knows that the file has tabs", file: "\t\tx()\n", old: "        x()", new: "y",
			want: "The nearest text differs only in white space: the file has tabs, the old text has none. Line 1" + legend + "\n1: →→x()",
		},
		{
			name: "knows that the old text has tabs", file: "a\n    x()\n", old: "\tx()", new: "y",
			want: "The nearest text differs only in white space: the old text has tabs, the file has none here. Line 2" + legend + "\n2: ····x()",
		},
		{
			name: "shows spaces at the end", file: "foo();  \nbar();\n", old: "foo();\nbar();", new: "y",
			want: "The nearest text differs only in white space. Lines 1-2" + legend + "\n1: foo();··\n2: bar();",
		},
		{
			name: "shows a space that is none", file: "a\u00a0b\u200bc\n", old: "a bc", new: "y",
			want: "The nearest text differs only in white space. Line 1" + legend + "\n1: a<U+00A0>b<U+200B>c",
		},
		{
			name: "shows mixed line ends", file: "aa\r\nbb\ncc\r\n", old: "aa\nbb\r\ncc", new: "y",
			want: "The nearest text differs only in white space. Lines 1-3" + legend + "\n1: aa␍\n2: bb\n3: cc␍",
		},
		{
			name: "prefers whole lines", file: "if x() { y }\n\tx() {\n", old: "  x() {", new: "y",
			want: "The nearest text differs only in white space: the file has tabs, the old text has none. Line 2" + legend + "\n2: →x()·{",
		},
		{
			name: "shows six lines and counts the others", file: strings.Repeat("\tx\n", 9), old: strings.TrimSpace(strings.Repeat("  x\n", 9)), new: "y",
			want: "The nearest text differs only in white space: the file has tabs, the old text has none. Lines 1-9" + legend +
				"\n1: →x\n2: →x\n3: →x\n4: →x\n5: →x\n6: →x\n(and 3 more)",
		},
		{
			name: "knows other case", file: "a\nFunc Handle()\n", old: "func handle()", new: "x",
			want: "The nearest text differs only in upper and lower case. Line 2" + legend + "\n2: Func·Handle()",
		},
		{
			name: "knows other case beyond ASCII", file: "İ\nПривет мир\n", old: "ПРИВЕТ", new: "x",
			want: "The nearest text differs only in upper and lower case. Line 2" + legend + "\n2: Привет·мир",
		},

		{
			name: "knows that the edit was made", file: "y", old: "x", new: "y",
			want: "The new text is there already, on line 1: this edit may have been made before.",
		},
		{
			name: "says both", file: "a\n\t\tfoo()\n", old: "foo( )", new: "\t\tfoo()",
			want: "The new text is there already, on line 2: this edit may have been made before. " +
				"The nearest text differs only in white space: the file has tabs, the old text has none. Line 2" + legend + "\n2: →→foo()",
		},
		{name: "makes nothing of a short new text that is everywhere", file: "}\n}\n", old: "Z", new: "}"},
		{
			name: "knows a long new text that is everywhere", file: "listenOnPort(port)\nlistenOnPort(port)\n", old: "Z", new: "listenOnPort(port)",
			want: "The new text is there already, on line 1: this edit may have been made before.",
		},

		{
			name: "shows the most similar line", file: code, old: "func handle(w Writer, req *Request) {", new: "x",
			want: "The most similar text is this. Line 3" + legend + "\n3: func·handle(w·Writer,·r·*Request)·{",
		},
		{
			name: "shows the most similar lines", file: code, old: "  if err := check(req); err != nil {\n    return err\n  }", new: "x",
			want: "The most similar text is this. Lines 4-6" + legend + "\n4: →if·err·:=·check(r);·err·!=·nil·{\n5: →→return\n6: →}",
		},
		{
			name: "shows the first of equals", file: "alpha beta\nalpha beta\n", old: "alpha betta", new: "x",
			want: "The most similar text is this. Line 1" + legend + "\n1: alpha·beta",
		},
		{
			name: "cuts a long line around the place", file: strings.Repeat("中", 400) + "the quick brown fox" + strings.Repeat("ü", 500), old: "the quick brawn fox", new: "x",
			want: "The most similar text is this. Line 1" + legend + "\n1: …" + strings.Repeat("中", 14) +
				"the·quick·brown·fox" + strings.Repeat("ü", 167) + "…",
		},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			text := mustDecode(t, tt.file)
			if diff := cmp.Diff(tt.want, Nearest(text, tt.old, tt.new)); diff != "" {
				t.Error(diff)
			}
			if got := string(text.Encode()); got != tt.file {
				t.Errorf("the file became %q", got)
			}
		})
	}
}

// A large file is looked at around a line or a word that is there as it is, and else at its beginning.
func TestNearestInALargeFile(t *testing.T) {
	filler := strings.Repeat("some other line\n", mostLookedAt/12)
	file := filler + "\tfirst()\n\tsecond(x)\n\tthird()\n" + filler
	at := strings.Count(filler, "\n") + 1
	for _, tt := range []struct{ name, file, old, want string }{
		{
			"finds other white space beside a line that is the same", file, "    first()\n\tsecond(x)\n",
			fmt.Sprintf("The nearest text differs only in white space. Lines %d-%d%s\n%d: →first()\n%d: →second(x)", at, at+1, legend, at, at+1),
		},
		{
			"finds other case beside a line that is the same", file, "\tFirst()\n\tsecond(x)",
			fmt.Sprintf("The nearest text differs only in upper and lower case. Lines %d-%d%s\n%d: →first()\n%d: →second(x)", at, at+1, legend, at, at+1),
		},
		{
			"finds a similar text beside a line that is the same", file, "first(y)\nsecond(x)\nthird(y)\n",
			fmt.Sprintf("The most similar text is this. Lines %d-%d%s\n%d: →first()\n%d: →second(x)\n%d: →third()", at, at+2, legend, at, at+1, at+2),
		},
		{
			"finds other white space around a word that is the same", file, "second( x )",
			fmt.Sprintf("The nearest text differs only in white space: the file has tabs, the old text has none. Line %d%s\n%d: →second(x)", at+1, legend, at+1),
		},
		{"looks no further than a part where no word is the same", file, "\tse co nd (x)", ""},
		{"looks at the beginning then", "\tsecond(x)\n" + file, "\tse co nd (x)", "The nearest text differs only in white space. Line 1" + legend + "\n1: →second(x)"},
		{"finds line numbers anywhere", file, "7\tthird()\n", drop},
		{
			"takes a part of a line", strings.Repeat("中", mostLookedAt) + "right here" + strings.Repeat("中", mostLookedAt), "zz\nright here\nzz",
			"The most similar text is this. Line 1" + legend + "\n1: …" + strings.Repeat("中", 14) + "right·here" + strings.Repeat("中", 176) + "…",
		},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Nearest(mustDecode(t, tt.file), tt.old, "x")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A hint that names a remedy must be right about it: the edit works once the remedy is applied.
func TestNearestRemediesWork(t *testing.T) {
	for _, tt := range []struct{ name, file, old, remedied string }{
		{"line numbers", "a\nfoo\nbar\n", "2\tfoo\n3\tbar\n", "foo\nbar\n"},
		{"line ends", "a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n"},
		{"a cut", "abcdef", "abc…", "abc"},
		{"a part of a letter", "q\u0303", "q", "q\u0303"},
	} {
		t.Run("it is right about "+tt.name, func(t *testing.T) {
			text := mustDecode(t, tt.file)
			if _, _, err := Replace(t.Context(), text, tt.old, "new", false); err != ErrNotFound || Nearest(text, tt.old, "new") == "" {
				t.Errorf("the edit as sent: %v", err)
			}
			if _, _, err := Replace(t.Context(), text, tt.remedied, "new", false); err != nil {
				t.Errorf("the edit as advised: %v", err)
			}
		})
	}
}

// Texts made to be slow to look for; see TestReplaceTakesTimeInProportion.
func TestNearestTakesTimeInProportion(t *testing.T) {
	const size = 1 << 20
	for _, tt := range []struct{ name, unit, old string }{
		{"short lines", "\tif err := f.Close(); err != nil {\n", "\tif err := g.Open(); err == nil {\n"},
		{"one long line", "x, y; ", "y;  x,"},
		{"blank text", " \t\n", "nothing of the kind"},
		{"the same place over and over", "ab ", "a b a b a b"},
		{"an old text as long as the file", "abc\n", strings.Repeat("abd\n", size/4)},
	} {
		t.Run("it is quick with "+tt.name, func(t *testing.T) {
			text := mustDecode(t, strings.Repeat(tt.unit, size/len(tt.unit)))
			done := make(chan struct{})
			go func() {
				defer close(done)
				Nearest(text, tt.old, "something new")
			}()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatal("still not done after a minute")
			}
		})
	}
}

func FuzzNearest(f *testing.F) {
	f.Add("\t\tx()\r\n", "  12\tx()", "y")
	f.Add("q\u0303\n\ufeff", "q…", "q")
	f.Add("abc\n\n\ndef\n", "ABC\ndfe", "")
	f.Fuzz(func(t *testing.T, file, old, new string) {
		text, err := Decode([]byte(file))
		if err != nil {
			return
		}
		hint := Nearest(text, old, new)
		if hint != Nearest(text, old, new) {
			t.Error("two answers to one question")
		}
		if lines := strings.Count(hint, "\n"); lines > mostLines+1 || len(hint) > 1000+mostLines*(mostCharacters+50)*len("<U+10FFFF>") {
			t.Errorf("the hint has %d lines and %d bytes", lines, len(hint))
		}
	})
}

// BenchmarkNearest is the cost of the longest way: nothing but the search for a similar region answers.
func BenchmarkNearest(b *testing.B) {
	const size = 10 << 20
	line := "\tif err := f.Close(); err != nil {\n"
	text := mustDecode(b, strings.Repeat(line, size/len(line))+"func handle(w Writer, r *Request) {\n")
	b.Run("10MB", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if Nearest(text, "func handle(w Writer, req *Request) {", "x") == "" {
				b.Fatal("nothing similar was found")
			}
		}
	})
}
