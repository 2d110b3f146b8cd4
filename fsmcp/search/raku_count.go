package search

import (
	"fmt"
	"strconv"
	"unicode"
)

// quantified reads an atom and what says how often it may come.
func (p *raku) quantified() (piece, error) {
	one, err := p.atom()
	if err != nil {
		return piece{}, err
	}
	p.skipSpace()
	least, most, ok, err := p.quantifier()
	if err != nil || !ok {
		return one, err
	}
	if one.mark != "" || one.re2 == "" {
		return piece{}, wrong("Quantifier quantifies nothing")
	}
	if p.peek() == ':' {
		return piece{}, cannotSay("a quantifier without backtracking (:)")
	}
	p.greed()
	return p.separated(one, least, most)
}

// greed reads what says whether a quantifier takes as much as it can. To whether a line matches that is nothing.
func (p *raku) greed() {
	if !p.takes("?") {
		p.takes("!")
	}
}

// separated reads a separator, if one follows, and writes the repetition: X+ % Y is X(?:YX)*, and %% allows one Y more.
func (p *raku) separated(one piece, least, most int) (piece, error) {
	p.skipSpace()
	trailing := p.takes("%%")
	all := piece{begins: one.begins, ends: one.ends, isUncertain: least == 0 || one.isUncertain}
	if !trailing && !p.takes("%") {
		all.re2 = "(?:" + one.re2 + ")" + counted(least, most)
		return all, nil
	}
	p.skipSpace()
	between, err := p.atom()
	if err != nil {
		return piece{}, err
	}
	if most == 0 {
		return piece{re2: "(?:)", isUncertain: true}, nil
	}
	all.re2 = one.re2 + "(?:" + between.re2 + one.re2 + ")" + counted(max(0, least-1), max(unbounded, most-1))
	if trailing {
		all.re2 += "(?:" + between.re2 + ")?"
		all.ends = maybe
	}
	all.re2 = "(?:" + all.re2 + ")"
	if least == 0 {
		all.re2 += "?"
	}
	return all, nil
}

const unbounded = -1

func counted(least, most int) string {
	switch {
	case least == 0 && most == unbounded:
		return "*"
	case least == 1 && most == unbounded:
		return "+"
	case least == 0 && most == 1:
		return "?"
	case most == unbounded:
		return fmt.Sprintf("{%d,}", least)
	}
	return fmt.Sprintf("{%d,%d}", least, most)
}

// quantifier reads * + ? or ** with a count or a range.
func (p *raku) quantifier() (least, most int, ok bool, err error) {
	switch {
	case p.takes("**"):
		least, most, err = p.counts()
		return least, most, true, err
	case p.takes("*"):
		return 0, unbounded, true, nil
	case p.takes("+"):
		return 1, unbounded, true, nil
	case p.takes("?"):
		return 0, 1, true, nil
	case p.peek() == ':' && !unicode.IsLetter(p.ahead(1)) && p.ahead(1) != '!':
		return 0, 0, false, cannotSay("a match without backtracking (:)")
	}
	return 0, 0, false, nil
}

// counts reads what follows **: N, N..M, N..^M, N^..M, ^N or N..*.
func (p *raku) counts() (least, most int, err error) {
	p.greed()
	p.skipSpace()
	excluded := p.takes("^")
	if !excluded {
		if least, err = p.number(); err != nil {
			return 0, 0, err
		}
		if p.takes("^..") {
			least++
		} else if !p.takes("..") {
			return least, least, nil
		}
		excluded = p.takes("^")
		if p.takes("*") {
			return least, unbounded, nil
		}
	}
	if most, err = p.number(); err != nil {
		return 0, 0, err
	}
	if excluded {
		most--
	}
	if most < least {
		return 0, 0, wrong("the range after ** is empty")
	}
	return least, most, nil
}

// number reads a count. RE2 takes at most a thousand.
func (p *raku) number() (int, error) {
	if p.peek() == '{' {
		return 0, codeRefused()
	}
	from := p.at
	for '0' <= p.peek() && p.peek() <= '9' {
		p.at++
	}
	n, err := strconv.Atoi(string(p.src[from:p.at]))
	if err != nil {
		return 0, wrong("** wants a number or a range, such as ** 2 or ** 2..4")
	}
	if n > 1000 {
		return 0, cannotSay("a count of more than 1000")
	}
	return n, nil
}

func codeRefused() error {
	return wrong("Prohibited regex interpolation: { } is code, which is never run; quote '{' to look for one, and write ** 2..3 for a count")
}
