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

// normalAtOnce is how many bytes are brought into their normal form between two looks at the context. Marks on one letter,
// thousands of them, are the dearest that there is: some milliseconds.
const normalAtOnce = 16 << 10

// cleaner makes what is searched out of what is read. It is used by one goroutine.
type cleaner struct {
	watch *watch
	buf   []byte // of the last text whose normal form was another
}

// clean returns whole lines of a file as they are searched: each ends in \n, but for one at the end of the file. It may
// change b, and what it returns is good until it is called again. ok is false for what is not UTF-8, and when the search
// has been cancelled.
func (c *cleaner) clean(b []byte) (text []byte, ok bool) {
	if !isASCII(b) {
		if !utf8.Valid(b) {
			return nil, false
		}
		b = c.normal(b)
	}
	return withoutCR(b), !c.watch.ended
}

// normal returns the normal form of a text, which is b itself if that is in it already.
func (c *cleaner) normal(b []byte) []byte {
	changed := false
	for from := 0; from < len(b) && !c.watch.look(); {
		part := b[from:]
		if len(part) > normalAtOnce {
			part = part[:safeEnd(part[:normalAtOnce])]
		}
		fixed := textfile.NFC(part)
		if !changed && (len(fixed) != len(part) || &fixed[0] != &part[0]) {
			changed = true
			c.buf = append(c.buf[:0], b[:from]...)
		}
		if changed {
			c.buf = append(c.buf, fixed...)
		}
		from += len(part)
	}
	if !changed {
		return b
	}
	return c.buf
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
