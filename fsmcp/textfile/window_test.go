package textfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// numbered makes a file of n lines, "line 1" and so on, each with that end.
func numbered(n int, end string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d%s", i+1, end)
	}
	return b.String()
}

func TestReadWindow(t *testing.T) {
	long := numbered(900, "\n")
	for _, tt := range []struct {
		name          string
		file          string
		offset, limit int64
		want          string
	}{
		{"shows lines and where they are", long, 40, 3, "40\tline 40\n41\tline 41\n42\tline 42\n\n[lines 40-42 of 900 total]"},
		{"shows one line", long, 900, 1, "900\tline 900\n\n[lines 900-900 of 900 total]"},
		{"stops at the end", long, 899, 10, "899\tline 899\n900\tline 900\n\n[lines 899-900 of 900 total]"},
		{"goes on to the end without a limit", long, 899, 0, "899\tline 899\n900\tline 900\n\n[lines 899-900 of 900 total]"},
		{"takes the largest numbers", long, 900, math.MaxInt64, "900\tline 900\n\n[lines 900-900 of 900 total]"},
		{"takes an offset below 1 for 1", "a\n", 0, 0, "1\ta\n\n[lines 1-1 of 1 total]"},
		{"says how long the file is past its end", long, 5000, 0, "'log.txt' has 900 lines; offset 5000 is past the end"},
		{"says so one line past the end", long, 901, 1, "'log.txt' has 900 lines; offset 901 is past the end"},
		{"says so of one line", "a", 2, 0, "'log.txt' has 1 line; offset 2 is past the end"},
		{"says so of an empty file", "", 1, 0, "'log.txt' has 0 lines; offset 1 is past the end"},
		{"says so of a file of nothing but a mark", "\ufeff", 1, 1, "'log.txt' has 0 lines; offset 1 is past the end"},
		{"says so of the largest offset", "a", math.MaxInt64, 1, "'log.txt' has 1 line; offset 9223372036854775807 is past the end"},
		{"counts a last line without an end", "a\nb", 1, 0, "1\ta\n2\tb\n\n[lines 1-2 of 2 total]"},
		{"makes no line of a final line end", "a\nb\n", 1, 0, "1\ta\n2\tb\n\n[lines 1-2 of 2 total]"},
		{"shows empty lines", "\n\na\n\n", 1, 0, "1\t\n2\t\n3\ta\n4\t\n\n[lines 1-4 of 4 total]"},
		{"hides the mark", "\ufeffa\nb\n", 1, 1, "1\ta\n\n[lines 1-1 of 2 total]"},
		{"hides one mark only", "\ufeff\ufeffa\n", 1, 1, "1\t\ufeffa\n\n[lines 1-1 of 1 total]"},
		{"drops the \\r of CRLF", "a\r\n\r\nb\r\n", 1, 0, "1\ta\n2\t\n3\tb\n\n[lines 1-3 of 3 total]"},
		{"drops one \\r a line", "a\r\r\nb", 1, 0, "1\ta\r\n2\tb\n\n[lines 1-2 of 2 total]"},
		{"takes a lone \\r for a character", "a\rb\nc\r", 1, 0, "1\ta\rb\n2\tc\r\n\n[lines 1-2 of 2 total]"},
		{"ends no line at other separators", "a\u2028b\u0085c\vd\fe\n", 1, 0, "1\ta\u2028b\u0085c\vd\fe\n\n[lines 1-1 of 1 total]"},
		{"composes", "e\u0301\n", 1, 0, "1\t\u00e9\n\n[lines 1-1 of 1 total]"},
		{"keeps tabs and spaces", "\t\tx() \n", 1, 0, "1\t\t\tx() \n\n[lines 1-1 of 1 total]"},
		{"takes a NUL after the head", strings.Repeat("x", binaryHead) + "\x00\nb", 2, 1, "2\tb\n\n[lines 2-2 of 2 total]"},
		{"passes over a long line outside the window", strings.Repeat("x", MaxAnswer+1) + "\nb\n", 2, 1, "2\tb\n\n[lines 2-2 of 2 total]"},
		{"passes over a long line behind the window", "a\n" + strings.Repeat("x", MaxAnswer+1), 1, 1, "1\ta\n\n[lines 1-1 of 2 total]"},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(tt.file), "halves": iotest.HalfReader(strings.NewReader(tt.file)),
				"end with data": iotest.DataErrReader(strings.NewReader(tt.file)),
			} {
				w, err := ReadWindow(r, tt.offset, tt.limit)
				if err != nil {
					t.Fatal(name, err)
				}
				if diff := cmp.Diff(tt.want, w.Answer("log.txt")); diff != "" {
					t.Error(name, diff)
				}
			}
		})
	}
}

func TestReadWindowRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, file, want string
	}{
		{"a NUL", "a\x00", "not UTF-8 text: there is a NUL byte at offset 1"},
		{"UTF-16", "\xff\xfea\x00", "not UTF-8 text: it starts with the byte order mark of UTF-16"},
		{"invalid bytes before the window", "\xd6\xd0\nb\n", "not UTF-8 text: there is an invalid byte at offset 0"},
		{"invalid bytes far behind the window", "a\nb\n" + strings.Repeat("é", 50_000) + "\xff", "not UTF-8 text: there is an invalid byte at offset 100004"},
		{"a character cut short at the end", "a\nb\n\xe4\xb8", "not UTF-8 text: there is an invalid byte at offset 4"},
	} {
		t.Run("it refuses "+tt.name, func(t *testing.T) {
			_, err := ReadWindow(strings.NewReader(tt.file), 2, 1)
			if !errors.Is(err, ErrNotText) || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestReadWindowPassesReadErrors(t *testing.T) {
	// io.ErrUnexpectedEOF is what a broken source may say; it must not pass for the end of the file.
	for _, broken := range []error{errors.New("disk on fire"), io.ErrUnexpectedEOF} {
		r := io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(broken))
		if w, err := ReadWindow(r, 1, 1); !errors.Is(err, broken) {
			t.Errorf("got %+v, %v, want %v", w, err, broken)
		}
	}
}

func TestReadWindowBoundsTheAnswer(t *testing.T) {
	const lines = 100
	line := strings.Repeat("x", MaxAnswer/10)
	file := strings.Repeat(line+"\n", lines)
	w, err := ReadWindow(strings.NewReader(file), 5, 50)
	if err != nil {
		t.Fatal(err)
	}
	got := w.Answer("f")
	if w.Next != 14 || w.Last != 13 || w.Total != lines || len(got) > MaxAnswer+100 {
		t.Errorf("got lines %d-%d of %d, next %d, %d bytes", w.First, w.Last, w.Total, w.Next, len(got))
	}
	const footer = "x\n\n[lines 5-13 of 100 total; the answer is full, continue at offset 14]"
	if !strings.HasSuffix(got, footer) {
		t.Errorf("the answer ends %q", got[len(got)-len(footer):])
	}
	if w, err = ReadWindow(strings.NewReader(file), 5, 9); err != nil || w.Next != 0 || w.Last != 13 {
		t.Errorf("a window that fits: got lines %d-%d, next %d, %v", w.First, w.Last, w.Next, err)
	}
}

func TestReadWindowRefusesALineThatCannotBeShown(t *testing.T) {
	for _, tt := range []struct {
		name string
		line string
		fits bool
	}{
		{"the longest line", strings.Repeat("x", MaxAnswer-len("1\t\n")), true},
		{"a byte more", strings.Repeat("x", MaxAnswer-len("1\t\n")+1), false},
		{"a line that grows when composed", strings.Repeat("x", MaxAnswer-len("1\t\u0958\n")) + "\u0958", false}, // two characters in NFC
		{"a line that goes on", strings.Repeat("x", MaxAnswer+2*piece), false},
	} {
		for _, end := range []string{"", "\r\n"} {
			t.Run(fmt.Sprintf("it knows what to do with %s and %q", tt.name, end), func(t *testing.T) {
				_, err := ReadWindow(strings.NewReader(tt.line+end), 1, 1)
				var long *LongLineError
				if tt.fits != (err == nil) || err != nil && (!errors.As(err, &long) || long.Line != 1) {
					t.Errorf("got %v", err)
				}
				if w, err := ReadWindow(strings.NewReader("a\n"+tt.line+end), 1, 2); err != nil || w.Total != 2 || w.Last != 1 || w.Next != 2 {
					t.Errorf("behind another line: got lines %d-%d of %d, next %d, %v", w.First, w.Last, w.Total, w.Next, err)
				}
			})
		}
	}
}

// slowWindow splits the whole text.
func slowWindow(text string, offset, limit int64) string {
	lines := strings.Split(text, "\n")
	for i := range len(lines) - 1 {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var shown []string
	for i, line := range lines {
		if n := int64(i + 1); n >= offset && (limit == 0 || n < offset+limit) {
			shown = append(shown, fmt.Sprintf("%d\t%s\n", n, line))
		}
	}
	if len(shown) == 0 {
		return "past the end"
	}
	return fmt.Sprintf("%s\n[lines %d-%d of %d total]", strings.Join(shown, ""), offset, offset+int64(len(shown))-1, len(lines))
}

func FuzzWindow(f *testing.F) {
	f.Add([]byte("\ufeffa\r\nb\rc\n"), uint8(1), uint8(2), uint16(0))
	f.Add([]byte("e\u0301\n\n"), uint8(2), uint8(0), uint16(piece-1))
	r := rand.New(rand.NewPCG(11, 12))
	for range 100 {
		// A filling puts the interesting part across the edge of a piece.
		f.Add([]byte(randomText(r, 12)), uint8(r.IntN(4)), uint8(r.IntN(4)), uint16(piece-r.IntN(12)))
	}
	f.Fuzz(func(t *testing.T, b []byte, offset, limit uint8, filling uint16) {
		file := strings.Repeat("x", int(filling)) + string(b)
		w, err := ReadWindow(strings.NewReader(file), int64(offset), int64(limit))
		text, textErr := Decode([]byte(file))
		if textErr != nil {
			if err == nil || err.Error() != textErr.Error() {
				t.Errorf("got %v, want %v", err, textErr)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		want := slowWindow(text.String(), max(int64(offset), 1), int64(limit))
		if got := w.Answer("f"); got != want && !(want == "past the end" && w.Last < w.First) {
			t.Errorf("%+q after %d, offset %d, limit %d: got %+q, want %+q", b, filling, offset, limit, got, want)
		}
	})
}
