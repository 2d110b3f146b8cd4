package compat

import (
	"bytes"
	"errors"
	"sort"
)

// document is the text of a file under edits. Line ends are matched as \n, whatever the file has, and what is put in gets
// those of its neighbours: so a file keeps its line ends through every edit, mixed ones too, and no byte outside a match
// changes.
type document struct {
	encoding encoding
	text     []byte // UTF-8, with the file's own line ends, without a byte order mark
}

// maxFile bounds a file that is edited, and what an edit makes of it, in bytes (D27).
const maxFile = 64 << 20

var errTooLong = errors.New("the result would be too long")

// encode is the bytes of the file.
func (d *document) encode() []byte { return d.encoding.encode(d.text) }

// isBlank says whether there is nothing but white space.
func (d *document) isBlank() bool { return len(bytes.TrimSpace(d.text)) == 0 }

// matches are the places of a text in a document.
type matches struct {
	at   []span // in the document's own text, in order, none overlapping another
	size int    // bytes that are not of a match
}

// span is a part of a text.
type span struct{ from, to int }

// find looks for old, counted from left to right without overlap. Where the exact text is absent, curly quotation marks
// and straight ones match each other.
func (d *document) find(old string) matches {
	views := []view{withoutCR(d.text)}
	needle := withoutCR([]byte(old)).text
	if m := d.findIn(views, needle); len(m.at) > 0 {
		return m
	}
	straight := withStraightQuotes(needle)
	views = append(views, withStraightQuotes(views[0].text))
	if len(straight.cuts) == 0 && len(views[1].cuts) == 0 {
		return matches{} // There is no curly mark on either side: the two are what they were.
	}
	return d.findIn(views, straight.text)
}

// findIn looks into the last of the views, each of which was made of the text of the one before.
func (d *document) findIn(views []view, needle []byte) matches {
	last := views[len(views)-1]
	m := matches{size: len(d.text)}
	for at := 0; ; {
		i := bytes.Index(last.text[at:], needle)
		if i < 0 {
			return m
		}
		s := span{at + i, at + i + len(needle)}
		at = s.to
		for v := len(views) - 1; v >= 0; v-- {
			s = span{views[v].source(s.from), views[v].source(s.to)}
		}
		m.at = append(m.at, s)
		m.size -= s.to - s.from
	}
}

// replace puts text at each of the matches.
func (d *document) replace(m matches, text string) error {
	pieces, total := make([][]byte, len(m.at)), m.size
	unified := withoutCR([]byte(text)).text
	for i, s := range m.at {
		pieces[i] = d.fitted(text, unified, s)
		if total += len(pieces[i]); total > maxFile {
			return errTooLong
		}
	}
	out, done := make([]byte, 0, total), 0
	for i, s := range m.at {
		out = append(append(out, d.text[done:s.from]...), pieces[i]...)
		done = s.to
	}
	d.text = append(out, d.text[done:]...)
	return nil
}

// fitted is the text with the line ends that the document has at a place: those of the line before it, else of the one
// that it is on. A document of a single line has none, and takes the text as it is.
func (d *document) fitted(text string, unified []byte, at span) []byte {
	if bytes.IndexByte(unified, '\n') < 0 {
		return unified
	}
	i := bytes.LastIndexByte(d.text[:at.from], '\n')
	if i < 0 {
		if i = bytes.IndexByte(d.text[at.from:], '\n'); i < 0 {
			return []byte(text)
		}
		i += at.from
	}
	if i > 0 && d.text[i-1] == '\r' {
		return bytes.ReplaceAll(unified, []byte("\n"), []byte("\r\n"))
	}
	return unified
}

// view is a text in which single bytes stand for longer runs of another.
type view struct {
	text []byte
	cuts []int // the places in text of the bytes that stand for longer runs, in order
	cut  int   // how many bytes each of those was longer
}

// source is the place in the source that a place in the view was. A place before a byte that stands for a run is before the
// run.
func (v view) source(i int) int {
	return i + v.cut*sort.Search(len(v.cuts), func(k int) bool { return v.cuts[k] >= i })
}

// withoutCR views a text with \n for every \r\n.
func withoutCR(b []byte) view {
	if !bytes.Contains(b, []byte("\r\n")) {
		return view{text: b}
	}
	v := view{text: make([]byte, 0, len(b)), cut: 1}
	for {
		i := bytes.Index(b, []byte("\r\n"))
		if i < 0 {
			v.text = append(v.text, b...)
			return v
		}
		v.text = append(v.text, b[:i]...)
		v.cuts = append(v.cuts, len(v.text))
		v.text = append(v.text, '\n')
		b = b[i+2:]
	}
}

// withStraightQuotes views a text with ' and " for the curly marks, each of which is three bytes long.
func withStraightQuotes(b []byte) view {
	const lead = "\xe2\x80"
	v := view{cut: 2}
	for {
		i := bytes.Index(b, []byte(lead))
		if i < 0 || i+2 >= len(b) {
			break
		}
		v.text = append(v.text, b[:i]...)
		var straight byte
		switch b[i+2] {
		case 0x98, 0x99:
			straight = '\''
		case 0x9c, 0x9d:
			straight = '"'
		}
		if straight == 0 {
			v.text = append(v.text, b[i:i+3]...)
		} else {
			v.cuts = append(v.cuts, len(v.text))
			v.text = append(v.text, straight)
		}
		b = b[i+3:]
	}
	v.text = append(v.text, b...)
	return v
}
