package compat

import (
	"bytes"
	"errors"
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

// matches are the places of a text in a document. They are looked for again whenever they are asked for, and never listed: a
// file can have as many as it has bytes, and their list would take many times its room.
type matches struct {
	views  []view // the document's text first, then each made of the one before; the last is what is searched
	needle []byte
	count  int
}

// span is a part of a text.
type span struct{ from, to int }

// find looks for old, counted from left to right without overlap. Where the exact text is absent, curly quotation marks
// and straight ones match each other.
func (d *document) find(old string) matches {
	needle := withoutCR([]byte(old)).text
	m := matches{views: []view{withoutCR(d.text)}, needle: needle}
	if m.count = bytes.Count(m.views[0].text, needle); m.count > 0 {
		return m
	}
	straight, marks := withStraightQuotes(needle), withStraightQuotes(m.views[0].text)
	if len(straight.cuts) == 0 && len(marks.cuts) == 0 {
		return m // There is no curly mark on either side: the two are what they were.
	}
	m.views, m.needle = append(m.views, marks), straight.text
	m.count = bytes.Count(marks.text, m.needle)
	return m
}

// each yields the matches in the document's own text, in order, none overlapping another.
func (m matches) each(yield func(span) bool) {
	searched := m.views[len(m.views)-1].text
	cursors := make([]cursor, len(m.views))
	for i, v := range m.views {
		cursors[len(m.views)-1-i].view = v
	}
	source := func(at int) int {
		for i := range cursors {
			at = cursors[i].source(at)
		}
		return at
	}
	for at := 0; ; {
		i := bytes.Index(searched[at:], m.needle)
		if i < 0 {
			return
		}
		at += i + len(m.needle)
		from := source(at - len(m.needle))
		if !yield(span{from, source(at)}) {
			return
		}
	}
}

// replace puts text at each of the matches.
func (d *document) replace(m matches, text string) error {
	put := fitting{text: d.text, first: bytes.IndexByte(d.text, '\n'), last: -1, asIs: []byte(text)}
	put.unified = withoutCR(put.asIs).text
	put.crlf = bytes.ReplaceAll(put.unified, []byte("\n"), []byte("\r\n"))
	out, done := make([]byte, 0, min(len(d.text)+m.count*len(put.crlf), maxFile)), 0
	for s := range m.each {
		piece := put.at(s.from)
		if len(out)+s.from-done+len(piece) > maxFile {
			return errTooLong
		}
		out = append(append(out, d.text[done:s.from]...), piece...)
		done = s.to
	}
	if len(out)+len(d.text)-done > maxFile {
		return errTooLong
	}
	d.text = append(out, d.text[done:]...)
	return nil
}

// fitting gives a new text the line ends that a document has at a place: those of the line before it, else of the one
// that it is on. A document of a single line has none, and takes the text as it is. It is asked in rising order, so that
// the document is read once, though all of it be one line.
type fitting struct {
	text                []byte // the document's
	first, last, looked int    // its first line end; the last one before looked; -1 if there is none
	asIs, unified, crlf []byte // the new text as it came, with \n for every \r\n, and with \r\n for every line end
}

func (f *fitting) at(place int) []byte {
	if i := bytes.LastIndexByte(f.text[f.looked:place], '\n'); i >= 0 {
		f.last = f.looked + i
	}
	f.looked = place
	i := f.last
	if i < 0 {
		i = f.first
	}
	switch {
	case len(f.crlf) == len(f.unified): // It has no line end.
		return f.unified
	case i < 0:
		return f.asIs
	case i > 0 && f.text[i-1] == '\r':
		return f.crlf
	}
	return f.unified
}

// view is a text in which single bytes stand for longer runs of another.
type view struct {
	text []byte
	cuts []int32 // the places in text of the bytes that stand for longer runs, in order; a file has fewer than 2 GB
	cut  int     // how many bytes each of those was longer
}

// cursor finds the places of a view in its source. It is asked in rising order.
type cursor struct {
	view   view
	passed int // cuts before the place that was asked for last
}

// source is the place in the source that a place in the view was. A place before a byte that stands for a run is before the
// run.
func (c *cursor) source(i int) int {
	for c.passed < len(c.view.cuts) && int(c.view.cuts[c.passed]) < i {
		c.passed++
	}
	return i + c.view.cut*c.passed
}

// withoutCR views a text with \n for every \r\n.
func withoutCR(b []byte) view {
	n := bytes.Count(b, []byte("\r\n"))
	if n == 0 {
		return view{text: b}
	}
	v := view{text: make([]byte, 0, len(b)-n), cuts: make([]int32, 0, n), cut: 1}
	for {
		i := bytes.Index(b, []byte("\r\n"))
		if i < 0 {
			v.text = append(v.text, b...)
			return v
		}
		v.text = append(v.text, b[:i]...)
		v.cuts = append(v.cuts, int32(len(v.text)))
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
			v.cuts = append(v.cuts, int32(len(v.text)))
			v.text = append(v.text, straight)
		}
		b = b[i+3:]
	}
	v.text = append(v.text, b...)
	return v
}
