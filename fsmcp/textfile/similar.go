package textfile

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// The most similar region of a text: the one that shares the most groups of three neighbouring bytes with the text that
// was looked for, white space left out of both. A window as long as that text slides over the file, and the number of
// shared groups is kept up to date as one enters and one leaves, so the file is read once whatever is looked for.

const (
	groupSize = 3
	// groupKinds is the size of the table of groups, small enough to stay in a core's cache. Groups that fall together
	// make a region look a little more similar than it is.
	groupKinds = 1 << 16
	// longestLookedFor is how much of a text is looked for, in bytes: its beginning is enough to tell where it is,
	// and the table would fill up.
	longestLookedFor = 4096
)

// alike shows the region of the text most similar to old, if that has half of its groups.
func (n *nearest) alike(old []byte) string {
	needle, text := squeeze(old), n.withoutSpace()
	needle = needle[:min(len(needle), longestLookedFor)]
	start, end := mostShared(text, needle)
	if start == end {
		return ""
	}
	w := walker{text: n.part}
	start, end = w.seek(start), w.seek(end-1)+1
	start, end = fitLines(n.part, start, end, bytes.Count(bytes.TrimSpace(old), []byte("\n"))+1)
	return "The most similar text is this. " + n.show(start, end)
}

// mostShared returns the first window of text, of needle's length, that shares the most groups with needle, without
// what is unlike needle at its ends; or an empty one if that is fewer than half of needle's groups, or than two.
func mostShared(text, needle []byte) (start, end int) {
	groups := len(needle) - groupSize + 1
	if groups < 2 || len(text) < groupSize {
		return 0, 0
	}
	var wanted [groupKinds]int32 // how many of each kind needle has
	for i := range groups {
		wanted[kind(needle[i:])]++
	}
	missing := wanted // how many of each kind the window lacks; below zero where it has too many
	shared, best := 0, max(2, (groups+1)/2)-1
	for i := range len(text) - groupSize + 1 {
		if i >= groups {
			k := kind(text[i-groups:])
			missing[k]++
			if missing[k] > 0 {
				shared--
			}
		}
		k := kind(text[i:])
		if missing[k] > 0 {
			shared++
		}
		missing[k]--
		if shared > best {
			best, start, end = shared, max(0, i-groups+1), i+groupSize
		}
	}
	if start == end {
		return 0, 0
	}
	// The first of several equal windows may begin too early: it slides to where the likeness begins.
	for wanted[kind(text[start:])] == 0 {
		start++
	}
	end = min(len(text), start+len(needle))
	for wanted[kind(text[end-groupSize:])] == 0 {
		end--
	}
	return start, end
}

// kind is the place of the group at the start of b in the table: the upper bits of a product with 2³² over the golden
// ratio, which depend on all bits of the group.
func kind(b []byte) uint32 {
	return (uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16) * 2654435769 >> 16
}

// fitLines makes a region touch so many lines. One that touches more is shortened at whichever end has less of it; one
// that touches fewer goes on, as far as the text does.
func fitLines(text []byte, start, end, lines int) (int, int) {
	have := bytes.Count(text[start:end], []byte("\n")) + 1
	for ; have > lines; have-- {
		first := bytes.IndexByte(text[start:end], '\n') + 1
		last := bytes.LastIndexByte(text[start:end], '\n')
		if first <= end-start-last {
			start += first
		} else {
			end = start + last
		}
	}
	for ; have < lines; have++ {
		next := endOfLine(text, end) + 1
		if next >= len(text) {
			break
		}
		end = endOfLine(text, next)
	}
	return start, end
}

// squeeze returns b without white space and without the invisible characters that pass for it.
func squeeze(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		blank, size := blankAt(b[i:])
		if !blank {
			out = append(out, b[i:i+size]...)
		}
		i += size
	}
	return out
}

func (n *nearest) withoutSpace() []byte {
	if n.squeezed == nil {
		n.squeezed = squeeze(n.part)
	}
	return n.squeezed
}

// blankAt reports whether b starts with white space, and how many bytes its first character has.
func blankAt(b []byte) (blank bool, size int) {
	if c := b[0]; c < utf8.RuneSelf {
		return c == ' ' || '\t' <= c && c <= '\r', 1
	}
	r, size := utf8.DecodeRune(b)
	return isBlank(r), size
}

func isBlank(r rune) bool {
	const zeroWidthSpace, wordJoiner, zeroWidthNoBreakSpace = '\u200b', '\u2060', '\ufeff'
	return unicode.IsSpace(r) || r == zeroWidthSpace || r == wordJoiner || r == zeroWidthNoBreakSpace
}

// walker finds, for places in squeezed text, the places in the text itself.
type walker struct {
	text           []byte
	at, atSqueezed int
}

// seek returns where the byte at place i of the squeezed text is. It must not be asked for a lower one later.
func (w *walker) seek(i int) int {
	for {
		blank, size := blankAt(w.text[w.at:])
		switch {
		case blank:
		case i < w.atSqueezed+size:
			return w.at + i - w.atSqueezed
		default:
			w.atSqueezed += size
		}
		w.at += size
	}
}
