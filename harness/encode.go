package harness

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"io"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// sendBuffer is how much is encoded before it is written. An answer that fits, as nearly every one does, is one write; a
// longer one flows through the same buffer, so that it costs no memory of its own. It is what a pipe holds on Linux: a
// reader can work on one half of a long answer while the other is being encoded.
const sendBuffer = 64 << 10

// encoder writes JSON. Its methods put out what they are given one after the other; after an error they do nothing. It is
// for one goroutine at a time.
type encoder struct {
	out io.Writer
	buf []byte // with a capacity of sendBuffer
	err error
}

func newEncoder(out io.Writer) *encoder { return &encoder{out: out, buf: make([]byte, 0, sendBuffer)} }

// raw puts out what is JSON already.
func (e *encoder) raw(s string) {
	for len(s) > cap(e.buf)-len(e.buf) {
		n := cap(e.buf) - len(e.buf)
		e.buf = append(e.buf, s[:n]...)
		s = s[n:]
		e.flush()
	}
	e.buf = append(e.buf, s...)
}

// bytes puts out what is JSON already.
func (e *encoder) bytes(b []byte) {
	for len(b) > cap(e.buf)-len(e.buf) {
		n := cap(e.buf) - len(e.buf)
		e.buf = append(e.buf, b[:n]...)
		b = b[n:]
		e.flush()
	}
	e.buf = append(e.buf, b...)
}

// base64 puts out bytes as a JSON string of their Base64 encoding.
func (e *encoder) base64(data []byte) {
	const piece = 3 << 10 // Only the last piece may be filled up, so the others are of whole groups.
	e.raw(`"`)
	for len(data) > 0 {
		part := data[:min(len(data), piece)]
		data = data[len(part):]
		if cap(e.buf)-len(e.buf) < base64.StdEncoding.EncodedLen(piece) {
			e.flush()
		}
		e.buf = base64.StdEncoding.AppendEncode(e.buf, part)
	}
	e.raw(`"`)
}

// flush writes what has been put out so far.
func (e *encoder) flush() {
	if e.err == nil {
		_, e.err = e.out.Write(e.buf)
	}
	e.buf = e.buf[:0]
}

// str puts out a text as a JSON string. What is not UTF-8 in it becomes U+FFFD.
//
// Only what JSON asks for is escaped, and two characters more: U+2028 and U+2029, at which some readers of lines end a
// line, and a message would fall apart there.
func (e *encoder) str(s string) {
	e.raw(`"`)
	rest := unsafe.Slice(unsafe.StringData(s), len(s)) // to be read only
	for len(rest) > 0 && e.err == nil {
		if cap(e.buf)-len(e.buf) < sendBuffer/4 {
			e.flush()
		}
		free := e.buf[len(e.buf):cap(e.buf)]
		piece := wholeCharacters(rest, len(free)/longestEscape-8)
		e.buf = e.buf[:len(e.buf)+escape(free, piece)]
		rest = rest[len(piece):]
	}
	e.raw(`"`)
}

// longestEscape is how many bytes one byte can become.
const longestEscape = len(`\u0000`)

// wholeCharacters returns at most limit bytes of text, and does not end within a character.
func wholeCharacters(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	for n := limit; n > limit-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			return text[:n]
		}
	}
	return text[:limit] // These bytes are no character anyway.
}

// escape writes to dst what stands for src inside a JSON string, and returns its length. In dst there must be room for
// the longest escape for each byte, and for eight bytes more.
//
// Eight bytes are copied at once, be some of them no plain text: what stands for these is then written over them. Whether
// characters beyond ASCII need a second look is asked once for all.
func escape(dst, src []byte) int {
	var suspect uint64
	if !utf8.Valid(src) || bytes.Contains(src, []byte("\u2028")) || bytes.Contains(src, []byte("\u2029")) {
		suspect = tops
	}
	d, i := 0, 0
	for i < len(src) {
		if len(src)-i >= 8 {
			x := binary.LittleEndian.Uint64(src[i:])
			binary.LittleEndian.PutUint64(dst[d:], x)
			found := special(x) | x&suspect
			if found == 0 {
				d, i = d+8, i+8
				continue
			}
			n := bits.TrailingZeros64(found) / 8
			d, i = d+n, i+n
		}
		switch c := src[i]; {
		case c < ' ' || c == '"' || c == '\\':
			d += escapeASCII(dst[d:], c)
			i++
		case c >= utf8.RuneSelf && suspect != 0:
			r, size := utf8.DecodeRune(src[i:])
			d += escapeWide(dst[d:], r)
			i += size
		default: // near the end, where no eight bytes are left
			dst[d] = c
			d, i = d+1, i+1
		}
	}
	return d
}

// escapeASCII writes the escape of one character and returns its length.
func escapeASCII(dst []byte, c byte) int {
	const hex = "0123456789abcdef"
	const controls = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu"
	dst[0], dst[1] = '\\', c
	if c >= ' ' {
		return 2
	}
	dst[1] = controls[c]
	if dst[1] != 'u' {
		return 2
	}
	dst[2], dst[3], dst[4], dst[5] = '0', '0', hex[c>>4], hex[c&0xf]
	return longestEscape
}

// escapeWide writes what stands for one character beyond ASCII and returns its length. What could not be decoded has
// become U+FFFD already.
func escapeWide(dst []byte, r rune) int {
	switch r {
	case '\u2028':
		return copy(dst, `\u2028`)
	case '\u2029':
		return copy(dst, `\u2029`)
	default:
		return utf8.EncodeRune(dst, r)
	}
}
