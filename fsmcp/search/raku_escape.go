package search

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escape reads what follows a backslash.
func (p *raku) escape() (piece, error) {
	r := p.peek()
	if set, ok := classEscapes()[r]; ok {
		p.at++
		s := parseSet(set)
		return piece{re2: s.re2(), begins: s.wordness(), ends: s.wordness()}, nil
	}
	text, err := p.character()
	if err != nil {
		return piece{}, err
	}
	return literalPiece(text), nil
}

// classEscapes are the escapes that stand for many characters, as classes of RE2.
func classEscapes() map[rune]string {
	const (
		horizontal = `\t \x{A0}\x{1680}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}`
		vertical   = `\n\x0B\f\r\x{85}\x{2028}\x{2029}`
	)
	return map[rune]string{
		'd': `[\p{Nd}]`, 'D': `[^\p{Nd}]`,
		'w': `[` + wordClass + `]`, 'W': `[^` + wordClass + `]`,
		's': `[` + horizontal + vertical + `]`, 'S': `[^` + horizontal + vertical + `]`,
		'h': `[` + horizontal + `]`, 'H': `[^` + horizontal + `]`,
		'v': `[` + vertical + `]`, 'V': `[^` + vertical + `]`,
		'N': `[^\n]`,
		'T': `[^\t]`, 'R': `[^\r]`, 'F': `[^\f]`, 'E': `[^\x1B]`,
	}
}

// character reads, behind a backslash, an escape that stands for a text.
func (p *raku) character() (string, error) {
	r := p.peek()
	if p.done() {
		return "", wrong("Unable to parse expression; nothing follows the \\ at its end")
	}
	p.at++
	switch r {
	case 'n':
		return "\n", nil
	case 't':
		return "\t", nil
	case 'r':
		return "\r", nil
	case 'f':
		return "\f", nil
	case 'e':
		return "\x1b", nil
	case 'a':
		return "\a", nil
	case '0':
		return "\x00", nil
	case 'x':
		return p.numbered(16)
	case 'o':
		return p.numbered(8)
	case 'c':
		return p.numbered(10)
	case 'b':
		return "", wrong("Unsupported use of \\b; write <|w> for a word's boundary")
	case 'A':
		return "", wrong("Unsupported use of \\A; write ^")
	case 'z', 'Z':
		return "", wrong("Unsupported use of \\%c; write $", r)
	}
	switch {
	case '1' <= r && r <= '9':
		return "", cannotSay(fmt.Sprintf("the back-reference \\%c", r))
	case isNameStart(r):
		return "", wrong("Unrecognized backslash sequence: '\\%c'", r)
	}
	return string(r), nil
}

// numbered reads the number of a character, or several in brackets.
func (p *raku) numbered(base int) (string, error) {
	inBrackets := p.takes("[")
	var b strings.Builder
	for {
		if inBrackets {
			p.skipSpace()
		}
		from := p.at
		for isDigitOf(p.peek(), base) {
			p.at++
		}
		n, err := strconv.ParseInt(string(p.src[from:p.at]), base, 32)
		if err != nil || n > unicode.MaxRune || !utf8.ValidRune(rune(n)) {
			return "", wrong("there is no number of a character after the escape; characters cannot be given by name")
		}
		b.WriteRune(rune(n))
		if !inBrackets {
			return b.String(), nil
		}
		p.skipSpace()
		if p.takes("]") {
			return b.String(), nil
		}
		if !p.takes(",") {
			return "", wrong("Unable to parse expression; couldn't find final ']' of an escape")
		}
	}
}

func isDigitOf(r rune, base int) bool {
	_, err := strconv.ParseUint(string(r), base, 8)
	return err == nil && r < utf8.RuneSelf
}
