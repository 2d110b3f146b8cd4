package repomap

import (
	"bytes"
	"unicode/utf8"
)

// What a file may cost. A file that is over is left out and counted.
const (
	// maxFile is the size of the largest file that is read, in bytes.
	maxFile = 1 << 20
	// maxNesting is how deep brackets may be nested. At 100,000 levels of "{a:" the parsers of JavaScript and TypeScript
	// overflow a thread's stack of 8 MiB, which ends the process; with a stack of 128 KiB, as musl gives its threads,
	// 1,500 levels do. The deepest of 50,000 real files was 436.
	maxNesting = 1000
)

// isText says whether a file is UTF-8 text.
func isText(b []byte) bool {
	return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0
}

// isTooNested says whether a text nests brackets deeper than maxNesting. Brackets in strings and comments count too: a
// look that tells them apart would have to know the language, and be as safe against its text as this one is.
func isTooNested(text []byte) bool {
	depth := 0
	for _, b := range text {
		switch b {
		case '(', '[', '{':
			if depth++; depth > maxNesting {
				return true
			}
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return false
}
