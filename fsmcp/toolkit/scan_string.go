package toolkit

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string, of which pos is at the opening quote, and returns its text if keep is set.
func (s *scanner) str(keep bool) (string, error) {
	s.pos++
	start := s.pos // of the run of bytes that stand for themselves
	var text strings.Builder
	for s.pos < len(s.src) {
		s.pos += plain(s.src[s.pos:])
		if s.pos == len(s.src) {
			break
		}
		switch c := s.src[s.pos]; {
		case c == '"':
			run := s.src[start:s.pos]
			s.pos++
			return finish(&text, run, keep), nil
		case c == '\\':
			if keep {
				s.reserve(&text, start)
				text.Write(s.src[start:s.pos])
			}
			r, err := s.escape()
			if err != nil {
				return "", err
			}
			if keep {
				text.WriteRune(r)
			}
			start = s.pos
		case c < ' ':
			return "", s.fault("a control character in a string must be written as an escape, a line break as \\n")
		default:
			if err := s.multibyte(); err != nil {
				return "", err
			}
		}
	}
	return "", s.fault("a string does not end; a double quote is missing")
}

func finish(text *strings.Builder, run []byte, keep bool) string {
	if !keep {
		return ""
	}
	if text.Cap() == 0 {
		return string(run) // There was no escape: the text is the bytes.
	}
	text.Write(run)
	return text.String()
}

// reserve makes room for the whole string at its first escape, so that it is not copied again as it grows. An escape is
// never shorter than what it stands for, so the distance to the closing quote is enough.
func (s *scanner) reserve(text *strings.Builder, start int) {
	if text.Cap() > 0 {
		return
	}
	end := s.pos
	for end < len(s.src) && s.src[end] != '"' {
		if s.src[end] == '\\' {
			end++
		}
		end++
		end += plain(s.src[min(end, len(s.src)):])
	}
	text.Grow(min(end, len(s.src)) - start + 1)
}

// multibyte steps over characters of several bytes.
func (s *scanner) multibyte() error {
	for s.pos < len(s.src) && s.src[s.pos] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(s.src[s.pos:])
		if r == utf8.RuneError && size == 1 {
			return s.fault("the byte 0x%02x is not UTF-8; send text in UTF-8", s.src[s.pos])
		}
		s.pos += size
	}
	return nil
}

// escape reads one escape, or the two that make up a character outside the basic plane.
func (s *scanner) escape() (rune, error) {
	if s.pos+1 >= len(s.src) {
		return 0, s.fault("a string ends in the middle of an escape")
	}
	switch c := s.src[s.pos+1]; c {
	case 'u':
		return s.unicodeEscape()
	case '"', '\\', '/':
		s.pos += 2
		return rune(c), nil
	default:
		i := strings.IndexByte("bfnrt", c)
		if i < 0 {
			return 0, s.fault("there is no such escape; a backslash itself is written \\\\")
		}
		s.pos += 2
		return rune("\b\f\n\r\t"[i]), nil
	}
}

func (s *scanner) unicodeEscape() (rune, error) {
	first, ok := s.hex4(s.pos)
	if !ok {
		return 0, s.fault("\\u must be followed by four hexadecimal digits")
	}
	if !utf16.IsSurrogate(first) {
		s.pos += 6
		return first, nil
	}
	// Half a character cannot be stored in UTF-8. Decoders that put U+FFFD in its place open another name than the one
	// that was judged.
	second, _ := s.hex4(s.pos + 6)
	r := utf16.DecodeRune(first, second)
	if r == utf8.RuneError {
		return 0, s.fault("the escape \\u%04x is a lone surrogate, half of a character; send the whole character", first)
	}
	s.pos += 12
	return r, nil
}

// hex4 reads the \uXXXX at offset i.
func (s *scanner) hex4(i int) (rune, bool) {
	if i+6 > len(s.src) || s.src[i] != '\\' || s.src[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s.src[i+2 : i+6] {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// plain returns how many bytes at the start of b stand for themselves in a string: ASCII, but no control character, no
// quote and no backslash. It looks at eight bytes at a time. For each byte value asked about, the usual subtraction sets
// the top bit of a byte that has it; a borrow can only spoil bytes above the first such one, so the lowest is right.
func plain(b []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		x := binary.LittleEndian.Uint64(b[n:])
		quote, slash := x^('"'*ones), x^('\\'*ones)
		found := (x - ' '*ones) &^ x
		found |= (quote - ones) &^ quote
		found |= (slash - ones) &^ slash
		if found = (found | x) & tops; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\' && b[n] < utf8.RuneSelf {
		n++
	}
	return n
}
