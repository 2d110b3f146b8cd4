package textfile

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Normalisation form NFC, cheap for text that is in it already, as nearly every file is.
//
// Most characters are plain here: NFC never changes them, and they join nothing before them. All of ASCII, Latin-1, most
// of Cyrillic, Hangul and the ideographs are, and can be told by the first byte. Text from one plain character to
// another can be judged alone, so plain characters are skipped, ASCII by the word, and the norm package is asked about
// what lies between and the one character before that.
//
// A segment is a character that joins nothing before it and the characters after it that may. The norm package puts a
// U+034F into a segment of more than thirty combining characters (it implements Stream-Safe Text, not NFC alone). That
// would invent bytes and lock files with heavily stacked accents out of editing, so long segments are composed here.

// shortSegment is how many characters of a segment can never reach the thirty at which norm begins to insert: each
// counts for at most three.
const shortSegment = 8

// batch is how many bytes are normalised together once one of them had to be.
const batch = 4096

// normalize returns b in NFC, and whether that differs from b. Where it does not, the result is b itself.
// The input must be valid UTF-8.
func normalize(b []byte) (nfc []byte, changed bool) {
	copied := 0 // b[:copied] is in nfc
	var c *composer
	for i := skipPlain(b, 0); i < len(b); i = skipPlain(b, i) {
		_, before := utf8.DecodeLastRune(b[:i])
		start, end := i-before, skipUncertain(b, i)
		i = end
		if norm.NFC.QuickSpan(b[start:end]) == end-start {
			continue
		}
		end = skipUncertain(b, min(len(b), end+batch))
		i = end
		if c == nil {
			c = new(composer)
		}
		if fixed := c.recompose(b[start:end]); !bytes.Equal(fixed, b[start:end]) {
			if !changed {
				nfc = make([]byte, 0, len(b))
			}
			nfc = append(append(nfc, b[copied:start]...), fixed...)
			copied, changed = end, true
		}
	}
	if !changed {
		return b, false
	}
	return append(nfc, b[copied:]...), true
}

// isNFC reports whether normalisation leaves b, which must be valid UTF-8, as it is.
func isNFC(b []byte) bool {
	_, changed := normalize(b)
	return !changed
}

// isPlain reports whether c is the first byte of plain characters only, or not a first byte.
func isPlain(c byte) bool {
	switch {
	case c < 0xCC: // before U+0300
		return true
	case c == 0xD0, c == 0xD1: // U+0400 to U+047F, Cyrillic
		return true
	case 0xE4 <= c && c <= 0xE9: // U+4000 to U+9FFF, ideographs
		return true
	}
	return c == 0xEB || c == 0xEC // U+B000 to U+CFFF, Hangul syllables
}

// skipPlain returns the first place at or after i where a character that is not plain starts, or the length of b.
func skipPlain(b []byte, i int) int {
	const word, high = 8, 0x8080808080808080
	for i < len(b) && isPlain(b[i]) {
		for len(b)-i >= 4*word {
			w := b[i : i+4*word]
			if (binary.LittleEndian.Uint64(w)|binary.LittleEndian.Uint64(w[word:])|
				binary.LittleEndian.Uint64(w[2*word:])|binary.LittleEndian.Uint64(w[3*word:]))&high != 0 {
				break
			}
			i += 4 * word
		}
		for stop := min(len(b), i+4*word); i < stop && isPlain(b[i]); {
			i++
		}
	}
	return i
}

// skipUncertain returns the first place at or after i where a plain character starts, or the length of b.
func skipUncertain(b []byte, i int) int {
	for i < len(b) && !(isPlain(b[i]) && utf8.RuneStart(b[i])) {
		i++
	}
	return i
}

// composer composes segments. A text has few different ones, so that most are found among those that it did before: that
// makes a decomposed text four to nine times as fast. The zero value is ready for use.
type composer struct {
	out   []byte
	known [512]composed // by a hash of the segment
}

// composed is a segment and its NFC form, both of few bytes, as nearly all are.
type composed struct {
	segment, nfc [15]byte
	n, m         uint8 // their lengths; a place that was never used has none
}

