package textfile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"unicode/utf8"
)

// MaxResult is the largest file, in bytes, that Replace makes: replacing every comma can multiply a file. // D27
const MaxResult = 64 << 20

// What Replace refuses. None of them changes anything.
var (
	// ErrEmptyOld: nothing is a position, not a match.
	ErrEmptyOld = errors.New("the old text is empty")
	// ErrSame also stands for texts that differ only in normalisation form: the edit would change nothing.
	ErrSame = errors.New("the old and the new text are the same")
	// ErrInvalidUTF8 is about the old or the new text. One of the file's is ErrNotText, of Decode.
	ErrInvalidUTF8 = errors.New("the old or the new text is not valid UTF-8")
	// ErrNotNFC is about the file: what is compared is NFC, and storing it would change bytes outside the match.
	ErrNotNFC = errors.New("the file is not in normalisation form NFC")
	// ErrNotFound: [Nearest] may know more.
	ErrNotFound = errors.New("the old text is not in the file")
	// ErrJoins: the texts on the two sides of an edge of a match would compose, or be one grapheme. Quoting the
	// neighbouring character in both texts makes that choice explicit.
	ErrJoins = errors.New("the new text would join the text beside it")
)

// AmbiguousError says that the old text is there more than once, and replacing all was not asked for.
type AmbiguousError struct {
	Count int // occurrences, counted left to right without overlap
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("the old text is in the file %d times", e.Count)
}

// TooLargeError says that the result would be larger than [MaxResult].
type TooLargeError struct {
	Size int64 // bytes that the result would have
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the result would be %d bytes; the limit is %d", e.Size, int64(MaxResult))
}

// Replace puts new in the place of the one occurrence of old in t, or of all of them, and returns how many those were.
// // D15
//
// Both texts are normalised to NFC, and taken literally otherwise. An occurrence begins and ends at grapheme
// boundaries; occurrences are counted left to right without overlap, and what was put in is not searched again. The
// errors are the ones above, an [*AmbiguousError] or a [*TooLargeError]; the Text is then empty and the count 0.
//
// A file can be made of characters that take long to tell apart, so ctx is asked now and then: its error is returned.
func Replace(ctx context.Context, t Text, old, new string, all bool) (Text, int, error) {
	from, to, err := operands(old, new)
	if err != nil {
		return Text{}, 0, err
	}
	if !t.Exact() {
		return Text{}, 0, ErrNotNFC
	}
	e := edit{places: matches(ctx, t.body(), from), cut: len(from), put: to}
	count, first := 0, 0
	for at := range e.places {
		if count == 0 {
			first = at
		}
		count++
	}
	if err := ctx.Err(); err != nil {
		return Text{}, 0, err
	}
	size := int64(len(t.encoded)) + int64(count)*int64(len(to)-len(from))
	switch {
	case count == 0:
		return Text{}, 0, ErrNotFound
	case count > 1 && !all:
		return Text{}, 0, &AmbiguousError{count}
	case size > MaxResult:
		return Text{}, 0, &TooLargeError{size}
	case count == 1:
		e.places = slices.Values([]int{first}) // there is no need to search again
	}
	out := Text{encoded: e.apply(t, size), mark: t.mark}
	joins := e.joins(out.body())
	switch err := ctx.Err(); {
	case err != nil:
		return Text{}, 0, err // The search for the places stopped early, so out may be anything.
	case joins:
		return Text{}, 0, ErrJoins
	}
	return out, count, nil
}

// operands checks the two texts of an edit and normalises them.
func operands(old, new string) (from, to []byte, err error) {
	switch {
	case old == "":
		return nil, nil, ErrEmptyOld
	case !utf8.ValidString(old) || !utf8.ValidString(new):
		return nil, nil, ErrInvalidUTF8
	}
	from, _ = normalize([]byte(old))
	to, _ = normalize([]byte(new))
	if string(from) == string(to) {
		return nil, nil, ErrSame
	}
	return from, to, nil
}

// edit is a replacement of the cut bytes at each of some places by the bytes put.
type edit struct {
	places iter.Seq[int] // rising, in the old text; may be asked for more than once
	cut    int
	put    []byte
}

// apply returns t edited, size bytes long.
func (e edit) apply(t Text, size int64) []byte {
	out := append(make([]byte, 0, size), t.encoded[:t.mark]...)
	body, done := t.body(), 0
	for at := range e.places {
		out = append(append(out, body[done:at]...), e.put...)
		done = at + e.cut
	}
	return append(out, body[done:]...)
}

// joins reports whether b, the edited text, is not NFC, or has a grapheme in which bytes from outside the matches stand
// together with others. The latter is refused although it changes no byte: the character that the reader saw beside the
// match would be another one, and the opposite edit would not find what this one put in.
//
// Both can only arise where pieces meet, so nothing else is looked at. Matches side by side are one piece as far as
// graphemes go: what lies between them is all new. Both checks are made at both edges although nearly every composition
// is one grapheme too: the two libraries follow versions of Unicode of their own.
func (e edit) joins(b []byte) bool {
	s := seams{b: b, clusters: clusters{b: b}}
	shift, last := 0, 0 // last is the end of the match before, in the old text
	for at := range e.places {
		start := at + shift
		if !s.normal(start) || !s.normal(start+len(e.put)) {
			return true
		}
		if at != last && !(s.clusters.isBoundary(last+shift) && s.clusters.isBoundary(start)) {
			return true
		}
		last = at + e.cut
		shift += len(e.put) - e.cut
	}
	return !s.clusters.isBoundary(last + shift)
}

// seams looks at places of b where two pieces of NFC text meet. They must be asked for in rising order, so that a long
// segment with many seams is normalised once.
type seams struct {
	b        []byte
	clusters clusters
	checked  int // no segment before this place needs to be looked at again
}

// normal reports whether the segment of b around the place i is NFC. // D15
func (s *seams) normal(i int) bool {
	if i < s.checked || i >= len(s.b) || startsSegment(s.b[i:]) {
		return true
	}
	start := i
	for start > s.checked {
		_, n := utf8.DecodeLastRune(s.b[:start])
		start -= n
		if startsSegment(s.b[start:]) {
			break
		}
	}
	end := i
	for end < len(s.b) && !startsSegment(s.b[end:]) {
		_, n := utf8.DecodeRune(s.b[end:])
		end += n
	}
	s.checked = end
	return isNFC(s.b[start:end])
}
