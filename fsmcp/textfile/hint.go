package textfile

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Nearest says, for an edit whose old text is not in t, what the caller may have meant: a short paragraph, with a few
// lines of the file where they help, or nothing where nothing is close. The new text serves to notice that the edit
// was made already. The answer depends on the arguments alone. Of a large file, only a part is looked at for what is not
// the old text byte for byte.
//
// It is only ever words. An edit that acted on a near miss would have to guess at the indentation, or at which of
// several places was meant.
func Nearest(t Text, old, new string) string {
	if old == "" || !utf8.ValidString(old) || !utf8.ValidString(new) {
		return ""
	}
	from, _ := normalize([]byte(old))
	to, _ := normalize([]byte(new))
	n := nearest{text: t.body()}
	n.from, n.part = likelyPart(n.text, from)
	hint := n.slip(from)
	if hint == "" {
		hint = n.alike(from[:min(len(from), mostLookedAt)])
	}
	if made := n.alreadyThere(to); made != "" {
		return strings.TrimSpace(made + " " + hint)
	}
	return hint
}

// nearest looks in a text for something like a text that is not in it.
type nearest struct {
	text     []byte
	part     []byte // of text, the part that is looked at closely
	from     int    // where the part begins
	squeezed []byte // the part without its white space; nil until needed
}

// show shows a region of the part.
func (n *nearest) show(start, end int) string { return show(n.text, n.from+start, n.from+end) }

// slip looks for old with one of the slips by which a text copied from an answer of ours comes back changed.
func (n *nearest) slip(old []byte) string {
	const drop = "The old text still has the line numbers of a windowed read: drop the number and the tab before each line."
	plain, numbered := withoutNumbers(old)
	if numbered && n.has(plain) {
		return drop
	}
	if uncut := bytes.Trim(old, "…"); len(uncut) < len(old) && n.has(uncut) {
		return "The … in the old text is a mark for where a long line was cut when it was shown: leave it out."
	}
	if hint := n.nearlySame(old); hint != "" {
		return hint
	}
	if numbered {
		if hint := n.nearlySame(plain); hint != "" {
			return drop + " " + hint
		}
	}
	return ""
}

// nearlySame looks for old with other line ends, inside larger characters, with other white space, or in other case.
func (n *nearest) nearlySame(old []byte) string {
	looks := []func([]byte) string{n.lineEnds, n.insideCharacters, n.spacing, n.letterCase}
	if len(old) > mostLookedAt {
		looks = looks[:2]
	}
	for _, look := range looks {
		if hint := look(old); hint != "" {
			return hint
		}
	}
	return ""
}

// has reports whether an edit would find old.
func (n *nearest) has(old []byte) bool {
	if len(old) > 0 {
		for range matches(fewAsked(), n.text, old) {
			return true
		}
	}
	return false
}

// fewAsked ends a search for matches after the first few thousand occurrences that are none: a file can be full of a
// letter that always has an accent.
func fewAsked() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// withoutNumbers removes a line number and its tab from the start of every line. The first line may be without one,
// as it is when the copy began in the middle of that line.
func withoutNumbers(old []byte) (plain []byte, ok bool) {
	lines := bytes.SplitAfter(old, []byte("\n"))
	numbered := 0
	for i, line := range lines {
		digits := bytes.TrimLeft(line, " ")
		rest := bytes.TrimLeft(digits, "0123456789")
		text, tab := bytes.CutPrefix(rest, []byte("\t"))
		switch {
		case tab && len(rest) < len(digits):
			plain = append(plain, text...)
			numbered++
		case i == 0 || len(line) == 0:
			plain = append(plain, line...)
		default:
			return nil, false
		}
	}
	return plain, numbered > 0
}

func (n *nearest) lineEnds(old []byte) string {
	lf := bytes.ReplaceAll(old, []byte("\r\n"), []byte("\n"))
	crlf := bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n"))
	const other = `The old text is there but for its line ends: the file has %s, the old text has %s. `
	switch {
	case !bytes.Equal(crlf, old) && n.has(crlf):
		return fmt.Sprintf(other, `\r\n`, `\n`) + `Send \r\n (a whole read, without offset and limit, shows it).`
	case !bytes.Equal(lf, old) && n.has(lf):
		return fmt.Sprintf(other, `\n`, `\r\n`) + `Send \n.`
	}
	return ""
}

// insideCharacters finds old where its bytes are, but not as whole characters.
func (n *nearest) insideCharacters(old []byte) string {
	i := bytes.Index(n.text, old)
	if i < 0 {
		return ""
	}
	return fmt.Sprintf(`On line %d the old text is only a part of larger characters (a letter with its accent, an emoji `+
		`of several parts, or a \r\n): quote the whole of the first and the last character.`, lineNumber(n.text, i))
}

// spacing finds old where everything but white space is the same. A place made of whole lines is preferred to one
// inside a line, which for a very short text says nothing.
func (n *nearest) spacing(old []byte) string {
	const (
		tooShort = 3    // bytes
		enough   = 1000 // places to look at
	)
	needle := squeeze(old)
	if len(needle) == 0 {
		return ""
	}
	text := n.withoutSpace()
	w := walker{text: n.part}
	start, end, from := -1, -1, 0
	for range enough {
		i := bytes.Index(text[from:], needle)
		if i < 0 {
			break
		}
		s, e := w.seek(from+i), w.seek(from+i+len(needle)-1)+1
		if isWholeLines(n.part, s, e) {
			return n.spacingAt(old, s, e)
		}
		if start < 0 && len(needle) >= tooShort {
			start, end = s, e
		}
		from += i + len(needle)
	}
	if start < 0 {
		return ""
	}
	return n.spacingAt(old, start, end)
}

func (n *nearest) spacingAt(old []byte, start, end int) string {
	what := ""
	here := bytes.ContainsRune(n.part[lineStart(n.part, start):end], '\t')
	switch there := bytes.ContainsRune(old, '\t'); {
	case here && !there:
		what = ": the file has tabs, the old text has none"
	case there && !here:
		what = ": the old text has tabs, the file has none here"
	}
	return "The nearest text differs only in white space" + what + ". " + n.show(start, end)
}

func (n *nearest) letterCase(old []byte) string {
	needle := lower(old)
	i := bytes.Index(lower(n.part), needle)
	if i < 0 {
		return ""
	}
	return "The nearest text differs only in upper and lower case. " + n.show(i, i+len(needle))
}

// alreadyThere says where the new text is. A short one must be there once only, and as whole lines: many a "return nil"
// is in a file where the edit was never made.
func (n *nearest) alreadyThere(new []byte) string {
	const telling = 16 // bytes
	size := len(squeeze(new))
	if size == 0 {
		return ""
	}
	count, first := 0, 0
	for at := range matches(fewAsked(), n.text, new) {
		if count++; count > 1 {
			break
		}
		first = at
	}
	if count == 0 || size < telling && (count > 1 || !isWholeLines(n.text, first, first+len(new))) {
		return ""
	}
	return fmt.Sprintf("The new text is there already, on line %d: this edit may have been made before.", lineNumber(n.text, first))
}

// lower folds the case of letters in place of one another: a letter whose other case is longer or shorter stays, so
// that every place in the result is the same place in b.
func lower(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		if c := b[0]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			out = append(out, c)
			b = b[1:]
			continue
		}
		r, size := utf8.DecodeRune(b)
		if l := unicode.ToLower(r); utf8.RuneLen(l) == size {
			r = l
		}
		out = utf8.AppendRune(out, r)
		b = b[size:]
	}
	return out
}
