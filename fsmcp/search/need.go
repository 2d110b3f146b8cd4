package search

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// need is what is known of the texts that an expression matches.
type need struct {
	exact []literal   // if not nil, all texts that it can match; those with fold also in other cases
	sets  [][]literal // of each, every text that it matches holds at least one
}

// literals works out needs.
type literals struct{ safety }

func (w literals) of(re *syntax.Regexp) need {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return need{exact: []literal{{}}}
	case syntax.OpLiteral:
		return w.concat(len(re.Rune), func(i int) need { return w.character(re.Rune[i], re.Flags&syntax.FoldCase != 0) })
	case syntax.OpCharClass:
		return w.class(re.Rune)
	case syntax.OpCapture:
		return w.of(re.Sub[0])
	case syntax.OpPlus:
		n := w.of(re.Sub[0])
		return need{sets: n.all()}
	case syntax.OpQuest:
		if n := w.of(re.Sub[0]); n.exact != nil && len(n.exact) < mostLiterals {
			return need{exact: append(n.exact[:len(n.exact):len(n.exact)], literal{})}
		}
	case syntax.OpConcat:
		return w.concat(len(re.Sub), func(i int) need { return w.of(re.Sub[i]) })
	case syntax.OpAlternate:
		return w.alternate(re.Sub)
	}
	return need{}
}

// all is every set, the exact texts too.
func (n need) all() [][]literal {
	if n.exact == nil {
		return n.sets
	}
	return append(n.sets[:len(n.sets):len(n.sets)], n.exact)
}

// character is the need of one. Where case does not count, k and s are left out: U+212A and U+017F are theirs too.
func (w literals) character(r rune, fold bool) need {
	switch {
	case !w.allows(r):
		return need{}
	case !fold || r < utf8.RuneSelf && !isLetter(byte(r)):
		return need{exact: []literal{{text: string(r)}}}
	case r >= utf8.RuneSelf || r|0x20 == 'k' || r|0x20 == 's':
		return need{}
	}
	return need{exact: []literal{{text: string(r | 0x20), fold: true}}}
}

// class is the need of a class of few characters.
func (w literals) class(ranges []rune) need {
	var n need
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if r == '\n' {
				continue // No line holds one.
			}
			if !w.allows(r) || len(n.exact) == mostLiterals/2 {
				return need{}
			}
			n.exact = append(n.exact, literal{text: string(r)})
		}
	}
	return n
}

// concat puts needs together that are met one after the other: exact texts are joined as long as they stay few and short.
func (w literals) concat(count int, at func(int) need) need {
	joined := []literal{{}}
	all := need{exact: joined}
	flush := func() {
		all.exact = nil
		all.sets = append(all.sets, joined)
		joined = []literal{{}}
	}
	for i := range count {
		n := at(i)
		if n.exact == nil {
			flush()
			all.sets = append(all.sets, n.sets...)
			continue
		}
		if len(joined)*len(n.exact) > mostLiterals || longestOf(joined)+longestOf(n.exact) > longestLiteral {
			flush()
		}
		joined = product(joined, n.exact)
	}
	if all.exact == nil {
		all.sets = append(all.sets, joined)
		return all
	}
	return need{exact: joined}
}

func longestOf(set []literal) int {
	n := 0
	for _, l := range set {
		n = max(n, len(l.text))
	}
	return n
}

// product joins every text of a with every one of b. Should one of the two be blind to case, the whole is: it is looked
// for in more places than needed.
func product(a, b []literal) []literal {
	list := make([]literal, 0, len(a)*len(b))
	for _, l := range a {
		for _, m := range b {
			list = append(list, join(l, m))
		}
	}
	return list
}

func join(l, m literal) literal {
	j := literal{text: l.text + m.text, fold: l.fold || m.fold}
	if j.fold {
		j.text = strings.Map(lower, j.text)
	}
	return j
}

func lower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r | 0x20
	}
	return r
}

// alternate is the union of one set of each branch.
func (w literals) alternate(branches []*syntax.Regexp) need {
	var all need
	union := []literal{}
	exact := true
	for _, b := range branches {
		n := w.of(b)
		exact = exact && n.exact != nil
		best := n.exact
		if best == nil {
			best = w.rarest(n.sets)
		}
		if best == nil || len(union)+len(best) > mostLiterals {
			return need{}
		}
		union = append(union, best...)
	}
	if exact {
		all.exact = union
	} else {
		all.sets = [][]literal{union}
	}
	return all
}

// rarest is the set of which the fewest places can be expected, or nil.
func (s safety) rarest(sets [][]literal) []literal {
	var best []literal
	for _, set := range sets {
		if s.isUsable(set) && (best == nil || frequency(set) < frequency(best)) {
			best = set
		}
	}
	return best
}
