package search

import (
	"errors"
	"regexp/syntax"
	"strings"
	"unicode"
)

// angle reads what < opens: a class, a boundary, or what is refused.
func (p *raku) angle() (piece, error) {
	switch {
	case p.takes("<"):
		return piece{mark: "<<"}, nil
	case p.takes("|w>"), p.takes("wb>"), p.takes("?wb>"), p.takes(".wb>"):
		return piece{re2: `\b`, isUncertain: true}, nil
	case p.takes("!|w>"), p.takes("!wb>"):
		return piece{re2: `\B`, isUncertain: true}, nil
	case p.takes("("):
		p.inner = append(p.inner, p.depth)
		return piece{isUncertain: true, isNothing: true}, nil
	case p.takes("?>"):
		return piece{re2: "(?:)", isUncertain: true}, nil
	case p.takes("!>"):
		return piece{re2: `[^\x00-\x{10FFFF}]`}, nil
	}
	from := p.at
	if s, err := p.class(); err != errNoClass {
		if err != nil {
			return piece{}, err
		}
		return piece{re2: s.re2(), begins: s.wordness(), ends: s.wordness()}, nil
	}
	p.at = from
	return piece{}, p.refuseAngle()
}

// refuseAngle names what is not to be had in angle brackets.
func (p *raku) refuseAngle() error {
	name := p.inside()
	bare := strings.TrimLeft(name, "?!.")
	switch {
	case strings.HasPrefix(bare, "{"):
		return codeRefused()
	case strings.HasPrefix(bare, "before"), strings.HasPrefix(bare, "after"):
		return cannotSay("look-around, <" + name + ">")
	case strings.HasPrefix(bare, "$"), strings.HasPrefix(bare, "@"), strings.HasPrefix(bare, "&"):
		return noVariables([]rune(bare)[0])
	case strings.HasPrefix(name, " "):
		return wrong("a list of words < > is not to be had here; write ['a' | 'b']")
	}
	return wrong("there is no rule <%s> here; named classes are <alpha>, <digit>, <alnum>, <upper>, <lower>, <space>, <blank>, <punct>, <xdigit> and properties such as <:L>; quote '<' to look for one", name)
}

// inside is what stands up to the >, for a message.
func (p *raku) inside() string {
	rest := string(p.src[p.at:])
	if i := strings.IndexByte(rest, '>'); i >= 0 {
		rest = rest[:i]
	}
	if runes := []rune(rest); len(runes) > 30 {
		rest = string(runes[:30]) + "…"
	}
	return rest
}

// errNoClass says that what stands in angle brackets is no class of characters.
var errNoClass = errors.New("no class")

// class reads one to its >: terms that are added and taken away in turn, as in <[a..z] - [aeiou] + :Nd>.
func (p *raku) class() (set, error) {
	var all set
	for first := true; ; first = false {
		p.skipSpace()
		minus := false
		switch {
		case p.takes("-"):
			minus = true
		case p.takes("+"):
		case p.takes(">") && !first:
			return all, nil
		case !first:
			return nil, errNoClass
		}
		p.skipSpace()
		term, err := p.classTerm(first)
		switch {
		case err != nil:
			return nil, err
		case minus && first:
			all = term.not()
		case minus:
			all = all.minus(term)
		default:
			all = all.plus(term)
		}
	}
}

// classTerm reads [...], a name, or a property.
func (p *raku) classTerm(isFirst bool) (set, error) {
	switch {
	case p.takes("["):
		return p.bracketed()
	case p.takes(":"):
		return p.property()
	}
	if isFirst {
		p.takes(".")
	}
	from := p.at
	for unicode.IsLetter(p.peek()) {
		p.at++
	}
	if source, ok := namedClasses()[string(p.src[from:p.at])]; ok {
		return parseSet(source), nil
	}
	return nil, errNoClass
}

// namedClasses are the built-in rules that take one character, as classes of RE2.
func namedClasses() map[string]string {
	escapes := classEscapes()
	return map[string]string{
		"alpha": `[\p{L}_]`, "digit": escapes['d'], "alnum": escapes['w'], "word": escapes['w'],
		"upper": `[\p{Lu}]`, "lower": `[\p{Ll}]`, "space": escapes['s'], "blank": escapes['h'],
		"punct": `[\p{P}]`, "xdigit": `[0-9A-Fa-f]`, "cntrl": `[\p{Cc}]`,
	}
}

// property reads a Unicode property: L, !Lu, Letter, Script<Greek>.
func (p *raku) property() (set, error) {
	not := p.takes("!")
	from := p.at
	for isNameStart(p.peek()) {
		p.at++
	}
	name := string(p.src[from:p.at])
	if (name == "Script" || name == "sc") && p.takes("<") {
		from = p.at
		for isNameStart(p.peek()) {
			p.at++
		}
		name = string(p.src[from:p.at])
		if !p.takes(">") {
			return nil, wrong("Unable to parse expression; couldn't find final '>' of a property")
		}
	}
	if short, ok := longProperties()[name]; ok {
		name = short
	}
	if _, err := syntax.Parse(`\p{`+name+`}`, syntax.Perl); err != nil || name == "" {
		return nil, cannotSay("the property <:" + name + ">")
	}
	s := parseSet(`[\p{` + name + `}]`)
	if not {
		s = s.not()
	}
	return s, nil
}

func longProperties() map[string]string {
	return map[string]string{
		"Letter": "L", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt", "Modifier_Letter": "Lm",
		"Other_Letter": "Lo", "Mark": "M", "Number": "N", "Decimal_Number": "Nd", "Letter_Number": "Nl", "Other_Number": "No",
		"Punctuation": "P", "Symbol": "S", "Math_Symbol": "Sm", "Currency_Symbol": "Sc", "Separator": "Z", "Space_Separator": "Zs",
		"Control": "Cc", "Format": "Cf",
	}
}

// bracketed reads the inside of [...]: characters, escapes and ranges with two dots.
func (p *raku) bracketed() (set, error) {
	var all set
	for {
		p.skipSpace()
		switch {
		case p.done():
			return nil, wrong("Unable to parse expression; couldn't find final ']'")
		case p.takes("]"):
			return all, nil
		}
		if p.peek() == '\\' {
			if source, ok := classEscapes()[p.ahead(1)]; ok {
				p.at += 2
				all = all.plus(parseSet(source))
				continue
			}
		}
		lo, err := p.member()
		if err != nil {
			return nil, err
		}
		hi := lo
		if p.skipSpace(); p.takes("..") {
			p.skipSpace()
			if hi, err = p.member(); err != nil {
				return nil, err
			}
			if hi < lo {
				return nil, wrong("the range '%c'..'%c' in a class is empty", lo, hi)
			}
		} else if p.peek() == '-' && p.ahead(1) != ']' {
			return nil, wrong("Unsupported use of - as character range; write .. for a range, or \\- for the character")
		}
		all = all.plus(set{lo, hi})
	}
}

// member reads one character of a class.
func (p *raku) member() (rune, error) {
	r := p.peek()
	if p.done() || r == ']' {
		return 0, wrong("Unable to parse expression; a range in a class has no end")
	}
	p.at++
	if r != '\\' {
		return r, nil
	}
	text, err := p.character()
	if err != nil {
		return 0, err
	}
	if runes := []rune(text); len(runes) == 1 {
		return runes[0], nil
	}
	return 0, wrong("an escape in a class stands for more than one character")
}
