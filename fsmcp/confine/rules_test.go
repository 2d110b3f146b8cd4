package confine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Why an argument is refused, as the whole sentence: ARG stands for the argument, NAME for the name in it that is at fault.
const (
	allow     = ""
	empty     = "'path' is empty; use '.' for the root"
	nul       = "'ARG' contains a NUL byte; send the path without it"
	absolute  = "'ARG' is absolute; send a path relative to the root"
	drive     = "'ARG' starts with a drive letter; send a path relative to the root"
	dotdot    = "'ARG' contains '..'; send the path from the root without it"
	device    = "'ARG' contains 'NAME', a device name on Windows; use another name"
	stream    = "'ARG' contains ':', which Windows takes for a data stream; send a name without it"
	trailing  = "'ARG' contains 'NAME', whose last dot or space Windows drops; send the name without it"
	reserved  = "'ARG' contains a name that is kept for files being written; send another"
	shortName = "'ARG' contains 'NAME', which Windows may take for a short name; send the full name"
)

type ruleCase struct {
	arg            string
	posix, windows string
	name           string // the name at fault; the argument itself when not given
}

func ruleCases() []ruleCase {
	return []ruleCase{
		{arg: "a/b.txt"},
		{arg: "./a"}, // "." and empty segments are dropped.
		{arg: "a//b"},
		{arg: "a/"},
		{arg: "."},
		{arg: "", posix: empty, windows: empty},
		{arg: "a\x00b", posix: nul, windows: nul},
		{arg: "/etc/passwd", posix: absolute, windows: absolute},
		{arg: "//srv/share/x", posix: absolute, windows: absolute},
		{arg: `\\srv\share\x`, posix: absolute, windows: absolute},
		{arg: `\x`, posix: absolute, windows: absolute}, // The root of the current drive.
		{arg: `\\?\C:\x`, posix: absolute, windows: absolute},
		{arg: `\\.\pipe\x`, posix: absolute, windows: absolute},
		{arg: `C:\x`, posix: drive, windows: drive},
		{arg: "C:/x", posix: drive, windows: drive},
		{arg: "c:x", posix: drive, windows: drive},
		{arg: "z:", posix: drive, windows: drive},
		{arg: "x:stream", posix: drive, windows: drive}, // Cannot be told from a drive.
		{arg: "a/x:stream", windows: stream},
		{arg: "xy:stream", windows: stream}, // Two letters are no drive.
		{arg: "notes.txt:v2", windows: stream},
		{arg: "link::$INDEX_ALLOCATION", windows: stream}, // Opens the link itself.
		{arg: "dir:$I30:$INDEX_ALLOCATION/x", windows: stream},
		{arg: "4:x", windows: stream}, // A digit is no drive letter, nor is é.
		{arg: "é:x", windows: stream},
		{arg: "..", posix: dotdot, windows: dotdot},
		{arg: "a/../b", posix: dotdot, windows: dotdot}, // Even where it stays inside.
		{arg: `a\..\b`, posix: dotdot, windows: dotdot}, // Between separators of either kind.
		{arg: "a/..b"},
		{arg: "a/b..", windows: trailing, name: "b.."},
		{arg: "...", windows: trailing},
		{arg: ".. ", windows: trailing}, // Win32 may read it as "..".
		{arg: ". ", windows: trailing},
		{arg: " ..", windows: trailing},
		{arg: "foo.", windows: trailing},
		{arg: "foo ", windows: trailing},
		{arg: "foo. .", windows: trailing},
		{arg: "dir./x", windows: trailing, name: "dir."}, // Any segment, not only the last.
		{arg: " foo"},
		{arg: "CON", posix: device, windows: device},
		{arg: "con", posix: device, windows: device},
		{arg: "PRN", posix: device, windows: device},
		{arg: "AUX", posix: device, windows: device},
		{arg: "NUL", posix: device, windows: device},
		{arg: "aux.c", posix: device, windows: device},
		{arg: "NUL.tar.gz", posix: device, windows: device}, // The base ends at the first dot.
		{arg: "NUL.", posix: device, windows: device},       // The device rule comes before the last dot's.
		{arg: "NUL ", posix: device, windows: device},
		{arg: "NUL .txt", posix: device, windows: device},
		{arg: "NUL . .txt", posix: device, windows: device},
		{arg: "a/NUL/b", posix: device, windows: device, name: "NUL"},
		{arg: `a\NUL`, posix: device, windows: device, name: "NUL"},
		{arg: "./con.txt", posix: device, windows: device, name: "con.txt"},
		{arg: "CONIN$", posix: device, windows: device},
		{arg: "conout$.log", posix: device, windows: device},
		{arg: "COM0", posix: device, windows: device},
		{arg: "COM1", posix: device, windows: device},
		{arg: "com9.log", posix: device, windows: device},
		{arg: "LPT0", posix: device, windows: device},
		{arg: "lpt9", posix: device, windows: device},
		{arg: "COM¹", posix: device, windows: device},
		{arg: "com².x", posix: device, windows: device},
		{arg: "LPT³", posix: device, windows: device},
		{arg: "COM⁴"}, // Not a superscript of Latin-1.
		{arg: "COM10"},
		{arg: "COM"},
		{arg: "LPTx"},
		{arg: "CON1"},
		{arg: "nulx"},
		{arg: "xNUL"},
		{arg: ".NUL"}, // The base is empty.
		{arg: " NUL"}, // A leading space is part of the name.
		{arg: "N U L"},
		{arg: "CLOCK$"},
		{arg: "CON$"},
		{arg: "ＮＵＬ"},
		{arg: "NUL:", posix: device, windows: device},
		{arg: "SECRET~1", windows: shortName},
		{arg: "PROGRA~1.TXT", windows: shortName},
		{arg: "SECRE~A1", windows: shortName}, // Samba's shape.
		{arg: "secret~1/x", windows: shortName, name: "secret~1"},
		{arg: "a~b.txt", windows: shortName}, // Cannot be told from one.
		{arg: "~1", windows: shortName},
		{arg: "DATA~1.TXT", windows: shortName},
		{arg: "SECRETS~1"},     // A base of nine.
		{arg: "SECRET~1.TEXT"}, // An extension of four.
		{arg: "a~1.tar.gz"},    // Two dots.
		{arg: "foo~"},          // Nothing follows the tilde.
		{arg: "main.c~1"},      // The tilde is in the extension.
		{arg: "~$a.doc"},       // Neither letter nor digit follows.
		{arg: "~"},
		{arg: "ÄÖÜ~1.TXT", windows: shortName}, // Characters count, not bytes.
		{arg: "a b~1", windows: shortName},
		{arg: `back\slash`},
		{arg: "q?"},
		{arg: "a\x01b"},
		{arg: "-rf"},
		{arg: "~/x"}, // Nothing is expanded or decoded.
		{arg: "%2e%2e/x"},
	}
}

