package search

import "unicode/utf8"

// maxShown is how many characters of a line are shown (D16). A longer one is cut around where its first match ends.
const maxShown = 2000

const ellipsis = "…"

// Line is a line of an answer.
type Line struct {
	Number int    // from 1
	Text   string // without its end; cut to 2,000 characters, with … where something is left out
	Match  bool   // else it is there for context
}

// File is what a file adds to an answer.
type File struct {
	Path  string // from the searched location; empty if that is the file
	Lines []Line // in their order
}

// shown is a line as it is printed. at is the byte at which its first match ends, and 0 for a line of context.
func shown(line []byte, at int) string {
	if len(line) <= maxShown || forward(line, 0, maxShown) == len(line) {
		return string(line)
	}
	start := back(line, at, maxShown/2)
	end := forward(line, start, maxShown)
	return cut(line[start:end], start > 0, end < len(line))
}

func cut(text []byte, before, after bool) string {
	s := string(text)
	if before {
		s = ellipsis + s
	}
	if after {
		s += ellipsis
	}
	return s
}

// back returns the place n characters before at, or the beginning.
func back(b []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(b[:at])
		at -= size
	}
	return at
}

// forward returns the place n characters after at, or the end.
func forward(b []byte, at, n int) int {
	for ; n > 0 && at < len(b); n-- {
		_, size := utf8.DecodeRune(b[at:])
		at += size
	}
	return at
}
