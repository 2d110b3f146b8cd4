package search

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// A pattern's required literals are texts of which every line that matches holds at least one. Finding them first spares
// most lines the automaton.

const (
	// mostLiterals bounds a set. Each literal is looked for on its own; for many, the automaton is quicker.
	mostLiterals = 8
	// longestLiteral bounds what is put together of parts, in bytes. A longer one is no rarer.
	longestLiteral = 64
	// mostStops is how many of a million bytes may have to be looked at for a set to be worth while: an eighth. There the
	// automaton, at two nanoseconds a byte, is as quick.
	mostStops = 125_000
	// mostCandidates is how many lines a million bytes may be expected to send to the automaton: one in seven. It is for
	// the search of lines. Whether a file holds a literal at all costs nothing where it is frequent: the first will be near.
	mostCandidates = 4000
)

// safety says which characters a required literal may hold.
type safety int

const (
	// asCleaned is for text in its normal form.
	asCleaned safety = iota
	// asStored is for the bytes of a file, in which a character may be spelt in several ways. ASCII has one spelling, save
	// for the three characters that have doubles which their normal form takes for them: K (U+212A, kelvin),
	// ; (U+037E, the Greek question mark) and ` (U+1FEF, varia).
	asStored
)

func (s safety) allows(r rune) bool {
	return r != '\r' && (s == asCleaned || r < utf8.RuneSelf && r != 'K' && r != ';' && r != '`')
}

// required returns the best set of required literals of a simplified expression, or nil when there is none of use.
func required(re *syntax.Regexp, s safety) []strand {
	w := literals{safety: s}
	n := w.of(re)
	return s.choose(append(n.sets, n.exact))
}

// requiredOf is required for a literal pattern.
func requiredOf(text string, s safety) []strand {
	var sets [][]literal
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return !s.allows(r) }) {
		sets = append(sets, []literal{{text: part}})
	}
	return s.choose(sets)
}

// choose returns what to look for of the set that costs least.
func (s safety) choose(sets [][]literal) []strand {
	var best []strand
	least := 0.0
	for _, set := range sets {
		if !s.isUsable(set) {
			continue
		}
		found := strands(set)
		if c := cost(found)/8 + frequency(set); best == nil || c < least { // A stop is so much cheaper than a line.
			best, least = found, c
		}
	}
	return best
}

func (s safety) isUsable(set []literal) bool {
	if len(set) == 0 {
		return false
	}
	for _, l := range set {
		if l.text == "" {
			return false
		}
	}
	return cost(strands(set)) <= mostStops && (s == asStored || frequency(set) <= mostCandidates)
}

// frequency is how many of a million bytes can be expected to begin one of the literals. Letters do not follow each
// other at random, so each but the rarest counts for a factor of four alone.
func frequency(set []literal) float64 {
	sum := 0.0
	for _, l := range set {
		least := l.count(0)
		for i := range len(l.text) {
			least = min(least, l.count(i))
		}
		for range min(len(l.text), 8) - 1 {
			least /= 4
		}
		sum += least
	}
	return sum
}

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
