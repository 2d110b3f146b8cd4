package toolkit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzScan holds the scanner to the standard decoder: what one takes the other takes, with the same strings, save for
// what is refused on purpose.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"path":"a","n":-1.5e+3,"l":[true,false,null,{}]}`, `[]`, `"\ud83d\ude00"`, `"\ud800"`, `{"a":1,"a":2}`,
		`{"a":"0123456789abcde\n0123456789abcdef\"é"}`, `-0`, `01`, `1.`, `1e`, `tru`, `nullx`, `{"a"}`, `[1,]`, `{,}`, "\"\x7f\"",
		"\"\x1f\"", `"\x"`, `"\u12g4"`, strings.Repeat("[", 101), ``, ` `, `{"a":{"b":[{"c":"\\\""}]}} `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		s := scanner{src: src}
		v, err := s.value(1, true)
		if err == nil {
			if s.peek(); s.pos < len(src) {
				err = s.fault("more")
			}
		}
		valid := json.Valid(src)
		if err == nil && !valid {
			t.Fatalf("%q was taken, and is not JSON", src)
		}
		if err != nil {
			if valid && !refusedOnPurpose(src) {
				t.Fatalf("%q was refused: %v", src, err)
			}
			return
		}
		var want any
		if err := json.Unmarshal(src, &want); err == nil && v.kind == kindString && v.text != want {
			t.Fatalf("%q is read as %q, want %q", src, v.text, want)
		}
	})
}

// refusedOnPurpose reports whether src may be JSON and refused all the same. Whether an escape is a lone surrogate is
// seen by what the standard decoder puts in its place.
func refusedOnPurpose(src []byte) bool {
	if !utf8.Valid(src) || bytes.Count(src, []byte("["))+bytes.Count(src, []byte("{")) > maxDepth {
		return true
	}
	var v any
	_ = json.Unmarshal(src, &v)
	return strings.Contains(fmt.Sprint(v), "\ufffd")
}

// FuzzCall looks for a text that makes a call panic, or that is answered with anything but one line.
func FuzzCall(f *testing.F) {
	for _, seed := range []string{
		`{"path":"a","old-string":"\u0000","limit":1e5}`, `{"_expected-revisions":{"path":"x"}}`, `{"file_path":1}`,
		`{"limit":1e-99999999999999999999,"path":""}`, `{"limit":"-"}`, `{"\u2028":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, _ := edit(t)
		if r := e.Call(t.Context(), raw); strings.ContainsAny(r.Text, "\n\r\u2028") || !utf8.ValidString(r.Text) {
			t.Fatalf("%q is answered with %q", raw, r.Text)
		}
	})
}

// A string's bytes are looked at eight at a time, so every length, place and neighbour is tried.
func TestPlainStopsAtTheFirstByteThatIsNot(t *testing.T) {
	for size := range 20 {
		for at := range size {
			for c := range 256 {
				b := bytes.Repeat([]byte("a"), size)
				b[at] = byte(c)
				want := size
				if c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
					want = at
				}
				if got := plain(b); got != want {
					t.Fatalf("plain(%q) = %d, want %d", b, got, want)
				}
			}
		}
	}
}

// The content of a file comes as one string, so a second copy would be felt.
func TestStringsAreCopiedOnce(t *testing.T) {
	for _, line := range []string{"plain text ", `escaped\n\"\\`, `\u00e9`, "é漢字", `é\t`} {
		src := []byte(`"` + strings.Repeat(line, 10_000) + `"`)
		allocations := testing.AllocsPerRun(10, func() {
			s := scanner{src: src}
			if _, err := s.str(true); err != nil {
				t.Fatal(err)
			}
		})
		if allocations != 1 {
			t.Errorf("a string of %q is allocated %v times, want once", line, allocations)
		}
	}
}

func TestDistance(t *testing.T) {
	cases := []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"path", "path", 0},
		{"pth", "path", 1},
		{"patch", "path", 1},
		{"bath", "path", 1},
		{"paht", "path", 1},
		{"apth", "path", 1},
		{"ptha", "path", 2},
		{"limit", "glob", 5},
		{"kitten", "sitting", 3},
	}
	for _, c := range cases {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// BenchmarkCall measures the way from the bytes of a call's arguments to its handler and back, and not the transport.
// The large ones hold a content of 16 MiB: as source text with an escape a line, and without escapes.
func BenchmarkCall(b *testing.B) {
	const size = 16 << 20
	line := strings.Repeat("x", 39)
	contents := []struct{ name, content string }{
		{"small", "abc"},
		{"source", strings.Repeat(line+`\n`, size/41)},
		{"plain", strings.Repeat(line+" ", size/40)},
		{"kanji", strings.Repeat("漢字", size/6)},
	}
	for _, c := range contents {
		b.Run(c.name, func(b *testing.B) {
			write := &Tool{
				Name:   "write",
				Params: []Param{{Name: "path", Type: "string"}, {Name: "content", Type: "string"}},
				Handle: func(context.Context, *Args) (*Answer, error) { return &Answer{}, nil },
			}
			raw := json.RawMessage(`{"path":"notes/todo.md","content":"` + c.content + `"}`)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if r := write.Call(b.Context(), raw); r.IsError {
					b.Fatal(r.Text)
				}
			}
		})
	}
}
