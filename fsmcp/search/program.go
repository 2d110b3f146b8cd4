package search

import (
	"encoding/binary"
	"errors"
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// The compiled form of a regular expression is the one of regexp/syntax, whose instructions take characters. What is
// searched is bytes. So each instruction that takes a character gets a tree of byte ranges: the UTF-8 encodings of the
// characters that it takes, with one edge a byte. A thread of the automaton is then an instruction and a node of its tree.

// maxInstructions bounds a compiled pattern. Every byte of a text may cost that many steps, so it bounds the time.
const maxInstructions = 10_000

// errTooLarge says that a pattern is short only as long as its counts are not written out.
var errTooLarge = errors.New("the pattern is too large once its counts are written out")

// program is a compiled pattern. It does not change, and may be used from several goroutines.
type program struct {
	inst  []syntax.Inst
	start uint32
	root  []uint32 // of each instruction that takes a character, the tree
	nodes []node   // of all trees; a node is its number here

	class  [256]uint8 // bytes that no instruction tells apart have one class
	sample []byte     // a byte of each class

	asksStart bool // whether a line begins here
	asksWord  bool // whether a word begins or ends here
}

// node is a place in a tree: which bytes may come next, in rising order, and where they lead.
type node []edge

type edge struct {
	lo, hi byte
	to     uint32 // 0: the character is complete
}

// leastInstructions is how many an expression that is not simplified has at least. Its counts are not written out for it,
// which in a short pattern may come to half a million instructions, most of a second and a gigabyte.
func leastInstructions(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n += leastInstructions(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		n += len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		n++
	case syntax.OpRepeat:
		if re.Max == 0 {
			return 0
		}
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// newProgram compiles a simplified expression.
func newProgram(re *syntax.Regexp) (*program, error) {
	compiled, err := syntax.Compile(re)
	if err != nil {
		return nil, err
	}
	if len(compiled.Inst) > maxInstructions {
		return nil, errTooLarge
	}
	p := &program{inst: compiled.Inst, start: uint32(compiled.Start), nodes: []node{nil}}
	p.root = make([]uint32, len(p.inst))
	trees := map[string]uint32{}
	var key []byte
	for i := range p.inst {
		in := &p.inst[i]
		switch in.Op {
		case syntax.InstEmptyWidth:
			p.note(syntax.EmptyOp(in.Arg))
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			ranges := taken(in)
			key = key[:0]
			for _, r := range ranges {
				key = binary.NativeEndian.AppendUint32(key, uint32(r))
			}
			root, ok := trees[string(key)]
			if !ok {
				root = p.tree(ranges)
				trees[string(key)] = root
			}
			p.root[i] = root
		}
	}
	if len(p.nodes) > 1<<16 {
		return nil, errTooLarge
	}
	p.classify()
	return p, nil
}

func (p *program) note(op syntax.EmptyOp) {
	const word, start = syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary, syntax.EmptyBeginLine | syntax.EmptyBeginText
	p.asksWord = p.asksWord || op&word != 0
	p.asksStart = p.asksStart || op&start != 0
}

// taken lists the characters that an instruction takes, as pairs of the first and the last of a range.
func taken(in *syntax.Inst) []rune {
	switch {
	case in.Op == syntax.InstRuneAny, in.Op == syntax.InstRuneAnyNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune} // No line holds a line break.
	case len(in.Rune) != 1:
		return in.Rune
	}
	r := in.Rune[0]
	list := []rune{r, r}
	if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			list = append(list, f, f)
		}
	}
	return list
}

// tree adds a tree for some ranges of characters and returns its root.
func (p *program) tree(ranges []rune) uint32 {
	root := p.newNode()
	for i := 0; i < len(ranges); i += 2 {
		p.addRange(root, ranges[i], ranges[i+1])
	}
	return root
}

func (p *program) newNode() uint32 {
	p.nodes = append(p.nodes, nil)
	return uint32(len(p.nodes) - 1)
}

// addRange adds the characters from lo to hi, in parts that are each one range of bytes after the other. Surrogates have
// no encoding, and no part has encodings of two lengths.
func (p *program) addRange(root uint32, lo, hi rune) {
	if isSurrogate(lo) {
		lo = surrogateMax + 1
	}
	if isSurrogate(hi) {
		hi = surrogateMin - 1
	}
	for _, last := range []rune{0x7f, 0x7ff, surrogateMin - 1, 0xffff} {
		if lo <= last && last < hi {
			p.addRange(root, lo, last)
			p.addRange(root, last+1, hi)
			return
		}
	}
	if lo > hi {
		return
	}
	for low := rune(0x3f); lo&^low != hi&^low; low = low<<6 | 0x3f {
		switch {
		case lo&low != 0:
			p.addRange(root, lo, lo|low)
			p.addRange(root, lo|low+1, hi)
			return
		case hi&low != low:
			p.addRange(root, lo, hi&^low-1)
			p.addRange(root, hi&^low, hi)
			return
		}
	}
	p.addBytes(root, utf8.AppendRune(nil, lo), utf8.AppendRune(nil, hi))
}

const surrogateMin, surrogateMax = 0xd800, 0xdfff

func isSurrogate(r rune) bool { return surrogateMin <= r && r <= surrogateMax }

// addBytes adds a range of bytes after the other. Ranges of characters are disjoint, so an edge is there already as a
// whole or not at all.
func (p *program) addBytes(at uint32, lo, hi []byte) {
	last := len(lo) == 1
	for _, e := range p.nodes[at] {
		if e.lo == lo[0] && e.hi == hi[0] && !last {
			p.addBytes(e.to, lo[1:], hi[1:])
			return
		}
	}
	e := edge{lo: lo[0], hi: hi[0]}
	if !last {
		e.to = p.newNode()
	}
	p.nodes[at] = append(p.nodes[at], e)
	if !last {
		p.addBytes(e.to, lo[1:], hi[1:])
	}
}

// classify finds out which bytes no edge tells apart, so that a row of the automaton's table is short.
func (p *program) classify() {
	var begins [257]bool // where a class begins
	mark := func(lo, hi int) { begins[lo], begins[hi+1] = true, true }
	mark('\n', '\n')
	mark(0x80, 0xbf) // They continue a character: between them no match begins.
	if p.asksWord {
		mark('0', '9')
		mark('A', 'Z')
		mark('_', '_')
		mark('a', 'z')
	}
	for _, n := range p.nodes {
		for _, e := range n {
			mark(int(e.lo), int(e.hi))
		}
	}
	for c := range 256 {
		if begins[c] || c == 0 {
			p.sample = append(p.sample, byte(c))
		}
		p.class[c] = uint8(len(p.sample) - 1)
	}
}

func isWord(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c == '_' }