// moreRuleCases pin what the cases above leave open.
func moreRuleCases() []ruleCase {
	return []ruleCase{
		{arg: "./x:stream", posix: drive, windows: drive}, // As its clean form.
		{arg: `./\x`, posix: absolute},                    // One name on POSIX, starting as an absolute path does.
		{arg: "conın$"},                                   // Case is folded in ASCII only.
		{arg: "ÄÖÜß~1", windows: shortName},               // Eight bytes would be too few.
		{arg: "a~~1", windows: shortName},                 // Not only the first tilde counts.
		{arg: `a\foo.`, windows: trailing, name: "foo."},
		{arg: "a/.", posix: allow},
		{arg: "a/.lookfirst-0123456789abcdef.tmp", posix: reserved, windows: reserved}, // No list would show it.
		{arg: ".lookfirst-0123456789abcdef.tmp.md"},
		{arg: "[:x", windows: stream}, // The bytes beside the letters are no drives.
		{arg: "`:x", windows: stream},
		{arg: "{:x", windows: stream},
		{arg: "@:x", windows: stream},
		{arg: "A:", posix: drive, windows: drive},
		{arg: "Z:", posix: drive, windows: drive},
		{arg: "a:", posix: drive, windows: drive},
	}
}

func TestComponentsVerdicts(t *testing.T) {
	if n := len(ruleCases()); n != 99 {
		t.Fatalf("the table has %d rows, want all 99", n)
	}
	for _, tt := range slices.Concat(ruleCases(), moreRuleCases()) {
		t.Run(fmt.Sprintf("POSIX judges %q", tt.arg), func(t *testing.T) { tt.check(t, posixPlatform(), tt.posix) })
		t.Run(fmt.Sprintf("Windows judges %q", tt.arg), func(t *testing.T) { tt.check(t, windowsPlatform(), tt.windows) })
	}
}

func (tt ruleCase) check(t *testing.T, p platform, format string) {
	t.Helper()
	_, _, err := components(p, "path", tt.arg)
	if format == allow {
		if err != nil {
			t.Fatalf("got %q, want it allowed", err)
		}
		return
	}
	want := &Error{Arg: tt.arg, Err: ErrName, Text: format}
	if slices.Contains([]string{absolute, drive, dotdot}, format) {
		want.Err = ErrOutside
	}
	if format != empty {
		shown := strings.ReplaceAll(tt.arg, "\x00", `\x00`)
		if tt.name == "" {
			tt.name = shown
		}
		want.Text = strings.NewReplacer("ARG", shown, "NAME", tt.name).Replace(format)
	}
	var got *Error
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want a refusal", err)
	}
	if diff := cmp.Diff(*want, *got, cmpopts.EquateErrors()); diff != "" {
		t.Error(diff)
	}
}

