package harness

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
)

// maxDepth bounds how deep arrays and objects nest in a message, so that a hostile line cannot make the scanner call
// itself without end. The server's own decoder has the same bound.
const maxDepth = 1000

// scanner checks one JSON text (RFC 8259) and finds where its values begin and end. It decodes nothing: a value is passed
// on as the bytes that were sent, because whoever reads it further must see what a guard in front of us saw. For the same
// reason it lets through bytes that are no UTF-8 and halves of surrogate pairs, which the reader of arguments refuses.
type scanner struct {
	src []byte
	pos int
}

// syntaxError says where a text is no JSON, in bytes from its start.
type syntaxError struct {
	pos  int
	what string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.what, e.pos) }

func (s *scanner) fault(what string) error { return &syntaxError{s.pos, what} }

// peek skips white space and returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	for ; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// value steps over one value, of which depth arrays and objects are around it, and returns its bytes.
func (s *scanner) value(depth int) ([]byte, error) {
	c := s.peek()
	start := s.pos
	var err error
	switch {
	case c == '"':
		err = s.str()
	case c == '{':
		err = s.object(depth, func([]byte) error {
			_, err := s.value(depth + 1)
			return err
		})
	case c == '[':
		err = s.list(depth, ']', func() error {
			_, err := s.value(depth + 1)
			return err
		})
	case c == '-' || isDigit(c):
		err = s.number()
	case c == 't':
		err = s.word("true")
	case c == 'f':
		err = s.word("false")
	case c == 'n':
		err = s.word("null")
	default:
		err = s.fault("a value is missing")
	}
	return s.src[start:s.pos], err
}

// object steps over an object and calls member after each key, at its value, over which member must step. An escape in a
// key has been decoded, so that keys can be compared byte for byte.
func (s *scanner) object(depth int, member func(key []byte) error) error {
	return s.list(depth, '}', func() error {
		if s.peek() != '"' {
			return s.fault("a name in double quotes is missing")
		}
		start := s.pos
		if err := s.str(); err != nil {
			return err
		}
		key := text(s.src[start:s.pos])
		if s.peek() != ':' {
			return s.fault("a colon is missing")
		}
		s.pos++
		return member(key)
	})
}

// list steps over what arrays and objects have in common: items with commas between them, up to the closing bracket.
func (s *scanner) list(depth int, closing byte, item func() error) error {
	if depth >= maxDepth {
		return s.fault("arrays and objects nest too deep")
	}
	s.pos++
	if s.peek() == closing {
		s.pos++
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case closing:
			s.pos++
			return nil
		default:
			return s.fault("a comma or a closing bracket is missing")
		}
	}
}

func (s *scanner) word(w string) error {
	if !bytes.HasPrefix(s.src[s.pos:], []byte(w)) {
		return s.fault("a value is missing")
	}
	s.pos += len(w)
	return nil
}

func (s *scanner) number() error {
	s.skip('-')
	zero := s.skip('0')
	if n := s.digits(); zero == (n > 0) {
		return s.fault("a number is malformed")
	}
	if s.skip('.') && s.digits() == 0 {
		return s.fault("a number is malformed")
	}
	if s.skip('e') || s.skip('E') {
		if !s.skip('+') {
			s.skip('-')
		}
		if s.digits() == 0 {
			return s.fault("a number is malformed")
		}
	}
	return nil
}

// skip steps over the byte c if it is the next one.
func (s *scanner) skip(c byte) bool {
	if s.pos < len(s.src) && s.src[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) digits() int {
	start := s.pos
	for s.pos < len(s.src) && isDigit(s.src[s.pos]) {
		s.pos++
	}
	return s.pos - start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// str steps over a string, of which pos is at the opening quote.
func (s *scanner) str() error {
	s.pos++
	for {
		s.pos += plain(s.src[s.pos:])
		if s.pos == len(s.src) {
			return s.fault("a string does not end")
		}
		switch s.src[s.pos] {
		case '"':
			s.pos++
			return nil
		case '\\':
			if err := s.escape(); err != nil {
				return err
			}
		default:
			return s.fault("a control character stands in a string")
		}
	}
}

func (s *scanner) escape() error {
	s.pos++
	if s.pos == len(s.src) || bytes.IndexByte([]byte(`"\/bfnrtu`), s.src[s.pos]) < 0 {
		return s.fault("an escape is malformed")
	}
	s.pos++
	if s.src[s.pos-1] != 'u' {
		return nil
	}
	for range 4 {
		if s.pos == len(s.src) || !isHex(s.src[s.pos]) {
			return s.fault("an escape is malformed")
		}
		s.pos++
	}
	return nil
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// text returns what the bytes of a string stand for. It copies only where there is an escape.
func text(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var decoded string
	if err := json.Unmarshal(raw, &decoded); err != nil {
		return nil // The scanner has passed over it, so it is well-formed.
	}
	return []byte(decoded)
}

// isString reports whether the value is a string.
func isString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }

// isAbsent reports whether there is no value, or null, which in JSON-RPC is as good as none.
func isAbsent(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }

// plain returns how many bytes at the start of s need no second look in a JSON string: no control character, no quote and
// no backslash.
func plain(s []byte) int {
	n := 0
	for ; len(s)-n >= 8; n += 8 {
		if found := special(binary.LittleEndian.Uint64(s[n:])); found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(s) && s[n] >= ' ' && s[n] != '"' && s[n] != '\\' {
		n++
	}
	return n
}

// tops are the highest bits of eight bytes.
const tops = 0x8080808080808080

// special looks at eight bytes at once: of its result the lowest bit that is set is in the first of them that is a control
// character, a quote or a backslash. For each of the three the subtraction sets the top bit of such a byte; a borrow can
// only spoil the bytes above the first one, so the lowest is right.
func special(x uint64) uint64 {
	const ones = 0x0101010101010101
	quote, slash := x^('"'*ones), x^('\\'*ones)
	return ((x-' '*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops
}
