package search

import (
	"encoding/binary"
	"math/bits"
)

// A sieve stops where two bytes of a literal stand at their distance, 64 places in a step, with plain arithmetic.
// IndexByte is more than twice as quick in between, but stops at every one of its bytes; two together are so much rarer
// that a sieve is quicker where the rarest byte of a literal is no rare one. It is also blind to case, at no cost.
//
// A byte of up to 0x7f minus one has its highest bit set if it was zero. Should a zero below it borrow from it, that does
// not matter: the lowest zero of a word is the one that is asked for.
type sieve struct {
	first, second uint64 // in each byte
	mask          uint64 // the bits that count, in each byte; never the highest
	gap           int    // from the first to the second, in bytes
}

// What things cost, in stops of IndexByte, each of which takes some twenty nanoseconds, most of them for the branch that
// was not foreseen.
const (
	passOfIndex, passOfSieve = 2000, 4500 // to go over a million bytes
	// stopOfSieve is for a stop, of which there are some three times as many as if letters followed each other at random.
	stopOfSieve = 5 * 3
)

// newSieve makes a sieve for the two rarest bytes of a literal. It also returns what its stops in a million bytes can be
// expected to cost, in stops of IndexByte.
func newSieve(e end) (s *sieve, stops float64) {
	at, next := min(e.at, e.second), max(e.at, e.second)
	first, second := e.text[at], e.text[next]
	mask := byte(0x7f)
	if e.fold && (isLetter(first) || isLetter(second)) {
		mask = 0x5f
	}
	s = &sieve{first: everyByte * uint64(first), second: everyByte * uint64(second), mask: everyByte * uint64(mask), gap: next - at}
	return s, stopOfSieve * e.count(at) * e.count(next) / 1e6
}

// atOnce is how many places are looked at in a step.
const atOnce = 64

// next returns the next place of the first byte at or after i, or -1.
func (s *sieve) next(b []byte, i int) int {
	if len(b) < s.gap {
		return -1
	}
	ahead := b[s.gap:]
	b = b[:len(ahead)]
	first, second, mask := s.first, s.second, s.mask
	for ; len(ahead)-i >= atOnce; i += atOnce {
		p, q := (*[atOnce]byte)(b[i:]), (*[atOnce]byte)(ahead[i:])
		in := sift(word(p[0:])^first, word(q[0:])^second, mask)
		in |= sift(word(p[8:])^first, word(q[8:])^second, mask)
		in |= sift(word(p[16:])^first, word(q[16:])^second, mask)
		in |= sift(word(p[24:])^first, word(q[24:])^second, mask)
		in |= sift(word(p[32:])^first, word(q[32:])^second, mask)
		in |= sift(word(p[40:])^first, word(q[40:])^second, mask)
		in |= sift(word(p[48:])^first, word(q[48:])^second, mask)
		in |= sift(word(p[56:])^first, word(q[56:])^second, mask)
		if in&highBits != 0 {
			break
		}
	}
	for ; len(ahead)-i >= 8; i += 8 {
		if in := sift(word(b[i:])^first, word(ahead[i:])^second, mask) & highBits; in != 0 {
			return i + bits.TrailingZeros64(in)/8
		}
	}
	for ; i < len(ahead); i++ {
		if sift(uint64(b[i])^first, uint64(ahead[i])^second, mask)&0x80 != 0 {
			return i
		}
	}
	return -1
}

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// sift has the highest bit set of the lowest byte in which neither p nor q has one that counts, and of none below.
func sift(p, q, mask uint64) uint64 { return (p|q)&mask - everyByte }
