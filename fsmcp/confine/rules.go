package confine

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a path argument (D27), in bytes of its clean form. 4,095 and 255 are what Linux takes for a path and for a
// name; they hold on every platform, so that a path which works on one works on all. The number of names bounds what one
// mkdir can create.
const (
	maxPathBytes = 4095
	maxNameBytes = 255
	maxNames     = 255
)

// maxQuoted is how many characters of an argument a sentence repeats: enough to recognise it, too few to flood an answer.
const maxQuoted = 200

// platform is the set of rules by which a system reads names. It is a value and not a build tag, so that the rules for
// Windows can be tested on every system.
type platform struct{ windows bool }

func posixPlatform() platform { return platform{} }

func windowsPlatform() platform { return platform{windows: true} }

// hostPlatform is the platform that this program runs on.
func hostPlatform() platform { return platform{windows: runtime.GOOS == "windows"} }

// isSeparator says whether the platform's own path functions split at r.
func (p platform) isSeparator(r rune) bool { return r == '/' || p.windows && r == '\\' }

// isEitherSeparator is isSeparator of both platforms at once, for the rules that hold everywhere.
func isEitherSeparator(r rune) bool { return r == '/' || r == '\\' }

// components is the textual verdict on a path argument, reached before any system call. It returns the names that arg
// consists of, without empty and "." segments: none for the root. wantDir says that the spelling asks for a directory: arg
// ends in a separator or in a "." segment. The verdict on an argument and on its clean form is the same.
//
// key is the parameter's name, which the sentence about an empty argument needs. An error is an *[Error] of kind
// [ErrOutside] where the spelling could leave the root (absolute, drive, ".."), else of kind [ErrName].
//
// The rules are deliberately redundant with the chase and with the handle that opens: they fail independently, and they
// can say what was wrong with the argument.
func components(p platform, key, arg string) (comps []string, wantDir bool, err error) {
	if arg == "" {
		return nil, false, refuse(arg, ErrName, "'%s' is empty; use '.' for the root", key)
	}
	comps, wantDir = p.clean(arg)
	broken := cmp.Or(
		checkNUL(arg),
		checkPrefix(arg, arg),
		checkPrefix(arg, strings.Join(comps[:min(1, len(comps))], "")),
		checkSegments(arg),
		checkLength(arg, comps),
		checkReserved(arg, comps),
	)
	if broken == nil && p.windows {
		broken = checkAliases(arg, comps)
	}
	if broken != nil {
		return nil, false, broken
	}
	return comps, wantDir, nil
}

// clean splits arg into its names, and says whether it ends as only the name of a directory may.
func (p platform) clean(arg string) (comps []string, wantDir bool) {
	for segment := range strings.FieldsFuncSeq(arg, p.isSeparator) {
		wantDir = segment == "."
		if !wantDir {
			comps = append(comps, segment)
		}
	}
	return comps, wantDir || p.isSeparator(rune(arg[len(arg)-1]))
}

// checkNUL refuses a NUL byte: the system would end the name there, and open another one than was judged.
func checkNUL(arg string) *Error {
	if !strings.Contains(arg, "\x00") {
		return nil
	}
	return refuse(arg, ErrName, "%s contains a NUL byte; send the path without it", Quote(arg))
}

// checkPrefix refuses everything that any platform could take for absolute, on all of them: a leading separator of either
// kind (with it UNC and device paths) and a drive letter, even before a name that is no drive's (x:stream cannot be told
// from one). It is asked about the clean form too, or './C:x' would say what 'C:x' may not.
func checkPrefix(arg, form string) *Error {
	switch {
	case form == "":
		return nil
	case isEitherSeparator(rune(form[0])):
		return refuse(arg, ErrOutside, "%s is absolute; send a path relative to the root", Quote(arg))
	case hasDrive(form):
		return refuse(arg, ErrOutside, "%s starts with a drive letter; send a path relative to the root", Quote(arg))
	}
	return nil
}

// hasDrive says whether path begins with an ASCII letter and a colon.
func hasDrive(path string) bool {
	return len(path) >= 2 && path[1] == ':' && 'a' <= path[0]|0x20 && path[0]|0x20 <= 'z'
}

// checkSegments refuses ".." and the names of Windows devices. Both hold on every platform and between separators of either
// kind: a rule that is the same everywhere is also tested everywhere, and costs POSIX only names like 'a\..\b'.
// ".." is refused even where it stays inside, because one rule is easier to audit than an arithmetic one.
func checkSegments(arg string) *Error {
	for segment := range strings.FieldsFuncSeq(arg, isEitherSeparator) {
		if segment == ".." {
			return refuse(arg, ErrOutside, "%s contains '..'; send the path from the root without it", Quote(arg))
		}
		if isDevice(segment) {
			return refuse(arg, ErrName, "%s contains %s, a device name on Windows; use another name", Quote(arg), Quote(segment))
		}
	}
	return nil
}

