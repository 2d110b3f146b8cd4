package console

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"lookfirst/harness"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       []string
		fails      string // a part of the sentence
	}{
		{name: "takes words", line: " a  b\tc ", want: []string{"a", "b", "c"}},
		{name: "takes nothing", line: "  "},
		{name: "takes what is in single quotes as it is", line: `'a\n "b"' ''`, want: []string{`a\n "b"`, ""}},
		{name: "takes escapes in double quotes", line: `"a\n\t\r\"\\b"`, want: []string{"a\n\t\r\"\\b"}},
		{name: "leaves other backslashes in double quotes", line: `"\d+\."`, want: []string{`\d+\.`}},
		{name: "takes what a backslash protects", line: `a\ b \'c \\ \é`, want: []string{"a b", "'c", `\`, "é"}},
		{name: "joins what stands side by side", line: `a'b c'"d"\ e`, want: []string{"ab cd e"}},
		{name: "takes quotes within a flag", line: `--path="my dir" x`, want: []string{"--path=my dir", "x"}},
		{name: "refuses an open single quote", line: `a 'b`, want: []string{"a", "b"}, fails: "put another '"},
		{name: "refuses an open double quote", line: `a "b\"`, want: []string{"a", `b"`}, fails: `put another "`},
		{name: "refuses a backslash at the end", line: `a b\`, want: []string{"a", "b"}, fails: `write \\`},
		{name: "refuses a heredoc without a word", line: "a <<", want: []string{"a", ""}, fails: "<<EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			words, err := split(c.line)
			var got []string
			for _, w := range words {
				got = append(got, w.text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("the error is %v, want one with %q", err, c.fails)
			}
		})
	}
}

func TestSplitTellsFlagsAndHeredocs(t *testing.T) {
	words, err := split(`a '--b' <<E '<<F' \<<G`)
	want := []word{
		{text: "a", start: 0, end: 1},
		{text: "--b", start: 2, end: 7, quoted: true},
		{text: "E", start: 8, end: 11, heredoc: true},
		{text: "<<F", start: 12, end: 17, quoted: true},
		{text: "<<G", start: 18, end: 22, quoted: true},
	}
	if diff := cmp.Diff(want, words, cmp.AllowUnexported(word{})); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// anyTool is a tool with a parameter of every kind.
func anyTool() tool {
	return newTool(harness.Tool{Name: "any", Schema: json.RawMessage(`{"properties":{
		"opt":{"type":["null","integer"]},"text-a":{"type":"string","description":"A text."},"flag":{"type":"boolean"},
		"ratio":{"type":"number"},"list":{"type":"array"},"free":{}},"required":["text-a"]}`)})
}

func TestArguments(t *testing.T) {
	for _, c := range []struct{ name, line, want, fails string }{
		{name: "gives what is required its word first", line: "x 1", want: `{"opt":1,"text-a":"x"}`},
		{name: "keeps texts texts", line: "1 2 -3.5 true", want: `{"opt":2,"text-a":"1","ratio":-3.5,"free":"true"}`},
		{name: "takes flags", line: "--flag x --list='[1, 2]'", want: `{"text-a":"x","flag":true,"list":[1, 2]}`},
		{name: "takes the negation of a flag", line: "x --no-flag", want: `{"text-a":"x","flag":false}`},
		{name: "takes the value of a flag", line: "x --flag=false", want: `{"text-a":"x","flag":false}`},
		{name: "takes no word for a flag", line: "--flag true", want: `{"text-a":"true","flag":true}`},
		{name: "takes either spelling", line: "--text_a x", want: `{"text-a":"x"}`},
		{name: "takes a value that is like a flag", line: "--text-a=--flag", want: `{"text-a":"--flag"}`},
		{name: "takes a value in quotes that is like a flag", line: "--text-a '--flag'", want: `{"text-a":"--flag"}`},
		{name: "takes everything behind two dashes", line: "-- --flag", want: `{"text-a":"--flag"}`},
		{name: "takes an empty text", line: "''", want: `{"text-a":""}`},
		{name: "takes nothing", line: "", want: `{}`},
		{name: "refuses a number that is none", line: "x --ratio=0x10", fails: "--ratio is '0x10' and must be a number"},
		{name: "refuses an infinite one", line: "x --ratio=Inf", fails: "--ratio is 'Inf' and must be a number"},
		{name: "refuses a number with a sign that JSON has not", line: "x +1", fails: "--opt is '+1' and must be a whole number"},
		{name: "refuses another value of a flag", line: "x --flag=yes", fails: "--flag is 'yes' and must be true or false"},
		{name: "refuses a list that is none", line: "x --list=[1", fails: "--list is '[1' and must be JSON, in single quotes"},
		{name: "refuses a flag at the end", line: "x --ratio", fails: "--ratio needs a value; write --ratio=VALUE"},
		{name: "refuses a negation of what is no flag", line: "x --no-ratio", fails: "any takes no --no-ratio; did you mean --ratio?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			words, err := split(c.line)
			if err != nil {
				t.Fatal(err)
			}
			about := anyTool()
			got, err := about.arguments("any", words)
			if string(got) != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("the error is %v, want one with %q", err, c.fails)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	about := anyTool()
	if got, want := about.usage("any"), "any TEXT-A [OPT] [RATIO] [FREE] [--flag] --list=JSON"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	broken := newTool(harness.Tool{Name: "broken", Schema: json.RawMessage(`{"properties":[1]}`)})
	if got, want := broken.usage("broken"), "broken"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestVisible(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"leaves text", "a\tb\nc é", "a\tb\nc é"},
		{"shows escapes", "\x1b[2J\x00\x7f", `\x1b[2J\x00\x7f`},
		{"shows those of two bytes", "\u0080\u009b\u00a0", "\\u0080\\u009b\u00a0"},
		{"shows bytes that are no text", "a\x9bb", `a\x9bb`},
		{"shows what turns the direction of the text", "a\u202eb\u2066c\u200f", "a\\u202eb\\u2066c\u200f"},
		{"leaves the character that stands for them", "\ufffd\x01", "\ufffd\\x01"},
		{"shows a return that is no line end", "a\rb\r\nc\r", "a\\x0db\nc\\x0d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := visible(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzLine(f *testing.F) {
	for _, line := range []string{`a 'b c' "d\n" e\ f`, `--x=1 --no-flag -- y`, `x <<EOF`, `"`, `\`, `--flag --list=[1]`, "\x1b\u009b\r\n"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := split(line)
		for i, w := range words {
			if w.start >= w.end || w.end > len(line) || i > 0 && w.start <= words[i-1].end-1 {
				t.Fatalf("word %d of %q is at %d to %d", i, line, w.start, w.end)
			}
		}
		about := anyTool()
		if err == nil && utf8.ValidString(line) {
			raw, err := about.arguments("any", words)
			if err == nil && !json.Valid(raw) {
				t.Errorf("%q makes %s", line, raw)
			}
		}
		again, err := split(quote(line))
		if err != nil || len(again) != 1 || again[0].text != line || again[0].heredoc {
			t.Errorf("%q is quoted as %q, which is %v (%v)", line, quote(line), again, err)
		}
		for _, r := range visible(line) {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Errorf("%q shows %q", line, r)
			}
		}
	})
}
