package textfile

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// clusters answers where the grapheme clusters of b begin and end, looking only at the neighbourhood of the question:
// an edit of a large file asks at a handful of places.
//
// A look back ends at a place that is a boundary whatever stands before it, and segmentation that starts afresh at any
// boundary agrees with segmentation from the start of the text. Which places those are: the rules of Unicode's Annex 29
// look at the two neighbouring characters alone, save three. Those for emoji and for Indic conjuncts have an extending
// character (a joiner, a virama) on the left, and that for flags a pair of regional indicators, which does not break
// when it stands by itself. So two characters that break by themselves, the left of them not extending, always break.
//
// The last cluster found is kept, and no look back passes its end. Asked in rising order, as the search does, it reads
// every byte at most twice even where one cluster is as long as the file.
type clusters struct {
	b          []byte
	start, end int // the last cluster found
}

// isBoundary reports whether i, where a character must start, is where a cluster starts or the end of the text. If it
// is not, c.end is the end of the cluster that i lies in.
func (c *clusters) isBoundary(i int) bool {
	if i <= 0 || i >= len(c.b) {
		return true
	}
	if i < c.start {
		c.start, c.end = 0, 0
	}
	if i < c.end {
		return i == c.start
	}
	at := c.lookBack(i)
	for at < i {
		cluster, _, _, _ := uniseg.FirstGraphemeCluster(c.b[at:], -1)
		c.start, c.end = at, at+len(cluster)
		at = c.end
	}
	return at == i
}

// lookBack returns a boundary at or before i: the nearest certain one, or the end of the last cluster found.
func (c *clusters) lookBack(i int) int {
	for i > c.end {
		_, n := utf8.DecodeLastRune(c.b[:i])
		if alwaysBreaks(c.b[i-n:], n) {
			return i
		}
		i -= n
	}
	return c.end
}

// alwaysBreaks reports whether there is a boundary after the first character of b, n bytes long, whatever precedes it.
func alwaysBreaks(b []byte, n int) bool {
	left, right := b[0], b[n]
	if left < utf8.RuneSelf && right < utf8.RuneSelf {
		return left != '\r' || right != '\n'
	}
	l, _ := utf8.DecodeRune(b)
	r, m := utf8.DecodeRune(b[n:])
	if isSelfContained(l) && isSelfContained(r) {
		return true
	}
	return breaksAfter(b[:n+m], n) && !isExtending(b[:n])
}

// isSelfContained reports whether r is one of the many characters of which any two neighbours are two clusters. The
// list need not be complete: it spares most texts the question to uniseg, which takes a hundred times as long.
func isSelfContained(r rune) bool {
	switch {
	case ' ' <= r && r <= '~', 0xC0 <= r && r < 0x300: // ASCII, Latin
		return true
	case 0x370 <= r && r < 0x378, 0x384 <= r && r < 0x483: // Greek, Cyrillic
		return true
	case 0x2010 <= r && r < 0x2028: // dashes and quotation marks
		return true
	case 0x3000 <= r && r < 0x302A, 0x3041 <= r && r < 0x3097: // ideographic punctuation, Hiragana
		return true
	case 0x30A0 <= r && r < 0x3100, 0x4E00 <= r && r < 0xA000: // Katakana, ideographs
		return true
	}
	return 0xAC00 <= r && r < 0xD7A4 || 0xFF01 <= r && r < 0xFF61 // Hangul syllables, wide forms
}

// breaksAfter reports whether the two characters of b, the first n bytes long, are two clusters when alone.
func breaksAfter(b []byte, n int) bool {
	cluster, _, _, _ := uniseg.FirstGraphemeCluster(b, -1)
	return len(cluster) == n
}

// isExtending reports whether the character r belongs to the cluster of a letter before it.
func isExtending(r []byte) bool {
	var b [1 + utf8.UTFMax]byte
	b[0] = 'x'
	return !breaksAfter(b[:1+copy(b[1:], r)], 1)
}
