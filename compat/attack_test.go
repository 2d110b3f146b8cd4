package compat

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestEditOfManyMatches edits files that have about as many matches as bytes. Were each match to cost a look at its whole
// line, the first would take minutes; were they listed, the others would take many times the file.
func TestEditOfManyMatches(t *testing.T) {
	const n = 1 << 18
	for _, test := range []struct {
		name, content, old, new string
		all                     bool
		want                    string // of the file; empty if it stays
		refused                 bool
	}{
		{"it breaks one long line at every match", strings.Repeat("x=1;", n), ";", ";\n", true, strings.Repeat("x=1;\n", n), false},
		{"it gives one long line the line end after it", strings.Repeat("x;", n) + "\r\n", ";", ";\n", true, strings.Repeat("x;\r\n", n) + "\r\n", false},
		{"it replaces every second letter", strings.Repeat("ab", n), "a", "c", true, strings.Repeat("cb", n), false},
		{"it matches across every line end", strings.Repeat("a\r\n", n), "a\n", "b\n", true, strings.Repeat("b\r\n", n), false},
		{"it counts what it refuses", strings.Repeat("ab", n), "a", "c", false, "", true},
		{"it stops where the result is too long", strings.Repeat("ab", n), "a", strings.Repeat("c", 1<<10), true, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, map[string]string{"f": test.content})
			s.works(s.call("read_file", args{"path": "f", "limit": 1}))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := s.call("edit_file", args{"path": "f", "old_string": test.old, "new_string": test.new, "replace_all": test.all})
			runtime.ReadMemStats(&after)
			if r.IsError != test.refused {
				t.Fatalf("got (error: %v) %.200s", r.IsError, r.Text)
			}
			want := test.want
			if want == "" {
				want = test.content
			}
			if s.content("f") != want {
				t.Error("the file is not what it should be")
			}
			most := uint64(12*(len(test.content)+len(want)) + 1<<20)
			if len(test.new) > 1<<9 {
				most += maxFile // The result is made until it is too long.
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > most {
				t.Errorf("it took %d bytes for a file of %d, want at most %d", got, len(test.content), most)
			}
		})
	}
}

// TestReplaceAgainstReference compares the edit of random texts with one that is made character by character.
func TestReplaceAgainstReference(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string, most int) string {
		var b strings.Builder
		for range random.IntN(most) {
			b.WriteString(from[random.IntN(len(from))])
		}
		return b.String()
	}
	pieces := []string{"a", "b", "\n", "\r\n", "\r", "'", "\u2018", "\u2019", `"`, "\u201c", "\u2014", "é"}
	replaced := 0
	for range 50_000 {
		text, old, new := pick(pieces, 12), pick(pieces[:10], 4), pick(pieces, 4)
		if old == "" {
			continue
		}
		d := document{text: []byte(text)}
		m := d.find(old)
		if err := d.replace(m, new); err != nil {
			t.Fatal(err)
		}
		if m.count > 0 {
			replaced++
		}
		if diff := cmp.Diff(slowReplace(text, old, new), string(d.text)); diff != "" {
			t.Fatalf("%q with %q for %q: %s", text, new, old, diff)
		}
	}
	if replaced < 5000 {
		t.Errorf("only %d texts had a match", replaced)
	}
}

// slowReplace is what replacing means: units are compared, and each knows the bytes that it stands for.
func slowReplace(text, old, new string) string {
	for _, straight := range []bool{false, true} {
		units, bare := unitsOf(text, straight), unitsOf(old, straight)
		var out strings.Builder
		found, done := false, 0 // done is the length of what is behind, in bytes of text
		for i := 0; i < len(units); {
			if i+len(bare) > len(units) || !sameUnits(units[i:i+len(bare)], bare) {
				out.WriteString(units[i].source)
				done += len(units[i].source)
				i++
				continue
			}
			out.WriteString(slowEnds(text, done, new))
			found = true
			for _, u := range units[i : i+len(bare)] {
				done += len(u.source)
			}
			i += len(bare)
		}
		if found {
			return out.String()
		}
	}
	return text
}

type unit struct{ is, source string }

func unitsOf(text string, straight bool) []unit {
	var units []unit
	for i := 0; i < len(text); {
		u := unit{text[i : i+1], text[i : i+1]}
		switch rest := text[i:]; {
		case strings.HasPrefix(rest, "\r\n"):
			u = unit{"\n", "\r\n"}
		case straight && (strings.HasPrefix(rest, "\u2018") || strings.HasPrefix(rest, "\u2019")):
			u = unit{"'", rest[:3]}
		case straight && (strings.HasPrefix(rest, "\u201c") || strings.HasPrefix(rest, "\u201d")):
			u = unit{`"`, rest[:3]}
		}
		units = append(units, u)
		i += len(u.source)
	}
	return units
}

func sameUnits(a, b []unit) bool {
	for i := range a {
		if a[i].is != b[i].is {
			return false
		}
	}
	return true
}

// slowEnds gives the new text the line ends that the text has at a place.
func slowEnds(text string, at int, new string) string {
	end := strings.LastIndexByte(text[:at], '\n')
	if end < 0 {
		end = strings.IndexByte(text, '\n')
	}
	unified := strings.ReplaceAll(new, "\r\n", "\n")
	switch {
	case end < 0 && strings.Contains(unified, "\n"):
		return new
	case end > 0 && text[end-1] == '\r':
		return string(bytes.ReplaceAll([]byte(unified), []byte("\n"), []byte("\r\n")))
	}
	return unified
}

func TestRefusalsEchoNoMoreThanAPiece(t *testing.T) {
	huge := strings.Repeat("é", 1<<20)
	for _, err := range []error{textNotFound(huge), textSeveral(2, huge)} {
		if n := len(err.Error()); n > maxEcho+1024 || !utf8.ValidString(err.Error()) {
			t.Errorf("a refusal has %d bytes", n)
		}
	}
	if got, want := textNotFound("a\nb").Error(), "String to replace not found in file.\nString: a\nb"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
