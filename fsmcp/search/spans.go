package search

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// spans is a set of bytes as a few ranges of ASCII characters, looked for eight bytes at a time with plain arithmetic: a
// byte below 0x80 plus 0x80-lo has its highest bit set if it is at least lo, and plus 0x7f-hi if it is above hi, and no sum
// overflows into the next byte.
type spans struct {
	few    bool // whether there are few enough
	n      int
	above  [mostSpans]uint64 // 0x80-lo in each byte
	beyond [mostSpans]uint64 // 0x7f-hi in each byte
	high   uint64            // 0x80 in each byte if any byte that is not ASCII belongs to the set
}

const (
	mostSpans = 3
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

func newSpans(in *[256]uint8) spans {
	var s spans
	for lo := 0; lo < utf8.RuneSelf; lo++ {
		if in[lo] == 0 {
			continue
		}
		hi := lo
		for hi+1 < utf8.RuneSelf && in[hi+1] != 0 {
			hi++
		}
		if s.n == mostSpans {
			return spans{}
		}
		s.above[s.n], s.beyond[s.n] = uint64(0x80-lo)*everyByte, uint64(0x7f-hi)*everyByte
		s.n++
		lo = hi
	}
	for _, is := range in[utf8.RuneSelf:] {
		if is != 0 {
			s.high = highBits
		}
	}
	s.few = true
	return s
}

// skip returns a place at or after i before which no byte of the set stands: the next one, or one near the end of b. Of
// bytes that are not ASCII, all count as soon as one does.
func (s *spans) skip(b []byte, i int) int {
	above, beyond := s.above[0], s.beyond[0]
	for ; len(b)-i >= 8; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		ascii := w &^ highBits
		in := (ascii + above) &^ (ascii + beyond)
		for k := 1; k < s.n; k++ {
			in |= (ascii + s.above[k]) &^ (ascii + s.beyond[k])
		}
		if in = (in&^w | w&s.high) & highBits; in != 0 {
			return i + bits.TrailingZeros64(in)/8
		}
	}
	return i
}
