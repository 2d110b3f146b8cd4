package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
)

// decoded is all that a Text shows.
type decoded struct {
	Text, Encoded string
	HasBOM, Exact bool
}

func seen(t Text) decoded {
	return decoded{t.String(), string(t.Encode()), t.HasBOM(), t.Exact()}
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   string
		want decoded
	}{
		{"takes an empty file", "", decoded{"", "", false, true}},
		{"takes ASCII", "a\nb\n", decoded{"a\nb\n", "a\nb\n", false, true}},
		{"leaves line ends alone", "a\r\nb\rc\n", decoded{"a\r\nb\rc\n", "a\r\nb\rc\n", false, true}},
		{"hides the byte order mark and keeps it", "\ufeffa\n", decoded{"a\n", "\ufeffa\n", true, true}},
		{"takes a file of nothing but the mark", "\ufeff", decoded{"", "\ufeff", true, true}},
		{"hides one mark only", "\ufeff\ufeffa", decoded{"\ufeffa", "\ufeff\ufeffa", true, true}},
		{"leaves a mark inside the text alone", "a\ufeffb", decoded{"a\ufeffb", "a\ufeffb", false, true}},
		{"takes composed letters", "caf\u00e9", decoded{"caf\u00e9", "caf\u00e9", false, true}},
		{"composes and says so", "cafe\u0301!", decoded{"caf\u00e9!", "caf\u00e9!", false, false}},
		{"composes behind a mark", "\ufeffe\u0301", decoded{"\u00e9", "\ufeff\u00e9", true, false}},
		{"composes at a distance from the last change", "e\u0301 plain e\u0301\n", decoded{"\u00e9 plain \u00e9\n", "\u00e9 plain \u00e9\n", false, false}},
		{"takes an accent that composes with nothing", "q\u0303", decoded{"q\u0303", "q\u0303", false, true}},
		{"replaces a character that is never NFC", "\u212b", decoded{"\u00c5", "\u00c5", false, false}},
		{"composes Hangul", "\u1112\u1161\u11ab", decoded{"\ud55c", "\ud55c", false, false}},
		{"puts accents in canonical order", "q\u0301\u0323", decoded{"q\u0323\u0301", "q\u0323\u0301", false, false}},
		{"keeps the replacement character", "\ufffd", decoded{"\ufffd", "\ufffd", false, true}},
		{
			"takes a NUL after the first 8192 bytes", strings.Repeat("x", binaryHead) + "\x00",
			decoded{strings.Repeat("x", binaryHead) + "\x00", strings.Repeat("x", binaryHead) + "\x00", false, true},
		},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			text, err := Decode([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, seen(text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
	}{
		{"a NUL", "ab\x00", "not UTF-8 text: there is a NUL byte at offset 2"},
		{"a NUL as the last byte of the head", strings.Repeat("x", binaryHead-1) + "\x00", "not UTF-8 text: there is a NUL byte at offset 8191"},
		{"little-endian UTF-16", "\xff\xfea\x00", "not UTF-8 text: it starts with the byte order mark of UTF-16"},
		{"big-endian UTF-16", "\xfe\xff\x00a", "not UTF-8 text: it starts with the byte order mark of UTF-16"},
		{"GBK", "x=1\n\xd6\xd0\n", "not UTF-8 text: there is an invalid byte at offset 4"},
		{"Shift JIS", "\x93\xfa=1\n", "not UTF-8 text: there is an invalid byte at offset 0"},
		{"invalid bytes far into the file", strings.Repeat("é", 50_000) + "\xff", "not UTF-8 text: there is an invalid byte at offset 100000"},
		{"a character cut short at the end", "a\xe4\xb8", "not UTF-8 text: there is an invalid byte at offset 1"},
		{"a surrogate", "\xed\xa0\x80", "not UTF-8 text: there is an invalid byte at offset 0"},
		{"an overlong form", "\xc0\xaf", "not UTF-8 text: there is an invalid byte at offset 0"},
	} {
		t.Run("it refuses "+tt.name, func(t *testing.T) {
			text, err := Decode([]byte(tt.in))
			if !errors.Is(err, ErrNotText) || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if diff := cmp.Diff(seen(Text{}), seen(text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeDoesNotCopyNFC(t *testing.T) {
	for _, s := range []string{"plain\n", "\ufeffcaf\u00e9 \u4e2d\u6587 \U0001f469\u200d\U0001f4bb\n", "q\u0303"} {
		b := []byte(s)
		text, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if &text.Encode()[0] != &b[0] {
			t.Errorf("%q was copied", s)
		}
	}
}

func TestDecodeComposesLongTexts(t *testing.T) {
	for _, s := range []string{"e\u0301 and ", "\u4e2de\u0301", "e\u0301", "\u1112\u1161\u11ab", "plain text with one e\u0301\n" + strings.Repeat("x", 2*batch)} {
		in := strings.Repeat(s, 1+10*batch/len(s))
		if got := mustDecode(t, in); got.String() != norm.NFC.String(in) || got.Exact() {
			t.Errorf("%+q, repeated, is not composed", s)
		}
	}
}

// A norm.Form inserts U+034F into a long run of combining characters. A file with such a run is NFC, and stays so.
func TestDecodeInsertsNothingIntoStackedAccents(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
	}{
		{"which compose with nothing", "x" + strings.Repeat("\u0310", 100) + "y", "x" + strings.Repeat("\u0310", 100) + "y"},
		{"of which the first composes", "e" + strings.Repeat("\u0301", 100) + "y", "\u00e9" + strings.Repeat("\u0301", 99) + "y"},
		{
			"in the wrong order", "e" + strings.Repeat("\u0301", 50) + strings.Repeat("\u0323", 50),
			"\u1eb9" + strings.Repeat("\u0323", 49) + strings.Repeat("\u0301", 50),
		},
	} {
		t.Run("it keeps a run "+tt.name, func(t *testing.T) {
			text, err := Decode([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			want := decoded{tt.want, tt.want, false, tt.in == tt.want}
			if diff := cmp.Diff(want, seen(text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The composition of long segments must be that of the norm package wherever that does not insert.
func TestAppendComposedAgreesWithNorm(t *testing.T) {
	for name, s := range randomTexts(4000, 6) {
		t.Run(name, func(t *testing.T) {
			want := norm.NFC.String(s)
			if strings.Contains(want, norm.GraphemeJoiner) {
				return
			}
			var got []byte
			for b := []byte(s); len(b) > 0; {
				n, _ := segment(b)
				got = appendComposed(got, ordered(b[:n]))
				b = b[n:]
			}
			if string(got) != want {
				t.Errorf("got %+q, want %+q", got, want)
			}
		})
	}
}

// What isPlain says of a first byte must hold for every character with it.
func TestIsPlain(t *testing.T) {
	plain := 0
	for r := rune(0); r <= utf8.MaxRune; r++ {
		s := string(r)
		if !utf8.ValidRune(r) || !isPlain(s[0]) {
			continue
		}
		plain++
		if !norm.NFC.PropertiesString(s).BoundaryBefore() || norm.NFC.QuickSpanString(s) != len(s) {
			t.Errorf("%U is not plain", r)
		}
	}
	if plain < 30_000 {
		t.Errorf("%d characters are plain", plain)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"", "a\r\n", "\ufeffe\u0301", "\xff\xfea\x00", "x\x00", "\u212b\u1112\u1161\u11ab", "q\u0301\u0323", "\xd6\xd0",
		"\u0f73\u0344\u0958", "e" + strings.Repeat("\u0301", 40), "\u09c7\u09be\u0b47\u0b57",
	} {
		f.Add([]byte(s))
	}
	for _, s := range randomTexts(200, 12) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := Decode(bytes.Clone(b))
		isText := utf8.Valid(b) && bytes.IndexByte(b[:min(len(b), binaryHead)], 0) < 0
		if isText != (err == nil) || err != nil && !errors.Is(err, ErrNotText) {
			t.Fatalf("Decode(%+q): %v", b, err)
		}
		if err != nil {
			return
		}
		if text.Exact() != bytes.Equal(text.Encode(), b) {
			t.Errorf("Exact is %v for %+q, encoded as %+q", text.Exact(), b, text.Encode())
		}
		body, hasBOM := strings.CutPrefix(string(b), "\ufeff")
		if want := norm.NFC.String(body); !strings.Contains(want, norm.GraphemeJoiner) && text.String() != want {
			t.Errorf("got %+q, want %+q", text.String(), want)
		}
		if text.HasBOM() != hasBOM {
			t.Errorf("%+q became %+q", b, text.Encode())
		}
		again, err := Decode([]byte(text.Encode()))
		if err != nil || !again.Exact() || !bytes.Equal(again.Encode(), text.Encode()) {
			t.Errorf("the text of %+q is not NFC: %+q, %v", b, text.Encode(), err)
		}
	})
}

// BenchmarkDecode compares decoding a megabyte with utf8.Valid alone, which no decoder can do without.
func BenchmarkDecode(b *testing.B) {
	const size = 1 << 20
	for _, kind := range []struct{ name, line string }{
		{"ASCII", "\tif err := f.Close(); err != nil {\n"},
		{"Latin", "une ligne française, déjà composée, à lire\n"},
		{"Chinese", "文件必须先读取然后才能修改。\n"},
		{"decomposed", "une ligne de\u0301compose\u0301e\n"},
		{"accents", "e\u0301a\u0300o\u0302u\u0308"},
		{"Vietnamese", "Tie\u0302\u0301ng Vie\u0323\u0302t du\u031bo\u031b\u0323c vie\u0302\u0301t\n"},
		{"Hangul", "\u1112\u1161\u11ab\u1100\u1173\u11af \u1112\u1161\u11ab\n"},
		{"voiced", "\u304b\u3099\u30cf\u309a\u30ab\u3099"},
	} {
		file := []byte(strings.Repeat(kind.line, size/len(kind.line)))
		b.Run(kind.name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(file); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(kind.name+"/valid", func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				utf8.Valid(file)
			}
		})
	}
}

// Every character that normalisation touches, beside every other kind of one, as far as chance brings them together. No
// text is long enough for the U+034F that norm puts into long segments.
func TestNormalizeAgreesWithNorm(t *testing.T) {
	var touched []rune
	for r := rune(0); r <= unicode.MaxRune; r++ {
		p := norm.NFC.PropertiesString(string(r))
		if utf8.ValidRune(r) && (p.CCC() != 0 || !p.BoundaryBefore() || len(p.Decomposition()) > 0 || isHangul(r)) {
			touched = append(touched, r)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 30_000 {
		var b []byte
		for range 1 + random.IntN(8) {
			b = utf8.AppendRune(b, touched[random.IntN(len(touched))])
			if random.IntN(3) == 0 {
				b = append(b, alphabet[random.IntN(len(alphabet))]...)
			}
		}
		want := norm.NFC.Bytes(b)
		if got, changed := normalize(b); !bytes.Equal(got, want) || changed == bytes.Equal(b, want) {
			t.Fatalf("%+q: got %+q (changed: %v), want %+q", b, got, changed, want)
		}
		b = append(append(b, '\n'), b...) // What it has composed before it finds again.
		want = append(append(want, '\n'), want...)
		if got, _ := normalize(b); !bytes.Equal(got, want) {
			t.Fatalf("%+q twice: got %+q", b, got)
		}
	}
}

func isHangul(r rune) bool { return 0xAC00 <= r && r <= 0xD7A3 && (r%7 == 0 || r < 0xAC40) }

// alphabet holds characters that compose, reorder, join and break in every way that there is.
var alphabet = []string{
	"a", "e", "X", "q", " ", "\t", "\n", "\r", "\r\n", "\u00e9", "\u0301", "\u0303", "\u0323", "\u0327", "\u0315", "\u034f",
	"\u00c5", "\u1112", "\u1161", "\u11ab", "\ud558", "\ud55c", "\u0915", "\u094d", "\u0937", "\u093f", "\u09c7", "\u09be",
	"\u0600", "\u200d", "\u200c", "\ufe0f", "\U0001f469", "\U0001f4bb", "\u2764", "\U0001f3fd", "\U0001f1e9", "\U0001f1ea",
	"\u4e2d", "\u304b", "\u3099", "\u0f71", "\u0f72", "\u0f73", "\u0344", "\u2028", "\ufeff", "\u0378", "\u0e33", "\u0000",
}

// randomTexts yields n texts of up to length characters of the alphabet, the same ones each time.
func randomTexts(n, length int) func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range n {
			if !yield(fmt.Sprint(i), randomText(r, length)) {
				return
			}
		}
	}
}

func randomText(r *rand.Rand, length int) string {
	letters := alphabet
	if r.IntN(2) == 0 { // a few letters only, so that they meet often
		i := r.IntN(len(alphabet) - 4)
		letters = alphabet[i : i+4]
	}
	var b strings.Builder
	for range r.IntN(length + 1) {
		b.WriteString(letters[r.IntN(len(letters))])
	}
	return b.String()
}
