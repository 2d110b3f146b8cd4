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

// batch is how many bytes are normalised together, because each call of norm allocates.
const batch = 4096

// normalize returns b in NFC, and whether that differs from b. Where it does not, the result is b itself.
// The input must be valid UTF-8.
func normalize(b []byte) (nfc []byte, changed bool) {
	copied := 0 // b[:copied] is in nfc
	for i := skipPlain(b, 0); i < len(b); i = skipPlain(b, i) {
		_, before := utf8.DecodeLastRune(b[:i])
		start, end := i-before, skipUncertain(b, i)
		i = end
		if norm.NFC.QuickSpan(b[start:end]) == end-start {
			continue
		}
		end = skipUncertain(b, min(len(b), end+batch))
		i = end
		if fixed := recompose(b[start:end]); !bytes.Equal(fixed, b[start:end]) {
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

// recompose returns the NFC form of b, which starts and ends where segments do.
func recompose(b []byte) []byte {
	out := make([]byte, 0, len(b))
	short := 0 // the segments b[short:at] can be left to norm
	for at := 0; at < len(b); {
		n, characters := segment(b[at:])
		if characters > shortSegment {
			out = append(out, norm.NFC.Bytes(b[short:at])...)
			out = appendComposed(out, ordered(b[at:at+n]))
			short = at + n
		}
		at += n
	}
	return append(out, norm.NFC.Bytes(b[short:])...)
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
	return isPlain(b[0]) || norm.NFC.Properties(b).BoundaryBefore()
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