// isDevice says whether Windows takes the segment for a device, whatever directory it stands in. Only the base counts: up
// to the first dot, or to a colon ('NUL:' is the old spelling), without the spaces before that.
func isDevice(segment string) bool {
	if len(segment) < 3 || !strings.Contains("CcPpAaNnLl", segment[:1]) {
		return false // Spares the ordinary name what follows: this is asked of every name of every argument.
	}
	base := segment
	if end := strings.IndexAny(segment, ".:"); end >= 0 {
		base = segment[:end]
	}
	base = strings.Map(upperASCII, strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, isPort := strings.CutPrefix(base, "COM")
	if !isPort {
		port, isPort = strings.CutPrefix(base, "LPT")
	}
	// Windows reads the superscripts of Latin-1 as digits here, and no others.
	return isPort && utf8.RuneCountInString(port) == 1 && strings.Contains("0123456789¹²³", port)
}

// upperASCII leaves all but a to z alone: the names of devices know no other case, and strings.ToUpper would find an I in
// a dotless ı.
func upperASCII(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r - 'a' + 'A'
	}
	return r
}

// checkAliases refuses, on Windows, names that open another name. None of them leaves the root, but each lets the name that
// a permission rule has judged differ from the one that the system opens.
func checkAliases(arg string, comps []string) *Error {
	for _, name := range comps {
		switch {
		case strings.Contains(name, ":"):
			return refuse(arg, ErrName, "%s contains ':', which Windows takes for a data stream; send a name without it", Quote(arg))
		case endsInDotOrSpace(name):
			return refuse(arg, ErrName, "%s contains %s, whose last dot or space Windows drops; send the name without it",
				Quote(arg), Quote(name))
		case isShortName(name):
			return refuse(arg, ErrName, "%s contains %s, which Windows may take for a short name; send the full name",
				Quote(arg), Quote(name))
		}
	}
	return nil
}

// endsInDotOrSpace says whether Win32 would shorten the name on its way in.
func endsInDotOrSpace(name string) bool {
	return strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ")
}

// isShortName says whether name has the shape of an 8.3 name: at most one dot, an extension of at most three characters,
// and a base of at most eight that holds a ~ with a letter or a digit right behind it (Samba makes SECRE~A1). Nothing in
// the text tells 'a~b.txt' from one, so that is refused too; 'foo~', an editor's backup, cannot be one.
func isShortName(name string) bool {
	base, extension, _ := strings.Cut(name, ".")
	if strings.Contains(extension, ".") || utf8.RuneCountInString(extension) > 3 || utf8.RuneCountInString(base) > 8 {
		return false
	}
	afterTilde := false
	for _, r := range base {
		if afterTilde && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return true
		}
		afterTilde = r == '~'
	}
	return false
}

// checkLength refuses by text what the system would refuse with an error that differs from one to the next.
func checkLength(arg string, comps []string) *Error {
	total := len(comps) - 1
	for _, name := range comps {
		if len(name) > maxNameBytes {
			return refuse(arg, ErrName, "name too long: %s contains a name of %d bytes; send names of at most %d",
				Quote(arg), len(name), maxNameBytes)
		}
		total += len(name)
	}
	switch {
	case total > maxPathBytes:
		return refuse(arg, ErrName, "path too long: %s has %d bytes; send at most %d", Quote(arg), total, maxPathBytes)
	case len(comps) > maxNames:
		return refuse(arg, ErrName, "path too long: %s has %d names; send at most %d", Quote(arg), len(comps), maxNames)
	}
	return nil
}

// checkReserved refuses the names of files that are being prepared: no list shows them, and whoever sweeps them would
// take away what a caller has put there.
func checkReserved(arg string, comps []string) *Error {
	if slices.ContainsFunc(comps, IsTemp) {
		return refuse(arg, ErrName, "%s contains a name that is kept for files being written; send another", Quote(arg))
	}
	return nil
}

// IsPlain reports whether a name stands for itself on a line of an answer: it is UTF-8, stays on its line, does not
// reorder the text around it, and is not taken for a name that was quoted because it does not.
func IsPlain(name string) bool {
	return isPlainASCII(name) || utf8.ValidString(name) && !strings.HasPrefix(name, `"`) && !strings.ContainsFunc(name, func(r rune) bool {
		if ' ' <= r && r <= '~' {
			return false // without a look at the tables
		}
		return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	})
}

// isPlainASCII knows the usual names. Asking the tables about each letter of a thousand of them takes as long as sorting them.
func isPlainASCII(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' || c == '"' {
			return false
		}
	}
	return true
}

// Quote returns arg in single quotes as a sentence shows it: as the caller wrote it, save that line breaks, other control
// characters, marks that reorder the text around them and bytes that are not UTF-8 are escaped, and that more than
// maxQuoted characters are cut. So one sentence stays one short line, and says what it seems to say.
func Quote(arg string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for n := 0; arg != ""; n++ {
		if n == maxQuoted {
			b.WriteString("…")
			break
		}
		r, size := utf8.DecodeRuneInString(arg)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, arg[0])
		case unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteRune(r)
		}
		arg = arg[size:]
	}
	b.WriteByte('\'')
	return b.String()
}
