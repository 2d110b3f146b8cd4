package toolkit

import (
	"bytes"
	"fmt"
)

// maxDepth bounds how deep arrays and objects may nest, the outermost object included. No tool needs more than a few
// levels, and a scanner that calls itself must not follow a hostile text down.
const maxDepth = 100

// maxMembers bounds the names of an object that we read. It is far above what a call can need, and keeps the search for
// names given twice short.
const maxMembers = 100

// kind is what a JSON value is. The zero value means that there is none.
type kind int

const (
	kindNone kind = iota
	kindNull
	kindTrue
	kindFalse
	kindNumber
	kindString
	kindArray
	kindObject
)

// value is one scanned argument.
type value struct {
	kind    kind
	text    string  // a string's text, a number as it was written
	integer int64   // set by the decoder for parameters of type integer
	items   []*Args // set by the decoder for parameters of type array
}

// scanner reads one JSON text (RFC 8259), once, front to back. It is stricter than the standard decoder, which repairs
// text that is not UTF-8, and it makes at most one copy of a string: the content of a file comes through here.
type scanner struct {
	src []byte
	pos int
}

// malformed is a text that the scanner cannot read or will not guess at.
type malformed struct {
	pos  int // offset in bytes
	what string
}

// Error implements error.
func (m *malformed) Error() string { return fmt.Sprintf("at byte %d: %s", m.pos, m.what) }

func (s *scanner) fault(format string, args ...any) error {
	return &malformed{s.pos, fmt.Sprintf(format, args...)}
}

// peek skips white space and returns the next byte, or 0 at the end. A NUL in the text reads the same, and is as wrong.
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

// expect steps over the byte c.
func (s *scanner) expect(c byte) error {
	if s.peek() != c {
		return s.fault("'%c' is missing here", c)
	}
	s.pos++
	return nil
}

// value reads one value. The text of a string is kept only on request; arrays and objects are checked and passed over.
func (s *scanner) value(depth int, keep bool) (value, error) {
	switch c := s.peek(); {
	case c == '"':
		text, err := s.str(keep)
		return value{kind: kindString, text: text}, err
	case c == '{':
		return value{kind: kindObject}, s.list(depth, '{', '}', func() error {
			if _, err := s.key(false); err != nil {
				return err
			}
			_, err := s.value(depth+1, false)
			return err
		})
	case c == '[':
		return value{kind: kindArray}, s.list(depth, '[', ']', func() error {
			_, err := s.value(depth+1, false)
			return err
		})
	case c == '-' || isDigit(c):
		text, err := s.number()
		return value{kind: kindNumber, text: text}, err
	case c == 't':
		return value{kind: kindTrue}, s.word("true")
	case c == 'f':
		return value{kind: kindFalse}, s.word("false")
	case c == 'n':
		return value{kind: kindNull}, s.word("null")
	}
	return value{}, s.fault("a value is missing here")
}

// object reads an object, calling member after each key to read the value. A depth of 1 is the outermost.
func (s *scanner) object(depth int, member func(key string) error) error {
	members := 0
	return s.list(depth, '{', '}', func() error {
		if members++; members > maxMembers {
			return s.fault("there are more than %d names in one object; send fewer", maxMembers)
		}
		key, err := s.key(true)
		if err != nil {
			return err
		}
		return member(key)
	})
}

// key reads a name and the colon after it.
func (s *scanner) key(keep bool) (string, error) {
	if s.peek() != '"' {
		return "", s.fault("a name in double quotes is missing here")
	}
	key, err := s.str(keep)
	if err != nil {
		return "", err
	}
	return key, s.expect(':')
}

// list reads what arrays and objects have in common: items between brackets with commas between them.
func (s *scanner) list(depth int, opening, closing byte, item func() error) error {
	if depth > maxDepth {
		return s.fault("arrays and objects nest more than %d deep; send fewer levels", maxDepth)
	}
	if err := s.expect(opening); err != nil {
		return err
	}
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
			return s.fault("',' or '%c' is missing here", closing)
		}
	}
}

func (s *scanner) word(w string) error {
	if !bytes.HasPrefix(s.src[s.pos:], []byte(w)) {
		return s.fault("a value is missing here")
	}
	s.pos += len(w)
	return nil
}

// number reads a number and returns it as it was written.
func (s *scanner) number() (string, error) {
	start := s.pos
	if s.at('-') {
		s.pos++
	}
	leading := s.at('0')
	n := s.digits()
	if n == 0 || leading && n > 1 {
		return "", s.fault("a number must start with one digit, and with 0 only before a point")
	}
	if s.at('.') {
		s.pos++
		if s.digits() == 0 {
			return "", s.fault("a digit is missing after the point")
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		if s.digits() == 0 {
			return "", s.fault("a digit is missing in the exponent")
		}
	}
	return string(s.src[start:s.pos]), nil
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.src) && s.src[s.pos] == c }

func (s *scanner) digits() int {
	start := s.pos
	for s.pos < len(s.src) && isDigit(s.src[s.pos]) {
		s.pos++
	}
	return s.pos - start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
