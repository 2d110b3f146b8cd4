package search

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"lookfirst/fsmcp/textfile"
)

// What is searched is a file's text as the other tools give it: UTF-8 in its normal form, without a byte order mark, and
// without line ends. Most files are stored so, and are found to be by two quick looks.

// binaryHead is how many bytes at the start of a file must be free of NUL for it to be text, as for read.
const binaryHead = 8192

const byteOrderMark = "\ufeff"

// clean returns whole lines of a file as they are searched: each ends in \n, but for one at the end of the file. It may
// change b. ok is false for what is not UTF-8.
func clean(b []byte) (text []byte, ok bool) {
	if !isASCII(b) {
		if !utf8.Valid(b) {
			return nil, false
		}
		b = textfile.NFC(b)
	}
	return withoutCR(b), true
}

// isASCII looks at 32 bytes at a time.
func isASCII(b []byte) bool {
	const high = 0x8080808080808080
	for len(b) >= 32 {
		if (binary.NativeEndian.Uint64(b)|binary.NativeEndian.Uint64(b[8:])|
			binary.NativeEndian.Uint64(b[16:])|binary.NativeEndian.Uint64(b[24:]))&high != 0 {
			return false
		}
		b = b[32:]
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// withoutCR takes the \r off every \r\n. One that stands elsewhere is a character of its line. It changes b.
func withoutCR(b []byte) []byte {
	to := bytes.IndexByte(b, '\r')
	if to < 0 {
		return b
	}
	for from := to; from < len(b); {
		if b[from] == '\r' && from+1 < len(b) && b[from+1] == '\n' {
			from++
		}
		n := bytes.IndexByte(b[from+1:], '\r') + 1
		if n == 0 {
			n = len(b) - from
		}
		to += copy(b[to:], b[from:from+n])
		from += n
	}
	return b[:to]
}
