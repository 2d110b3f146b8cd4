package repomap

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxLine is how many characters of a definition's line are shown: enough for a signature.
const maxLine = 160

// lineReader finds the lines of definitions, which come in the order of the file: each byte is looked at once, also in a
// file that is one line.
type lineReader struct {
	text   string
	line   int // lines before the current one
	start  int // where the current line starts
	seen   int // how far line ends have been looked for
	shown  string
	showed int // the start of the line that shown is, plus one
}

// at gives the number and the text of the line on which a definition is printed: that of its name, unless nothing but
// the end of the definition's body stands before the name there, as in "} client;". Then it is the line on which the
// definition begins.
func (r *lineReader) at(name span, whole uint32) (int, string) {
	for {
		next := strings.IndexByte(r.text[r.seen:max(r.seen, int(name.start))], '\n')
		if next < 0 {
			break
		}
		r.line++
		r.seen += next + 1
		r.start = r.seen
	}
	r.seen = max(r.seen, int(name.start))
	line, start := r.line, r.start
	if int(whole) < start && endsBody(r.text[start:name.start]) {
		line -= strings.Count(r.text[whole:start], "\n")
		start = strings.LastIndexByte(r.text[:whole], '\n') + 1
	}
	if r.showed != start+1 {
		r.shown, r.showed = shown(r.text[start:]), start+1
	}
	return line + 1, r.shown
}

// endsBody says whether a text is a closing brace and symbols.
func endsBody(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "}") && !strings.ContainsFunc(s, func(r rune) bool {
		return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
	})
}

// shown is the first line of a text as a map prints it: trimmed, in the normal form in which files are read (D14),
// without control characters, which could end the line, and cut at maxLine characters.
func shown(text string) string {
	// Four bytes a character, and as much again for what composes and for white space.
	const enough = 8 * maxLine
	line := text
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		line = text[:end]
	}
	line = strings.TrimSpace(line)
	if len(line) > enough {
		line = line[:enough]
		for !utf8.ValidString(line) {
			line = line[:len(line)-1]
		}
	}
	line = strings.Map(func(r rune) rune {
		if r != '\t' && (unicode.IsControl(r) || r == '\u2028' || r == '\u2029') {
			return ' '
		}
		return r
	}, norm.NFC.String(line))
	if utf8.RuneCountInString(line) <= maxLine {
		return strings.Clone(line)
	}
	n := 0
	for i := range line {
		if n == maxLine {
			return line[:i] + "…"
		}
		n++
	}
	return line
}