func TestComponentsNamesTheEmptyParameter(t *testing.T) {
	_, _, err := components(posixPlatform(), "from", "")
	if want := "'from' is empty; use '.' for the root"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestComponentsSplits(t *testing.T) {
	type result struct {
		Comps   []string
		WantDir bool
	}
	tests := []struct {
		arg            string
		posix, windows result
	}{
		{"a", result{[]string{"a"}, false}, result{[]string{"a"}, false}},
		{"./a", result{[]string{"a"}, false}, result{[]string{"a"}, false}},
		{"a//b/./c", result{[]string{"a", "b", "c"}, false}, result{[]string{"a", "b", "c"}, false}},
		{"a/", result{[]string{"a"}, true}, result{[]string{"a"}, true}},
		{"a//", result{[]string{"a"}, true}, result{[]string{"a"}, true}},
		{"a/.", result{[]string{"a"}, true}, result{[]string{"a"}, true}},
		{"a/./", result{[]string{"a"}, true}, result{[]string{"a"}, true}},
		{".", result{nil, true}, result{nil, true}},
		{"./", result{nil, true}, result{nil, true}},
		{"./.", result{nil, true}, result{nil, true}},
		{".a", result{[]string{".a"}, false}, result{[]string{".a"}, false}},
		{`a\b`, result{[]string{`a\b`}, false}, result{[]string{"a", "b"}, false}},
		{`a\b/c`, result{[]string{`a\b`, "c"}, false}, result{[]string{"a", "b", "c"}, false}},
		{`a\`, result{[]string{`a\`}, false}, result{[]string{"a"}, true}},
		{`a\.\b`, result{[]string{`a\.\b`}, false}, result{[]string{"a", "b"}, false}},
		{"a\nb/é", result{[]string{"a\nb", "é"}, false}, result{[]string{"a\nb", "é"}, false}},
	}
	for _, tt := range tests {
		for p, want := range map[platform]result{posixPlatform(): tt.posix, windowsPlatform(): tt.windows} {
			t.Run(fmt.Sprintf("it splits %q, windows=%v", tt.arg, p.windows), func(t *testing.T) {
				comps, wantDir, err := components(p, "path", tt.arg)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, result{comps, wantDir}); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestComponentsLengths(t *testing.T) {
	letters := func(n int) string { return strings.Repeat("n", n) }
	cut := "'" + letters(200) + "…'"
	bytes256 := strings.Repeat("é", 128)
	const longName = " contains a name of 256 bytes; send names of at most 255"
	deep := strings.Repeat(letters(254)+"/", 16) // 16 names: 4,080 bytes with the slashes.
	tests := []struct {
		name, arg, want string
	}{
		{"allows a name of 255 bytes", letters(255), ""},
		{"refuses a name of 256 bytes", letters(256), "name too long: " + cut + longName},
		{"counts bytes, not characters", bytes256, "name too long: '" + bytes256 + "'" + longName},
		{"allows a path of 4,095 bytes", deep + letters(15), ""},
		{"refuses a path of 4,096 bytes", deep + letters(16), "path too long: " + cut + " has 4096 bytes; send at most 4095"},
		{"counts the clean form", strings.Repeat("./", 3000) + "n", ""},
		{"allows 255 names", strings.Repeat("n/", 255), ""},
		{
			"refuses 256 names", strings.Repeat("n/", 256),
			"path too long: '" + strings.Repeat("n/", 100) + "…' has 256 names; send at most 255",
		},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			for _, p := range []platform{posixPlatform(), windowsPlatform()} {
				_, _, err := components(p, "path", tt.arg)
				switch {
				case tt.want == "" && err != nil:
					t.Errorf("windows=%v: got %q, want it allowed", p.windows, err)
				case tt.want != "" && (!errors.Is(err, ErrName) || err.Error() != tt.want):
					t.Errorf("windows=%v:\ngot  %v\nwant %s", p.windows, err, tt.want)
				}
			}
		})
	}
}

func TestQuote(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"leaves an ordinary name alone", "src/Größe 日本.txt", "'src/Größe 日本.txt'"},
		{"leaves a backslash and a quote alone", `C:\it's`, `'C:\it's'`},
		{"leaves a joined emoji alone", "👩‍💻", "'👩‍💻'"},
		{"escapes line breaks", "a\nb\r\tc\u0085d\u2028e\u2029", `'a\nb\r\tc\u0085d\u2028e\u2029'`},
		{"escapes control characters", "\x00\x1b[31m\x7f", `'\x00\x1b[31m\x7f'`},
		{"escapes marks that reorder text", "a\u202etxt.exe\u2066\u200f", `'a\u202etxt.exe\u2066\u200f'`},
		{"escapes bytes that are not UTF-8", "a\xff\xc3", `'a\xff\xc3'`},
		{"keeps a replacement character that was sent", "\uFFFD", "'\uFFFD'"},
		{"keeps 200 characters", strings.Repeat("é", 200), "'" + strings.Repeat("é", 200) + "'"},
		{"cuts the 201st", strings.Repeat("é", 201), "'" + strings.Repeat("é", 200) + "…'"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			if got := Quote(tt.in); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// checkRules holds what is true of every argument, allowed or refused.
func checkRules(t *testing.T, p platform, arg string) {
	t.Helper()
	comps, wantDir, err := components(p, "path", arg)
	if arg == "" {
		if err == nil {
			t.Fatal("the empty argument is allowed")
		}
		return
	}
	cleaned := cleanForm(p, arg)
	again, dirAgain, errAgain := components(p, "path", cleaned)
	if (err == nil) != (errAgain == nil) {
		t.Fatalf("%q: %v, but its clean form %q: %v", arg, err, cleaned, errAgain)
	}
	if err != nil {
		checkSentence(t, arg, err)
		return
	}
	if !slices.Equal(comps, again) || dirAgain && !wantDir {
		t.Fatalf("%q is %q (%v), but its clean form %q is %q (%v)", arg, comps, wantDir, cleaned, again, dirAgain)
	}
	for _, name := range strings.FieldsFunc(arg, isEitherSeparator) {
		if name == ".." {
			t.Fatalf("%q is allowed", arg)
		}
	}
	for _, name := range comps {
		if isDots(name) || strings.ContainsFunc(name, p.isSeparator) || strings.Contains(name, "\x00") {
			t.Fatalf("%q has the component %q", arg, name)
		}
		if p.windows && (strings.Contains(name, ":") || strings.TrimRight(name, ". ") != name) {
			t.Fatalf("%q has the component %q, which names something else on Windows", arg, name)
		}
	}
}

// isDots says whether a path cannot hold name as an ordinary component.
func isDots(name string) bool { return name == "" || name == "." || name == ".." }

// checkSentence holds a refusal to its form: one line, of bounded length, that names the argument.
func checkSentence(t *testing.T, arg string, err error) {
	t.Helper()
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Arg != arg || !errors.Is(err, ErrName) && !errors.Is(err, ErrOutside) {
		t.Fatalf("%q: %v is no refusal of it", arg, err)
	}
	text := err.Error()
	if !strings.Contains(text, Quote(arg)) || !strings.Contains(text, "; ") {
		t.Fatalf("%q: %q does not name it and say what to send", arg, text)
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || len(text) > 12*2*maxQuoted {
		t.Fatalf("%q: %q is not one short line", arg, text)
	}
}

// cleanForm drops empty and "." segments and keeps a leading separator, which makes an argument absolute.
func cleanForm(p platform, arg string) string {
	var names []string
	for _, name := range strings.FieldsFunc(arg, p.isSeparator) {
		if name != "." {
			names = append(names, name)
		}
	}
	form := strings.Join(names, "/")
	switch {
	case p.isSeparator(rune(arg[0])):
		return "/" + form
	case form == "":
		return "."
	}
	return form
}

// TestComponentsProperties tries what a table does not think of: arguments of awkward pieces, from fixed seeds.
func TestComponentsProperties(t *testing.T) {
	pieces := []string{
		"/", "/", `\`, ".", "..", "...", "a", "b.txt", "C", ":", " ", "~", "1", "NUL", "com¹", "x:y", "é", "\x00", "\n",
		"\xff", "'", "\u202e", "longername", strings.Repeat("n", 250), "?", "$",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		var arg strings.Builder
		for range 1 + random.IntN(9) {
			arg.WriteString(pieces[random.IntN(len(pieces))])
		}
		checkRules(t, posixPlatform(), arg.String())
		checkRules(t, windowsPlatform(), arg.String())
	}
}

func FuzzRules(f *testing.F) {
	for _, tt := range slices.Concat(ruleCases(), moreRuleCases()) {
		f.Add(tt.arg)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		checkRules(t, posixPlatform(), arg)
		checkRules(t, windowsPlatform(), arg)
	})
}

func TestIsPlain(t *testing.T) {
	for name, want := range map[string]bool{
		"a b.txt": true, "é\u00a0x": true, "[id]": true, `a"b`: true, "'q'": true,
		`"q\n"`: false, "q\n": false, "a\u2028b": false, "a\u202eb": false, "\xff": false, "a\x1bb": false,
	} {
		if got := IsPlain(name); got != want {
			t.Errorf("IsPlain(%q) is %v", name, got)
		}
	}
}