// recompose returns the NFC form of b, which starts and ends where segments do. It is the composer's until the next call.
func (c *composer) recompose(b []byte) []byte {
	c.out = c.out[:0]
	for at := 0; at < len(b); {
		i := skipPlain(b, at)
		if i == len(b) {
			c.out = append(c.out, b[at:]...)
			break
		}
		_, before := utf8.DecodeLastRune(b[at:i])
		start := i - before
		c.out = append(c.out, b[at:start]...)
		n, characters := segment(b[start:])
		at = start + n
		if characters > shortSegment {
			c.out = appendComposed(c.out, ordered(b[start:at]))
		} else {
			c.appendShort(b[start:at])
		}
	}
	return c.out
}

// appendShort appends the NFC form of a segment that can be left to norm.
func (c *composer) appendShort(segment []byte) {
	if len(segment) > len(composed{}.segment) {
		c.out = norm.NFC.Append(c.out, segment...)
		return
	}
	var key [16]byte
	copy(key[:], segment)
	hash := (binary.LittleEndian.Uint64(key[:]) ^ binary.LittleEndian.Uint64(key[8:])<<1) * 0x9E3779B97F4A7C15 // 2⁶⁴ over the golden ratio
	k := &c.known[hash>>(64-9)]
	if int(k.n) == len(segment) && k.segment == [15]byte(key[:]) {
		c.out = append(c.out, k.nfc[:k.m]...)
		return
	}
	was := len(c.out)
	c.out = norm.NFC.Append(c.out, segment...)
	if nfc := c.out[was:]; len(nfc) <= len(k.nfc) {
		*k = composed{segment: [15]byte(key[:]), n: uint8(len(segment)), m: uint8(len(nfc))}
		copy(k.nfc[:], nfc)
	}
}

// segment returns the length of the first segment of b, in bytes and in characters.
func segment(b []byte) (n, characters int) {
	for n < len(b) && (n == 0 || !startsSegment(b[n:])) {
		_, size := utf8.DecodeRune(b[n:])
		n += size
		characters++
	}
	return n, characters
}

// startsSegment reports whether the first character of b joins nothing before it, whatever that is.
func startsSegment(b []byte) bool {
	const combining = 0xCC // begins U+0300 to U+033F
	return b[0] != combining && (isPlain(b[0]) || norm.NFC.Properties(b).BoundaryBefore())
}

// A part is a character that does not decompose, with its canonical combining class.
type part struct {
	r     rune
	class uint8
}

// ordered takes b apart into characters that do not decompose, in canonical order.
func ordered(b []byte) []part {
	parts := make([]part, 0, len(b)/2)
	for len(b) > 0 {
		_, size := utf8.DecodeRune(b)
		for d := norm.NFD.Bytes(b[:size]); len(d) > 0; {
			r, n := utf8.DecodeRune(d)
			parts = append(parts, part{r, norm.NFD.Properties(d).CCC()})
			d = d[n:]
		}
		b = b[size:]
	}
	for i := 0; i < len(parts); i++ {
		start := i
		for i < len(parts) && parts[i].class != 0 {
			i++
		}
		slices.SortStableFunc(parts[start:i], func(x, y part) int { return int(x.class) - int(y.class) })
	}
	return parts
}

// appendComposed appends the canonical composition of parts. A part joins the last starter unless another part of its
// own class or a higher one stands between them.
func appendComposed(out []byte, parts []part) []byte {
	composed, starter := parts[:0], -1
	for _, p := range parts {
		if last := len(composed) - 1; starter >= 0 && (last == starter || composed[last].class < p.class) {
			if r, ok := pair(composed[starter].r, p.r); ok {
				composed[starter].r = r
				continue
			}
		}
		if p.class == 0 {
			starter = len(composed)
		}
		composed = append(composed, p)
	}
	for _, p := range composed {
		out = utf8.AppendRune(out, p.r)
	}
	return out
}

// pair returns the one character that a and b compose to, if there is one.
func pair(a, b rune) (rune, bool) {
	both := utf8.AppendRune(utf8.AppendRune(make([]byte, 0, 2*utf8.UTFMax), a), b)
	composed := norm.NFC.Bytes(both)
	r, n := utf8.DecodeRune(composed)
	return r, n == len(composed)
}
