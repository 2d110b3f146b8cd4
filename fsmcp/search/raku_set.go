package search

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
)

// set is some characters, as pairs of the first and the last of a range, in rising order and apart from each other.
type set []rune

// parseSet reads a class of RE2 that is known to be one.
func parseSet(source string) set {
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil || re.Op != syntax.OpCharClass && re.Op != syntax.OpLiteral && re.Op != syntax.OpAnyCharNotNL {
		return nil
	}
	switch re.Op {
	case syntax.OpLiteral:
		return set{re.Rune[0], re.Rune[0]}
	case syntax.OpAnyCharNotNL:
		return set{'\n', '\n'}.not()
	}
	return set(re.Rune)
}

func (s set) not() set {
	var out set
	next := rune(0)
	for i := 0; i < len(s); i += 2 {
		if next < s[i] {
			out = append(out, next, s[i]-1)
		}
		next = s[i+1] + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, next, unicode.MaxRune)
	}
	return out
}

// plus merges two sets, as two sorted lists are.
func (s set) plus(t set) set {
	var out set
	for len(s) > 0 || len(t) > 0 {
		if len(s) == 0 || len(t) > 0 && t[0] < s[0] {
			s, t = t, s
		}
		if n := len(out); n > 0 && s[0] <= out[n-1]+1 {
			out[n-1] = max(out[n-1], s[1])
		} else {
			out = append(out, s[0], s[1])
		}
		s = s[2:]
	}
	return out
}

func (s set) minus(t set) set { return s.not().plus(t).not() }

// re2 writes the set as RE2 does.
func (s set) re2() string {
	if len(s) == 0 {
		return `[^\x00-\x{10FFFF}]`
	}
	var b strings.Builder
	b.WriteByte('[')
	for i := 0; i < len(s); i += 2 {
		fmt.Fprintf(&b, `\x{%X}-\x{%X}`, s[i], s[i+1])
	}
	b.WriteByte(']')
	return b.String()
}

// wordness says whether all characters of the set are parts of words, or none is.
func (s set) wordness() wordness {
	word := parseSet(`[` + wordClass + `]`)
	switch {
	case len(s) == 0:
		return maybe
	case len(s.minus(word)) == 0:
		return yes
	case len(s.minus(word.not())) == 0:
		return no
	}
	return maybe
}
