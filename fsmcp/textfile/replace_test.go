package textfile

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// mustDecode makes a Text of a file that is one.
func mustDecode(t testing.TB, file string) Text {
	t.Helper()
	text, err := Decode([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// replaced is the outcome of an edit.
type replaced struct {
	File  string // what would be stored
	Count int
	Err   string
}

func replace(text Text, old, new string, all bool) replaced {
	out, n, err := Replace(context.Background(), text, old, new, all)
	got := replaced{File: string(out.Encode()), Count: n}
	if err != nil {
		got.Err = err.Error()
	}
	return got
}

const (
	deRI, esRI  = "\U0001f1e9", "\U0001f1ea" // regional indicators
	woman       = "\U0001f469"
	laptop      = "\U0001f4bb"
	joiner      = "\u200d"
	acute       = "\u0301"
	tilde       = "\u0303" // composes with n and a, not with q
	programmer  = woman + joiner + laptop
	virama, kaD = "\u094d", "\u0915"
)

func TestReplace(t *testing.T) {
	for _, tt := range []struct {
		name           string
		file, old, new string
		all            bool
		want           replaced
	}{
		{name: "replaces the one match", file: "my $port = 8080;\n", old: "8080", new: "9090", want: replaced{"my $port = 9090;\n", 1, ""}},
		{name: "replaces all", file: "$port $port $port", old: "$port", new: "$listen-port", all: true, want: replaced{"$listen-port $listen-port $listen-port", 3, ""}},
		{name: "takes $ and backslash literally", file: "a.b", old: ".", new: `$0\1$&\\n`, want: replaced{`a$0\1$&\\nb`, 1, ""}},
		{name: "repairs no backslash n", file: `x\ny`, old: `\n`, new: `\t`, want: replaced{`x\ty`, 1, ""}},
		{name: "deletes", file: "abc", old: "b", new: "", want: replaced{"ac", 1, ""}},
		{name: "deletes everything", file: "abc", old: "abc", new: "", want: replaced{"", 1, ""}},
		{name: "deletes everything but the mark", file: "\ufeffabc", old: "abc", new: "", want: replaced{"\ufeff", 1, ""}},
		{name: "adds a final newline", file: "a", old: "a", new: "a\n", want: replaced{"a\n", 1, ""}},
		{name: "removes a final newline", file: "a\n", old: "a\n", new: "a", want: replaced{"a", 1, ""}},
		{name: "matches the first line behind a mark", file: "\ufeffa=1\nb=2\n", old: "a=1\n", new: "a=3\n", want: replaced{"\ufeffa=3\nb=2\n", 1, ""}},
		{name: "edits a mark inside the text", file: "\ufeff\ufeffa", old: "\ufeffa", new: "b", want: replaced{"\ufeffb", 1, ""}},
		{name: "does not match the mark", file: "\ufeffa", old: "\ufeff", new: "b", want: replaced{Err: "the old text is not in the file"}},
		{name: "keeps a last character whole", file: "x", old: "x", new: "\u4e2d", want: replaced{"\u4e2d", 1, ""}},

		{name: "keeps CRLF elsewhere", file: "a\r\nb\r\nc\r\n", old: "b", new: "d", want: replaced{"a\r\nd\r\nc\r\n", 1, ""}},
		{name: "writes the line ends it was given", file: "a\r\nb\r\n", old: "b", new: "c\nd", want: replaced{"a\r\nc\nd\r\n", 1, ""}},
		{name: "matches CRLF", file: "a\r\nb\r\n", old: "a\r\nb", new: "c", want: replaced{"c\r\n", 1, ""}},
		{name: "turns CRLF into LF", file: "a\r\nb\r\n", old: "\r\n", new: "\n", all: true, want: replaced{"a\nb\n", 2, ""}},
		{name: "turns LF into CRLF", file: "a\nb\n", old: "\n", new: "\r\n", all: true, want: replaced{"a\r\nb\r\n", 2, ""}},
		{name: "does not match the \\n of CRLF", file: "a\r\nb\r\n", old: "\nb", new: "c", want: replaced{Err: "the old text is not in the file"}},
		{name: "does not match the \\r of CRLF", file: "a\r\nb\r\n", old: "a\r", new: "c", want: replaced{Err: "the old text is not in the file"}},
		{name: "matches the bare \\n beside CRLF", file: "a\r\nb\nc", old: "\n", new: ";", want: replaced{"a\r\nb;c", 1, ""}},
		{name: "does not blur white space", file: "\tif a:\n", old: "  if a:", new: "  if b:", want: replaced{Err: "the old text is not in the file"}},
		{name: "does not blur quotation marks", file: "it\u2019s", old: "it's", new: "it is", want: replaced{Err: "the old text is not in the file"}},
		{name: "straightens quotation marks", file: "it\u2019s", old: "it\u2019s", new: "it's", want: replaced{"it's", 1, ""}},

		{name: "counts without overlap", file: "aaa", old: "aa", new: "b", want: replaced{"ba", 1, ""}},
		{name: "counts all without overlap", file: "aaaaa", old: "aa", new: "b", all: true, want: replaced{"bba", 2, ""}},
		{name: "does not search what it put in", file: "\ta\n a\n", old: "a", new: "aa", all: true, want: replaced{"\taa\n aa\n", 2, ""}},
		{name: "refuses several", file: "a a a", old: "a", new: "b", want: replaced{Err: "the old text is in the file 3 times"}},
		{name: "refuses none", file: "a", old: "b", new: "c", want: replaced{Err: "the old text is not in the file"}},
		{name: "refuses none where the new text is", file: "y", old: "x", new: "y", want: replaced{Err: "the old text is not in the file"}},
		{name: "refuses none in an empty file", file: "", old: "x", new: "y", all: true, want: replaced{Err: "the old text is not in the file"}},
		{name: "refuses an empty old text", file: "abc", old: "", new: "-", all: true, want: replaced{Err: "the old text is empty"}},
		{name: "refuses an edit of nothing", file: "a", old: "a", new: "a", want: replaced{Err: "the old and the new text are the same"}},
		{name: "refuses an edit of form only", file: "\u00e9", old: "e" + acute, new: "\u00e9", want: replaced{Err: "the old and the new text are the same"}},
		{name: "refuses an old text that is not UTF-8", file: "a", old: "a\xff", new: "b", want: replaced{Err: "the old or the new text is not valid UTF-8"}},
		{name: "refuses a new text that is not UTF-8", file: "a", old: "a", new: "\xe4\xb8", want: replaced{Err: "the old or the new text is not valid UTF-8"}},

		{name: "matches a composed file with a decomposed old text", file: "caf\u00e9", old: "e" + acute, new: "e", want: replaced{"cafe", 1, ""}},
		{name: "puts in composed text", file: "cafX", old: "X", new: "e" + acute, want: replaced{"caf\u00e9", 1, ""}},
		{name: "refuses a decomposed file", file: "e" + acute, old: "\u00e9", new: "e", want: replaced{Err: "the file is not in normalisation form NFC"}},
		{name: "refuses a decomposed file for an edit far from it", file: "e" + acute + "\nabc", old: "b", new: "d", want: replaced{Err: "the file is not in normalisation form NFC"}},
		{name: "does not match a letter whose accent follows", file: "q" + tilde, old: "q", new: "x", want: replaced{Err: "the old text is not in the file"}},
		{name: "does not match an accent of a letter", file: "q" + tilde, old: tilde, new: "", want: replaced{Err: "the old text is not in the file"}},
		{name: "matches the letter beside one with an accent", file: "q" + tilde + "q", old: "q", new: "x", want: replaced{"q" + tilde + "x", 1, ""}},
		{name: "matches a letter with its accent", file: "q" + tilde, old: "q" + tilde, new: "x", want: replaced{"x", 1, ""}},
		{name: "does not match a part of an emoji", file: programmer, old: woman, new: "x", want: replaced{Err: "the old text is not in the file"}},
		{name: "does not match the joined part of an emoji", file: programmer, old: laptop, new: "x", want: replaced{Err: "the old text is not in the file"}},
		{name: "matches an emoji", file: programmer + woman, old: woman, new: "x", want: replaced{programmer + "x", 1, ""}},
		{name: "does not match across two flags", file: deRI + esRI + deRI + esRI, old: esRI + deRI, new: "", want: replaced{Err: "the old text is not in the file"}},
		{name: "matches one of two flags", file: esRI + deRI + deRI + esRI, old: deRI + esRI, new: "x", want: replaced{esRI + deRI + "x", 1, ""}},
		{name: "does not match a letter before a vowel sign", file: kaD + "\u093f", old: kaD, new: "x", want: replaced{Err: "the old text is not in the file"}},
		{name: "matches behind a virama", file: kaD + virama + "x", old: "x", new: "y", want: replaced{kaD + virama + "y", 1, ""}},

		{name: "refuses an accent for the letter after a", file: "aX", old: "X", new: acute, want: replaced{Err: "the new text would join the text beside it"}},
		{name: "puts the accent on a when asked for a", file: "aX", old: "aX", new: "a" + acute, want: replaced{"\u00e1", 1, ""}},
		{name: "refuses to delete what keeps jamo apart", file: "\u1112X\u1161", old: "X", new: "", want: replaced{Err: "the new text would join the text beside it"}},
		{name: "refuses a letter before an accent that stands alone", file: "\n" + acute, old: "\n", new: "e", want: replaced{Err: "the new text would join the text beside it"}},
		{name: "refuses an accent in the wrong order", file: "q" + tilde + "X", old: "X", new: "\u0323", want: replaced{Err: "the new text would join the text beside it"}},
		{name: "refuses an accent that composes with nothing", file: "qX", old: "X", new: tilde, want: replaced{Err: "the new text would join the text beside it"}},
		{name: "refuses to delete what keeps \\r and \\n apart", file: "a\rX\n", old: "X", new: "", want: replaced{Err: "the new text would join the text beside it"}},
		{name: "joins \\r and \\n when both are quoted", file: "a\rX\n", old: "\rX\n", new: "\r\n", want: replaced{"a\r\n", 1, ""}},
		{name: "refuses to delete what keeps flags apart", file: deRI + "X" + esRI, old: "X", new: "", want: replaced{Err: "the new text would join the text beside it"}},
		{name: "refuses half a flag before a flag", file: "X" + deRI + esRI, old: "X", new: deRI, want: replaced{Err: "the new text would join the text beside it"}},
		{name: "puts a flag before a flag", file: "X" + deRI + esRI, old: "X", new: deRI + esRI, want: replaced{deRI + esRI + deRI + esRI, 1, ""}},
		{name: "refuses to join at the last of several", file: "bX aX", old: "X", new: acute, all: true, want: replaced{Err: "the new text would join the text beside it"}},
		{name: "lets matches side by side be one flag", file: "XX.", old: "X", new: deRI, all: true, want: replaced{deRI + deRI + ".", 2, ""}},
		{name: "refuses matches side by side that compose", file: "XX.", old: "X", new: "\u09be\u09c7", all: true, want: replaced{Err: "the new text would join the text beside it"}},
		{name: "keeps a joiner with the emoji it is put behind", file: woman + "X", old: "X", new: joiner, want: replaced{Err: "the new text would join the text beside it"}},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			text := mustDecode(t, tt.file)
			before := string(text.Encode())
			if diff := cmp.Diff(tt.want, replace(text, tt.old, tt.new, tt.all)); diff != "" {
				t.Error(diff)
			}
			if string(text.Encode()) != before {
				t.Error("the old text changed")
			}
		})
	}
}

func TestReplaceKeepsTheMark(t *testing.T) {
	out, _, err := Replace(t.Context(), mustDecode(t, "\ufeffa\r\n"), "a", "b", false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decoded{"b\r\n", "\ufeffb\r\n", true, true}, seen(out)); diff != "" {
		t.Error(diff)
	}
}

func TestReplaceErrors(t *testing.T) {
	for _, tt := range []struct {
		name           string
		file, old, new string
		want           error
	}{
		{"an empty old text", "a", "", "b", ErrEmptyOld},
		{"an edit of nothing", "a", "b", "b", ErrSame},
		{"invalid UTF-8", "a", "a", "\xff", ErrInvalidUTF8},
		{"a decomposed file", "e" + acute, "x", "y", ErrNotNFC},
		{"no match", "a", "b", "c", ErrNotFound},
		{"a join", "aX", "X", acute, ErrJoins},
	} {
		t.Run("it tells "+tt.name, func(t *testing.T) {
			if _, _, err := Replace(t.Context(), mustDecode(t, tt.file), tt.old, tt.new, false); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	var several *AmbiguousError
	if _, _, err := Replace(t.Context(), mustDecode(t, "a a"), "a", "b", false); !errors.As(err, &several) || several.Count != 2 {
		t.Errorf("got %v, want an AmbiguousError of 2", err)
	}
}

func TestReplaceBoundsTheResult(t *testing.T) {
	const mark, count = len(byteOrderMark), 1 << 10
	file := mustDecode(t, "\ufeff"+strings.Repeat(",", count))
	fits := strings.Repeat("x", MaxResult/count-1)
	out, n, err := Replace(t.Context(), file, ",", fits, true)
	if err != nil || n != count || len(out.Encode()) != mark+count*len(fits) {
		t.Fatalf("got %d matches, %d bytes, %v", n, len(out.Encode()), err)
	}
	_, _, err = Replace(t.Context(), file, ",", fits+"x", true)
	var tooLarge *TooLargeError
	if !errors.As(err, &tooLarge) || tooLarge.Size != MaxResult+int64(mark) {
		t.Fatalf("got %v", err)
	}
	if want := "the result would be 67108867 bytes; the limit is 67108864"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// slowReplace is Replace by the plainest means: every cluster of both texts, compared one place after the other.
func slowReplace(text, old, new string, all bool) (out string, count int, ok bool) {
	edges := boundaries(text)
	isEdge := func(i int) bool { _, found := slices.BinarySearch(edges, i); return found }
	var outside []int // where in the result bytes from outside the matches end or begin
	for i := 0; i < len(text); {
		if strings.HasPrefix(text[i:], old) && isEdge(i) && isEdge(i+len(old)) {
			outside = append(outside, len(out))
			out += new
			outside = append(outside, len(out))
			i += len(old)
			count++
			continue
		}
		out += text[i : i+1]
		i++
	}
	if count == 0 || count > 1 && !all {
		return "", count, false
	}
	edges = boundaries(out)
	touching := map[int]int{}
	for i := 1; i+1 < len(outside); i += 2 {
		if outside[i] == outside[i+1] {
			touching[i], touching[i+1] = 1, 1 // matches side by side: all new
		}
	}
	for i, at := range outside {
		if touching[i] == 0 && !isEdge(at) {
			return "", count, false
		}
	}
	return out, count, isNFC([]byte(out))
}

func checkReplace(t *testing.T, file, old, new string, all bool) {
	t.Helper()
	text, err := Decode([]byte(file))
	if err != nil || !text.Exact() || len(file) > 1<<12 || len(old) > 1<<12 || len(new) > 1<<10 {
		return
	}
	before := bytes.Clone(text.Encode())
	out, n, err := Replace(t.Context(), text, old, new, all)
	if !bytes.Equal(text.Encode(), before) {
		t.Errorf("Replace(%+q, %+q, %+q) changed its argument", file, old, new)
	}
	from, to, operandsErr := operands(old, new)
	if operandsErr != nil {
		if !errors.Is(err, operandsErr) {
			t.Errorf("Replace(%+q, %+q, %+q): %v, want %v", file, old, new, err, operandsErr)
		}
		return
	}
	body, count, ok := slowReplace(text.String(), string(from), string(to), all)
	var several *AmbiguousError
	switch {
	case ok != (err == nil):
		t.Errorf("Replace(%+q, %+q, %+q, %v): %v, want %+q", file, old, new, all, err, body)
	case ok && (out.String() != body || n != count || out.HasBOM() != text.HasBOM() || !out.Exact()):
		t.Errorf("Replace(%+q, %+q, %+q, %v) = %+q, %d, want %+q, %d", file, old, new, all, out.Encode(), n, body, count)
	case errors.As(err, &several) && several.Count != count, errors.Is(err, ErrNotFound) != (count == 0):
		t.Errorf("Replace(%+q, %+q, %+q, %v): %v, want a count of %d", file, old, new, all, err, count)
	case !ok && (n != 0 || len(out.Encode()) != 0):
		t.Errorf("Replace(%+q, %+q, %+q, %v) = %+q, %d beside an error", file, old, new, all, out.Encode(), n)
	}
}

// randomEdit makes a file in NFC and an old text that is often in it.
func randomEdit(r *rand.Rand) (file, old, new string) {
	b, _ := normalize([]byte(randomText(r, 14)))
	file = string(b)
	old = randomText(r, 3)
	if starts := boundaries(file); len(starts) > 1 && r.IntN(4) > 0 {
		i := r.IntN(len(starts) - 1)
		old = file[starts[i]:starts[min(len(starts)-1, i+1+r.IntN(2))]]
	}
	return file, old, randomText(r, 3)
}

func TestReplaceAgreesWithTheSlowWay(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 15_000 {
		file, old, new := randomEdit(r)
		checkReplace(t, file, old, new, r.IntN(2) == 0)
	}
}

func FuzzReplace(f *testing.F) {
	f.Add("\ufeffaX", "X", acute, false)
	f.Add("a\r\nb\r\n", "\n", "", true)
	f.Add("aaa", "aa", "a", true)
	f.Add(deRI+esRI+deRI+esRI, esRI, deRI, true)
	f.Add(programmer, woman, "", false)
	f.Add("\u1112X\u1161X\u11ab", "X", "", true)
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		file, old, new := randomEdit(r)
		f.Add(file, old, new, r.IntN(2) == 0)
	}
	f.Fuzz(checkReplace)
}

// The two ways of finding must agree, whenever the second takes over.
func TestFinderAgreesWithItself(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 5000 {
		b, old := make([]byte, r.IntN(30)), make([]byte, 1+r.IntN(6))
		for i := range b {
			b[i] = "ab"[r.IntN(2)]
		}
		for i := range old {
			old[i] = "ab"[r.IntN(2)]
		}
		f := finder{b: b, old: old, borders: borders(old)}
		for from := 0; from <= len(b); from += 1 + r.IntN(3) {
			want := bytes.Index(b[from:], old)
			if want >= 0 {
				want += from
			}
			if got := f.next(from); got != want {
				t.Fatalf("%q in %q from %d: got %d, want %d", old, b, from, got, want)
			}
			from = max(from, want)
		}
	}
}

// Files made to be slow, where the work would be the product of two lengths if it were done simply. The minute is no
// measurement but an end to waiting: they take a fraction of a second.
func TestReplaceTakesTimeInProportion(t *testing.T) {
	const n = 50_000
	for _, tt := range []struct {
		name           string
		file, old, new string
	}{
		{"flags that never end where the old text does", strings.Repeat(deRI, n), strings.Repeat(deRI, n/2+1), ""},
		{"repeated lines cut before their \\n", strings.Repeat("x\r\n", n), strings.Repeat("x\r\n", n/2) + "x\r", ""},
		{"half a flag in a row of them", strings.Repeat(deRI, n), deRI, "x"},
		{"an accent in a stack of them", "x" + strings.Repeat("\u0310", n), "\u0310", "y"},
		{"a letter that has an accent everywhere", strings.Repeat("q\u0303", n), "q", "x"},
		{"a part of an endless emoji", strings.Repeat(woman+joiner, n), woman, "x"},
		{"one segment with a seam at every other character", strings.Repeat("\u1161\u11ab\u11ac", n), "\u1161", "\u1162"},
		{"many flags replaced by flags", strings.Repeat(deRI+esRI, n), deRI + esRI, esRI + deRI},
		{"a row of flags that follows many matches", strings.Repeat("X", n) + strings.Repeat(deRI, n), "X", deRI + deRI},
	} {
		t.Run("it is quick with "+tt.name, func(t *testing.T) {
			text := mustDecode(t, tt.file)
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _, _ = Replace(t.Context(), text, tt.old, tt.new, true)
			}()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatal("still not done after a minute")
			}
		})
	}
}

// BenchmarkReplace measures one edit in the middle of a file, and one of every line, against copying the file, which
// is the least that an edit must do. Reading and storing the file are not measured.
func BenchmarkReplace(b *testing.B) {
	const size = 10 << 20
	for _, kind := range []struct{ name, line string }{
		{"ASCII", "\tif err := f.Close(); err != nil {\n"},
		{"Chinese", "文件必须先读取然后才能修改。\n"},
	} {
		half := strings.Repeat(kind.line, size/2/len(kind.line))
		file := mustDecode(b, half+"the one place\n"+half)
		b.Run("10MB/one/"+kind.name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			// The two take turns and the quickest of each counts, so that a busy machine does not distort the ratio.
			edit, clone := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for b.Loop() {
				start := time.Now()
				if _, _, err := Replace(b.Context(), file, "the one place", "the other place", false); err != nil {
					b.Fatal(err)
				}
				edit = min(edit, time.Since(start))
				b.StopTimer()
				start = time.Now()
				bytes.Clone(file.Encode())
				clone = min(clone, time.Since(start))
				b.StartTimer()
			}
			b.ReportMetric(float64(edit)/float64(clone), "x-copy")
		})
		b.Run("10MB/all/"+kind.name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			_, n := utf8.DecodeRuneInString(kind.line)
			for b.Loop() {
				if _, _, err := Replace(b.Context(), file, kind.line[n:], kind.line, true); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestReplaceStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	text := mustDecode(t, strings.Repeat("a,", 10_000))
	if _, n, err := Replace(ctx, text, ",", ";", true); n != 10_000 || err != nil {
		t.Fatalf("replaced %d, %v", n, err)
	}
	cancel()
	if out, n, err := Replace(ctx, text, ",", ";", true); !errors.Is(err, context.Canceled) || n != 0 || len(out.Encode()) != 0 {
		t.Errorf("got %d replaced, %v", n, err)
	}
}
