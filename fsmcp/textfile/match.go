package textfile

import (
	"bytes"
	"context"
	"iter"
)

// matches yields where old occurs in b, left to right and without overlap, at grapheme boundaries: neither the \n of a
// \r\n nor a letter whose accent follows it is a match by itself. It stops early when ctx is done.
func matches(ctx context.Context, b, old []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		const asked = 4096 // occurrences between two questions to ctx
		f := finder{b: b, old: old}
		starts, ends := clusters{b: b}, clusters{b: b} // apart, because each must be asked in rising order
		n := 0
		for at := f.next(0); at >= 0; n++ {
			if n%asked == asked-1 && ctx.Err() != nil {
				return
			}
			switch {
			case hasAccent(b, at+len(old)):
				at = f.reject(at + 1)
			case !starts.isBoundary(at):
				at = f.reject(starts.end)
			case !ends.isBoundary(at + len(old)):
				at = f.reject(at + 1)
			case !yield(at):
				return
			default:
				at = f.next(at + len(old))
			}
		}
	}
}

// hasAccent reports whether there is a mark of U+0300 to U+036F at i that belongs to a letter of ASCII before it. It spares
// the question for the boundaries, which takes a microsecond, in a decomposed text: that can have such a place for every
// other byte.
func hasAccent(b []byte, i int) bool {
	if i == 0 || i+1 >= len(b) || b[i-1] < ' ' || b[i-1] > '~' {
		return false
	}
	return b[i] == 0xCC || b[i] == 0xCD && b[i+1] < 0xB0
}

// finder finds old in b, overlapping occurrences too.
//
// It uses bytes.Index, which is the fastest there is but compares the whole of old again at each occurrence. A file and
// an old text of one repeated line, or of flags, can have millions of overlapping occurrences of which none ends at a
// boundary, and then the work is the product of both lengths. So when the occurrences turned down have cost more than
// a few readings of b, it goes on by the algorithm of Knuth, Morris and Pratt, which reads every byte once.
type finder struct {
	b, old  []byte
	wasted  int     // bytes compared for occurrences that were turned down
	borders []int32 // of each prefix of old, the length of its longest proper border; nil until needed
	at      int     // b[:at] has been read
	matched int     // the last so many bytes before at are a prefix of old
}

// reject is next after an occurrence that was turned down.
func (f *finder) reject(from int) int {
	const readings = 8
	f.wasted += len(f.old)
	if f.borders == nil && f.wasted > readings*len(f.b) {
		f.borders = borders(f.old)
	}
	return f.next(from)
}

// next returns the first occurrence at or after from, which must not fall, or -1.
func (f *finder) next(from int) int {
	if f.borders == nil {
		i := bytes.Index(f.b[from:], f.old)
		if i < 0 {
			return -1
		}
		return from + i
	}
	if f.at < from {
		f.at, f.matched = from, 0
	}
	for f.at < len(f.b) {
		f.matched = extend(f.old, f.borders, f.matched, f.b[f.at])
		f.at++
		if start := f.at - len(f.old); f.matched == len(f.old) && start >= from {
			return start
		}
	}
	return -1
}

// borders returns the table of Knuth, Morris and Pratt for p.
func borders(p []byte) []int32 {
	table := make([]int32, len(p))
	matched := 0
	for i := 1; i < len(p); i++ {
		matched = extend(p, table, matched, p[i])
		table[i] = int32(matched)
	}
	return table
}

// extend returns how long a prefix of p ends with c, when matched bytes of p stand before c.
func extend(p []byte, table []int32, matched int, c byte) int {
	for matched > 0 && (matched == len(p) || p[matched] != c) {
		matched = int(table[matched-1])
	}
	if p[matched] == c {
		matched++
	}
	return matched
}
