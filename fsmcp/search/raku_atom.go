package search

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// atom reads the smallest thing that a quantifier can apply to.
func (p *raku) atom() (piece, error) {
	r := p.peek()
	switch {
	case p.done():
		return piece{}, wrong("Unable to parse expression; something is missing at its end")
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		p.at++
		return literalPiece(string(r)), nil
	}
	if closer, ok := quotes()[r]; ok {
		p.at++
		return p.quoted(r, closer)
	}
	p.at++
	switch r {
	case '.':
		return piece{re2: "."}, nil
	case '^':
		p.takes("^")
		return piece{re2: "^", isUncertain: true}, nil
	case '$':
		return p.dollar()
	case '\\':
		return p.escape()
	case '(':
		return p.group(')', "(")
	case '[':
		return p.group(']', "(?:")
	case '<':
		return p.angle()
	case '«':
		return piece{mark: "<<"}, nil
	case '»':
		return piece{mark: ">>"}, nil
	case '>':
		if p.takes(">") {
			return piece{mark: ">>"}, nil
		}
	case ':':
		return p.adverb()
	}
	return piece{}, misplaced(r)
}

// misplaced is the error of a character that is no syntax at its place and does not stand for itself.
func misplaced(r rune) error {
	switch r {
	case '{', '}':
		return codeRefused()
	case '@':
		return wrong("'@' begins a variable, and there are none here; quote it to look for one")
	case '#':
		return wrong("'#' begins a comment; quote it to look for one")
	case '~':
		return cannotSay("the goal matcher ~; quote it to look for one")
	case '*', '+', '?', '%':
		return wrong("Quantifier quantifies nothing: there is nothing before the '%c'; quote it to look for one", r)
	}
	return wrong("Unrecognized regex metacharacter %c (must be quoted to match literally)", r)
}

// literalPiece is text that stands for itself.
func literalPiece(text string) piece {
	one := piece{re2: regexp.QuoteMeta(text)}
	if utf8.RuneCountInString(text) > 1 {
		one.re2 = "(?:" + one.re2 + ")"
	}
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	one.begins, one.ends = wordnessOf(first), wordnessOf(last)
	one.isUncertain = text == ""
	if text == "" {
		one.re2 = "(?:)"
	}
	return one
}

func wordnessOf(r rune) wordness {
	switch {
	case r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nd, r):
		return yes
	case unicode.IsMark(r):
		return maybe
	}
	return no
}

// quotes are the pairs that quote text.
func quotes() map[rune]rune {
	return map[rune]rune{'\'': '\'', '"': '"', '‘': '’', '“': '”', '「': '」'}
}

// quoted reads text up to its closing quote. Single quotes know \\ and the escaped quote; double ones all escapes of
// characters, and no variables or code.
func (p *raku) quoted(opener, closer rune) (piece, error) {
	interpolates := opener == '"' || opener == '“'
	var b strings.Builder
	for !p.done() {
		r := p.peek()
		p.at++
		switch {
		case r == closer:
			return literalPiece(b.String()), nil
		case r == '\\' && opener == '「':
			b.WriteRune(r)
		case r == '\\' && interpolates:
			c, err := p.character()
			if err != nil {
				return piece{}, err
			}
			b.WriteString(c)
		case r == '\\' && (p.peek() == '\\' || p.peek() == closer || p.peek() == opener):
			b.WriteRune(p.peek())
			p.at++
		case interpolates && r == '{':
			return piece{}, codeRefused()
		case interpolates && (r == '$' || r == '@') && (isNameStart(p.peek()) || strings.ContainsRune("<({!*.?^", p.peek()) && p.peek() != 0):
			return piece{}, noVariables(r)
		default:
			b.WriteRune(r)
		}
	}
	return piece{}, wrong("Unable to parse expression in quotes; couldn't find final %c", closer)
}

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func noVariables(sigil rune) error {
	return wrong("'%c' begins a variable, and there are none here; write \\%c to look for one", sigil, sigil)
}

// dollar reads what begins with $: the end of the line, a name for a capture, or what is refused.
func (p *raku) dollar() (piece, error) {
	r := p.peek()
	switch {
	case r == '$':
		p.at++
		if isNameStart(p.peek()) {
			return piece{}, noVariables('$')
		}
	case unicode.IsDigit(r):
		return piece{}, cannotSay(fmt.Sprintf("the back-reference $%c", r))
	case r == '<':
		end := p.at + 1
		for end < len(p.src) && p.src[end] != '>' {
			end++
		}
		name := string(p.src[p.at:min(end+1, len(p.src))])
		p.at = min(end+1, len(p.src))
		p.skipSpace()
		if !p.takes("=") {
			return piece{}, cannotSay("the back-reference $" + name)
		}
		p.skipSpace()
		return p.atom()
	case isNameStart(r), r != 0 && strings.ContainsRune("({!*.?^", r):
		return piece{}, noVariables('$')
	}
	return piece{re2: "$", isUncertain: true}, nil
}

// group reads up to the closing bracket.
func (p *raku) group(closer rune, opener string) (piece, error) {
	if p.depth++; p.depth > maxGroups {
		return piece{}, wrong("the groups nest more than %d deep", maxGroups)
	}
	inner, err := p.alternatives()
	if err != nil {
		return piece{}, err
	}
	if p.peek() != closer {
		return piece{}, wrong("Unable to parse expression; couldn't find final '%c'", closer)
	}
	p.at++
	p.depth--
	inner.re2 = opener + inner.re2 + ")"
	return inner, nil
}

// adverb reads :i and its like, which hold to the end of the group.
func (p *raku) adverb() (piece, error) {
	from := p.at
	for p.peek() == '!' || unicode.IsLetter(p.peek()) {
		p.at++
	}
	switch name := string(p.src[from:p.at]); name {
	case "i", "ignorecase":
		return piece{re2: "(?i)", isUncertain: true, isNothing: true}, nil
	case "!i", "!ignorecase":
		return piece{re2: "(?-i)", isUncertain: true, isNothing: true}, nil
	case "":
		return piece{}, cannotSay("a match without backtracking (:); quote ':' to look for one")
	case "my", "our", "constant", "state", "let", "temp":
		return piece{}, codeRefused()
	default:
		return piece{}, cannotSay("the adverb :" + name)
	}
}
