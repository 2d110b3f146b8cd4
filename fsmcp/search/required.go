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

// allows says whether a literal may hold a character. None may hold a line break, as no line does, nor the return that may
// be before it, as none is left there.
func (s safety) allows(r rune) bool {
	return r != '\r' && r != '\n' && (s == asCleaned || r < utf8.RuneSelf && r != 'K' && r != ';' && r != '`')
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
