package search

import (
	"fmt"
	"strings"
	"unicode"
)

// The Raku dialect is translated into RE2. White space means nothing, and only letters, digits and _ stand for themselves;
// everything else is quoted, escaped, or syntax. What RE2 cannot say is refused by its name, and so is everything that
// would run code or name something of the program that the pattern is part of: { }, variables, subrules.
//
// One thing is judged as RE2 judges it: <|w>, and << or >> where the pattern does not show what stands on the other side,
// count ASCII letters, digits and _ alone as parts of words.

// translateRaku returns what a pattern is in RE2. Its errors say what is wrong, without naming the pattern.
func translateRaku(pattern string) (string, error) {
	p := &raku{src: []rune(pattern)}
	alt, err := p.alternatives()
	if err != nil {
		return "", err
	}
	if !p.done() {
		return "", wrong("Unable to parse expression; nothing opened the '%c'", p.peek())
	}
	return alt.re2, nil
}

// raku is a pattern being read.
type raku struct {
	src   []rune
	at    int
	depth int   // of groups
	inner []int // the depths at which a <( is open
}

// endsMatch moves past a )> that closes a <(. They say which part of what is matched is the match, which is nothing to a
// line that matches or does not.
func (p *raku) endsMatch() bool {
	n := len(p.inner)
	if n == 0 || p.inner[n-1] != p.depth || !p.takes(")>") {
		return false
	}
	p.inner = p.inner[:n-1]
	return true
}

// maxGroups bounds how deep groups nest, as RE2's parser does.
const maxGroups = 1000

// wordness says whether a piece of a pattern begins, or ends, with a part of a word.
type wordness int

const (
	maybe wordness = iota
	yes
	no
)

// piece is a part of a pattern, translated.
type piece struct {
	re2         string
	begins      wordness
	ends        wordness
	mark        string // "<<" or ">>", for a piece that is not translated before its neighbours are known
	isUncertain bool   // it can be empty
	isNothing   bool   // it takes nothing and asks nothing
}

func (p *raku) done() bool { return p.at == len(p.src) }

// peek is the next character, or 0.
func (p *raku) peek() rune { return p.ahead(0) }

func (p *raku) ahead(n int) rune {
	if p.at+n < len(p.src) {
		return p.src[p.at+n]
	}
	return 0
}

// takes moves past a text if it comes next.
func (p *raku) takes(text string) bool {
	n := 0
	for _, r := range text {
		if p.ahead(n) != r {
			return false
		}
		n++
	}
	p.at += n
	return true
}

func (p *raku) skipSpace() {
	for !p.done() && unicode.IsSpace(p.peek()) {
		p.at++
	}
}

// alternatives reads what | and || part. They differ in which alternative is preferred, which is nothing to a line that
// matches or does not. The first may have one before it too.
func (p *raku) alternatives() (piece, error) {
	p.skipSpace()
	if !p.takes("||") {
		p.takes("|")
	}
	var all []string
	for {
		s, err := p.sequence()
		if err != nil {
			return piece{}, err
		}
		all = append(all, s.re2)
		if !p.takes("||") && !p.takes("|") {
			if len(all) == 1 {
				return s, nil
			}
			return piece{re2: "(?:" + strings.Join(all, "|") + ")", isUncertain: true}, nil
		}
	}
}

// sequence reads pieces up to the end of an alternative.
func (p *raku) sequence() (piece, error) {
	var list []piece
	for {
		p.skipSpace()
		switch {
		case p.endsMatch():
			continue
		case p.done(), p.peek() == '|', p.peek() == ')', p.peek() == ']':
			return joinPieces(list, p.depth == 0)
		case p.peek() == '&':
			return piece{}, cannotSay("the conjunction &")
		}
		one, err := p.quantified()
		if err != nil {
			return piece{}, err
		}
		list = append(list, one)
	}
}

// wrong is an error in a pattern. Where Raku has words for it, they are Raku's.
func wrong(format string, a ...any) error { return fmt.Errorf(format, a...) }

func cannotSay(what string) error { return wrong("RE2 cannot express %s", what) }

// joinPieces puts a sequence together. isTop says that nothing stands before or after it, but for the rest of the line.
func joinPieces(list []piece, isTop bool) (piece, error) {
	var b strings.Builder
	for i, one := range list {
		if one.mark == "" {
			b.WriteString(one.re2)
			continue
		}
		re2, err := boundary(one.mark, list[:i], list[i+1:], isTop)
		if err != nil {
			return piece{}, err
		}
		b.WriteString(re2)
	}
	all := piece{re2: b.String(), isUncertain: true}
	if len(list) > 0 {
		first, last := list[0], list[len(list)-1]
		all.begins, all.ends = first.begins, last.ends
		all.isUncertain = first.isUncertain || last.isUncertain || first.mark != "" || last.mark != ""
	}
	return all, nil
}

// What RE2 says for a part of a word, and for a place beside one, in Raku's sense of it.
const (
	wordClass     = `\p{L}\p{Nd}_`
	notBeforeWord = `(?:$|[^` + wordClass + `])`
	notAfterWord  = `(?:^|[^` + wordClass + `])`
)

// boundary translates << and >>. RE2 knows no direction, and parts of words in ASCII alone; but what stands on both sides
// is mostly plain from the pattern. At its ends the character on the other side may be taken as part of the match, since
// only the line counts.
func boundary(mark string, before, after []piece, isTop bool) (string, error) {
	something := func(p piece) bool { return !p.isNothing }
	inner, outer, side := filter(after, something), filter(before, something), "before"
	if mark == ">>" {
		inner, outer, side = outer, inner, "after"
	}
	if facing(inner, mark == ">>") != yes {
		return "", wrong("RE2 can express %s only right %s a letter, a digit or _; write <|w> for either kind of boundary", mark, side)
	}
	switch {
	case facing(outer, mark == "<<") == no:
		return "", nil
	case len(outer) == 0 && isTop && mark == "<<":
		return notAfterWord, nil
	case len(outer) == 0 && isTop:
		return notBeforeWord, nil
	}
	return `\b`, nil
}

func filter(list []piece, keep func(piece) bool) []piece {
	var kept []piece
	for _, one := range list {
		if keep(one) {
			kept = append(kept, one)
		}
	}
	return kept
}

// facing says what the nearest piece of a side is, at its end or at its beginning.
func facing(side []piece, atEnd bool) wordness {
	if len(side) == 0 {
		return maybe
	}
	near := side[0]
	if atEnd {
		near = side[len(side)-1]
	}
	switch {
	case near.mark != "" || near.isUncertain:
		return maybe
	case atEnd:
		return near.ends
	}
	return near.begins
}
