package textfile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How lines of a file are shown in a hint: numbered, white space made visible, and never much of them.

const (
	mostLines      = 6
	mostCharacters = 200 // of a line
	leadIn         = 40  // bytes before the place of interest, in a line that is cut
)

// show returns the lines of text that the region from start to end touches.
func show(text []byte, start, end int) string {
	var b strings.Builder
	first := lineNumber(text, start)
	last := first + bytes.Count(text[start:end], []byte("\n"))
	where := fmt.Sprintf("Line %d", first)
	if last > first {
		where = fmt.Sprintf("Lines %d-%d", first, last)
	}
	b.WriteString(where + " of the file (→ is a tab, · a space, ␍ a carriage return):")
	at := lineStart(text, start)
	for line := first; line <= min(last, first+mostLines-1); line++ {
		stop := endOfLine(text, at)
		fmt.Fprintf(&b, "\n%d: %s", line, visible(text[at:stop], max(0, start-at)))
		at = min(stop+1, len(text))
	}
	if more := last - first + 1 - mostLines; more > 0 {
		fmt.Fprintf(&b, "\n(and %d more)", more)
	}
	return b.String()
}

// visible returns a line with its white space made visible. A long one is cut around the place at.
func visible(line []byte, at int) string {
	var b strings.Builder
	if utf8.RuneCount(line) > mostCharacters && at > leadIn {
		from := at - leadIn
		for !utf8.RuneStart(line[from]) {
			from--
		}
		line = line[from:]
		b.WriteString("…")
	}
	for n, r := range bytes.Runes(line[:min(len(line), utf8.UTFMax*(mostCharacters+1))]) {
		if n == mostCharacters {
			b.WriteString("…")
			break
		}
		b.WriteString(symbol(r))
	}
	return b.String()
}

// symbol is how a character is shown: what cannot be told apart by eye is given by its number.
func symbol(r rune) string {
	switch {
	case r == '\t':
		return "→"
	case r == ' ':
		return "·"
	case r == '\r':
		return "␍"
	case isBlank(r) || !unicode.IsGraphic(r):
		return fmt.Sprintf("<U+%04X>", r)
	}
	return string(r)
}

func lineNumber(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// endOfLine returns where the line that at lies in ends, before its \n.
func endOfLine(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

// isWholeLines reports whether there is only white space beside the region on its first and its last line. It looks no
// further than it must: a line may be as long as the file.
func isWholeLines(text []byte, start, end int) bool {
	for start > 0 && text[start-1] != '\n' {
		r, size := utf8.DecodeLastRune(text[:start])
		if !isBlank(r) {
			return false
		}
		start -= size
	}
	for end < len(text) && text[end] != '\n' {
		blank, size := blankAt(text[end:])
		if !blank {
			return false
		}
		end += size
	}
	return true
}
