package compat

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is how a text file is written: UTF-8 with or without a byte order mark, or UTF-16 with one (D18).
type encoding uint8

const (
	plain encoding = iota
	markedUTF8
	littleUTF16
	bigUTF16
)

// errNotText means bytes that are not text in their encoding. They are refused and not repaired: what was repaired for
// reading could not be written back as it was.
var errNotText = errors.New("not text")

// encodingOf tells by the first bytes of a file.
func encodingOf(head []byte) encoding {
	for _, e := range []encoding{markedUTF8, littleUTF16, bigUTF16} {
		if bytes.HasPrefix(head, e.mark()) {
			return e
		}
	}
	return plain
}

// mark is the byte order mark.
func (e encoding) mark() []byte {
	switch e {
	case markedUTF8:
		return []byte("\xef\xbb\xbf")
	case littleUTF16:
		return []byte("\xff\xfe")
	case bigUTF16:
		return []byte("\xfe\xff")
	}
	return nil
}

func (e encoding) isUTF16() bool { return e == littleUTF16 || e == bigUTF16 }

func (e encoding) order() binary.ByteOrder {
	if e == bigUTF16 {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// encode is the bytes of a file with the text.
func (e encoding) encode(text []byte) []byte {
	switch e {
	case plain:
		return text
	case markedUTF8:
		return append(e.mark(), text...)
	}
	out := append(make([]byte, 0, 2*len(text)+2), e.mark()...)
	appendUnit := func(u uint16) {
		var b [2]byte
		e.order().PutUint16(b[:], u)
		out = append(out, b[:]...)
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
			appendUnit(uint16(r1))
			appendUnit(uint16(r2))
			continue
		}
		appendUnit(uint16(r))
	}
	return out
}

// decodeAll is the text of a whole file, without its mark.
func decodeAll(b []byte) (text []byte, e encoding, err error) {
	e = encodingOf(b)
	body := b[len(e.mark()):]
	if !e.isUTF16() {
		if !utf8.Valid(body) || bytes.IndexByte(b[:min(len(b), binaryHead)], 0) >= 0 {
			return nil, e, errNotText
		}
		return body, e, nil
	}
	text, err = io.ReadAll(&utf16Reader{src: bytes.NewReader(body), order: e.order()})
	return text, e, err
}

// utf16Reader reads UTF-16 as UTF-8. Half a character, and half a surrogate pair, are [errNotText].
type utf16Reader struct {
	src   io.Reader
	order binary.ByteOrder
	in    [32 << 10]byte
	have  int    // bytes in in
	out   []byte // that are decoded and not read yet
	buf   []byte // that out lies in
	end   error
}

// Read implements [io.Reader].
func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.end != nil {
			return 0, u.end
		}
		n, err := u.src.Read(u.in[u.have:])
		u.have += n
		u.end = err
		u.decode()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// decode decodes what can be, and keeps the rest for the next time.
func (u *utf16Reader) decode() {
	u.buf = u.buf[:0]
	b := u.in[:u.have]
	for len(b) >= 2 {
		r := rune(u.order.Uint16(b))
		if !utf16.IsSurrogate(r) {
			u.buf = utf8.AppendRune(u.buf, r)
			b = b[2:]
			continue
		}
		if len(b) < 4 {
			break
		}
		if r = utf16.DecodeRune(r, rune(u.order.Uint16(b[2:]))); r == utf8.RuneError {
			u.end = errNotText
			break
		}
		u.buf = utf8.AppendRune(u.buf, r)
		b = b[4:]
	}
	if u.end == io.EOF && len(b) > 0 {
		u.end = errNotText
	}
	u.have = copy(u.in[:], b)
	u.out = u.buf
}
