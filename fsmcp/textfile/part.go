package textfile

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// mostLookedAt is how many bytes of a file, and of an old text, are looked at for a likeness. That takes some 30 ns a byte,
// and a second for a hint would be too long.
const mostLookedAt = 4 << 20

// likelyPart is the part of a large text in which something like old is most likely: around what is there of old as it is,
// and else at the beginning.
func likelyPart(text, old []byte) (from int, part []byte) {
	if len(text) <= mostLookedAt {
		return 0, text
	}
	if i := landmark(text, old[:min(len(old), longestLookedFor)]); i >= 0 {
		from = min(max(0, i-mostLookedAt/2), len(text)-mostLookedAt)
	}
	to := from + mostLookedAt
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	return from, text[from:to]
}

// landmark is where one of the longest lines of old is in the text, else one of its longest words, or -1.
func landmark(text, old []byte) int {
	const (
		lookedFor = 3 // lines, and words, of which each may take a look at the whole text
		telling   = 4 // bytes, fewer of which are everywhere
	)
	lines := bytes.Split(old, []byte("\n"))
	for i := range lines {
		lines[i] = bytes.TrimSpace(lines[i])
	}
	for _, pieces := range [][][]byte{lines, bytes.Fields(old)} {
		slices.SortStableFunc(pieces, func(a, b []byte) int { return len(b) - len(a) })
		for _, piece := range pieces[:min(len(pieces), lookedFor)] {
			if len(piece) < telling {
				break
			}
			if i := bytes.Index(text, piece); i >= 0 {
				return i
			}
		}
	}
	return -1
}
