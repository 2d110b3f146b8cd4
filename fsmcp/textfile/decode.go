// Package textfile changes a part of a text file: bytes outside a match stay; a file is old or new, never half.
//
// [Decode] turns the bytes of a file into a [Text], [ReadWindow] shows some lines of a file of any size, [Replace] makes
// one edit, and [Nearest] says what an edit that found nothing came closest to. The store writes the result to disk.
//
// Invariant: what [Replace] returns is the byte order mark, every byte outside the matches in its old order, and the new
// text at each match; and it is in normalisation form NFC. A stored file is the old one or the new one at every moment.
//
// Not promised: any encoding but UTF-8. A file in another one is refused rather than guessed at, because an insertion
// would leave it in two encodings at once.
//
// Everything here may be used from several goroutines: a Text is a value that nothing changes.
package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
	"unsafe"
)

// ErrNotText is what errors about a file that is not UTF-8 text are, as [errors.Is] sees it.
var ErrNotText = errors.New("not UTF-8 text")

// binaryHead is how many bytes at the start of a file must be free of NUL for it to be text. Other tools look as far
// (git does), and a log with one NUL megabytes into it stays readable.
const binaryHead = 8192

const byteOrderMark = "\ufeff"

// Text is the decoded form of a file: NFC text, without one leading byte order mark. The zero value is an empty file.
type Text struct {
	encoded []byte // the mark, if there is one, and the text
	mark    int    // how many bytes of encoded are the mark: 0 or 3
	altered bool   // normalisation changed something
}

// Decode reads the bytes of a whole file. It keeps b, which must not be changed afterwards. What is not text is an
// error that is [ErrNotText] and says why: a NUL among the first 8192 bytes, a byte order mark of UTF-16, invalid UTF-8.
func Decode(b []byte) (Text, error) {
	if err := checkHead(b); err != nil {
		return Text{}, err
	}
	if err := checkUTF8(b, 0); err != nil {
		return Text{}, err
	}
	mark := markLength(b)
	body, altered := normalize(b[mark:])
	if !altered {
		return Text{encoded: b, mark: mark}, nil
	}
	encoded := append(bytes.Clone(b[:mark]), body...)
	return Text{encoded: encoded, mark: mark, altered: true}, nil
}

// Encode returns the bytes to store: the byte order mark, if the file had one, and the text as UTF-8. They belong to
// t and must not be changed.
func (t Text) Encode() []byte { return t.encoded }

// String returns the text without the byte order mark. It is no copy: nobody changes the bytes of a Text, and a large file
// is once in memory and not twice.
func (t Text) String() string {
	b := t.body()
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// HasBOM reports whether the file starts with a byte order mark.
func (t Text) HasBOM() bool { return t.mark > 0 }

// Exact reports whether Encode returns the bytes that were decoded. Otherwise the file was in another normalisation
// form, and storing the text would change bytes that nobody asked to change.
func (t Text) Exact() bool { return !t.altered }

func (t Text) body() []byte { return t.encoded[t.mark:] }

// markLength is the length of the one byte order mark at the start of b. A second one is a character of the text.
func markLength(b []byte) int {
	if bytes.HasPrefix(b, []byte(byteOrderMark)) {
		return len(byteOrderMark)
	}
	return 0
}

// checkHead refuses what the first bytes of a file show not to be UTF-8 text. It looks no further than binaryHead.
func checkHead(b []byte) error {
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return fmt.Errorf("%w: it starts with the byte order mark of UTF-16", ErrNotText)
	}
	if i := bytes.IndexByte(b[:min(len(b), binaryHead)], 0); i >= 0 {
		return fmt.Errorf("%w: there is a NUL byte at offset %d", ErrNotText, i)
	}
	return nil
}

// checkUTF8 refuses invalid UTF-8 in b, which stands at offset base of its file.
func checkUTF8(b []byte, base int64) error {
	if utf8.Valid(b) {
		return nil
	}
	i := 0
	for i < len(b) {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return fmt.Errorf("%w: there is an invalid byte at offset %d", ErrNotText, base+int64(i))
}
