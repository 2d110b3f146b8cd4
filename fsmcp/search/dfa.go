package search

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// The automaton runs all threads of a pattern at once, one step a byte, whatever the pattern and the text. The set of
// threads is a state; a state and what each class of byte makes of it are worked out when they are first met, and kept in
// a table until that is full, when it begins anew. What is asked is whether a line matches and where the first match
// that ends, ends; so there is no order among threads, and a line is done with at its first match.
//
// A line break puts the automaton back to where a line begins, so one run goes over many lines. The threads that begin
// at a place are not part of its state: they join when the next byte is seen, and only if that does not continue a
// character. What holds between two bytes (a word's end) is judged then too; the state knows the byte before as far as
// anyone asks.

// What stands in the table, or is returned, in place of a state.
const (
	unknown     = ^uint32(0) - iota // not met yet
	matched                         // with the byte that was taken, a match is complete
	matchedHere                     // before the byte, a match was complete already
	stopped                         // cancelled; never in the table
	leastNote   = stopped
)

const (
	// maxSize bounds the states of an automaton with their rows of the table, in bytes. Each worker has one.
	maxSize = 2 << 20
	// sizeOfState is what a state takes apart from its threads, which are there twice, and its row.
	sizeOfState = 160
	// mostLeaves is how many of a million bytes may end idling for it to be skipped over: where it lasts for less than
	// eight bytes on the average, to go into the skip and out of it costs more than it saves.
	mostLeaves = 125_000
)

// thread is an instruction with, in the upper half, the node that it has come to in its tree; 0 while no character is
// begun. Among the threads of a state are instructions that take a character and those that ask what is around a place.
type thread uint32

func (t thread) instruction() uint32 { return uint32(t) & 0xffff }

func (t thread) node() uint32 { return uint32(t) >> 16 }

// state is what is known between two bytes.
type state struct {
	threads   []thread // sorted
	lineStart bool     // known only if anyone asks
	afterWord bool     // known only if anyone asks
}

// automaton is a program with the states met so far. It is used by one goroutine.
type automaton struct {
	p     *program
	watch *watch

	states []state
	table  []uint32 // a row for each state, with an entry for each class of byte; a state is called by where its row begins
	row    uint32   // the length of a row
	known  map[string]uint32
	size   int // in bytes, as far as it is counted

	begin uint32     // where a line begins
	idle  uint32     // within a line, with no thread under way; never less than begin
	leave [256]uint8 // 1 for the bytes after which the automaton is not idle any more
	spans spans      // the same, if that can be said in few ranges
	rest  uint32     // what is worth looking at in a run: nothing below it; idle, or 0 where idling is short

	now, then instructions
	partial   []thread
	key       []byte
}

// newAutomaton gives a program an empty table.
func newAutomaton(p *program, w *watch) *automaton {
	a := &automaton{p: p, watch: w, row: uint32(len(p.sample)), known: map[string]uint32{}}
	a.now, a.then = newInstructions(len(p.inst)), newInstructions(len(p.inst))
	a.forget()
	return a
}

// forget empties the table.
func (a *automaton) forget() {
	a.states, a.table, a.size = a.states[:0], a.table[:0], 0
	clear(a.known)
	a.begin = a.intern(state{lineStart: a.p.asksStart})
	a.idle = a.intern(state{})
	for c := range a.leave {
		class := uint32(a.p.class[c])
		if a.table[a.idle+class] == unknown && !a.watch.ended {
			to := a.step(state{}, byte(c)) // It may move the table.
			a.table[a.idle+class] = to
		}
		a.leave[c] = bit(a.table[a.idle+class] != a.idle)
	}
	a.spans = newSpans(&a.leave)
	a.rest = 0
	if a.expectedLeaves() < mostLeaves {
		a.rest = a.idle + 1
	}
}

// expectedLeaves is how many of a million bytes of a text end idling.
func (a *automaton) expectedLeaves() float64 {
	sum := 0.0
	for c, leaves := range a.leave {
		sum += float64(leaves) * expected(byte(c))
	}
	return sum
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// intern returns the name of a state, whose threads it copies when they are new.
func (a *automaton) intern(s state) uint32 {
	a.key = a.key[:0]
	for _, t := range s.threads {
		a.key = binary.NativeEndian.AppendUint32(a.key, uint32(t))
	}
	a.key = append(a.key, bit(s.lineStart)|bit(s.afterWord)<<1)
	if at, ok := a.known[string(a.key)]; ok {
		return at
	}
	at := uint32(len(a.table))
	s.threads = slices.Clone(s.threads)
	a.states = append(a.states, s)
	a.size += sizeOfState + 8*len(s.threads) + 4*int(a.row)
	for range a.row {
		a.table = append(a.table, unknown)
	}
	a.known[string(a.key)] = at
	return at
}

// learn fills in what is unknown: where a byte leads from a state.
func (a *automaton) learn(from uint32, c byte) uint32 {
	s := a.states[from/a.row]
	if a.watch.ended {
		return stopped
	}
	if a.size > maxSize {
		a.forget()
		from = a.intern(s)
	}
	to := a.step(s, c)
	a.table[from+uint32(a.p.class[c])] = to
	return to
}

// stepOfState is how many steps it takes to look up or to make a state, apart from its threads.
const stepOfState = 64

// step moves every thread of a state over a byte.
func (a *automaton) step(s state, c byte) uint32 {
	a.watch.mustStop(stepOfState + 4*(len(s.threads)+len(a.now.list)+len(a.then.list))) // The lists are those of the last time.
	a.now.clear()
	a.then.clear()
	a.partial = a.partial[:0]
	if c&0xc0 != 0x80 {
		if a.arrive(s, c) {
			return matchedHere
		}
		if c == '\n' {
			return a.begin
		}
	}
	for _, t := range s.threads {
		if t.node() != 0 {
			a.take(t, t.node(), c)
		}
	}
	for _, pc := range a.now.list {
		if root := a.p.root[pc]; root != 0 {
			a.take(thread(pc), root, c)
		}
	}
	for _, pc := range a.then.list {
		switch {
		case a.p.inst[pc].Op == syntax.InstMatch:
			return matched
		case a.p.root[pc] != 0 || a.p.inst[pc].Op == syntax.InstEmptyWidth:
			a.partial = append(a.partial, thread(pc))
		}
	}
	slices.Sort(a.partial)
	return a.intern(state{threads: slices.Compact(a.partial), afterWord: a.p.asksWord && isWord(c)})
}

// arrive follows, at a place between two characters, what depends on the one that comes, and lets the threads that begin
// here join. It reports whether one of them has matched.
func (a *automaton) arrive(s state, c byte) bool {
	holds := syntax.EmptyNoWordBoundary
	if s.afterWord != isWord(c) {
		holds = syntax.EmptyWordBoundary
	}
	if s.lineStart {
		holds |= syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	if c == '\n' {
		holds |= syntax.EmptyEndLine | syntax.EmptyEndText
	}
	for _, t := range s.threads {
		if t.node() == 0 {
			a.follow(&a.now, t.instruction(), holds)
		}
	}
	a.follow(&a.now, a.p.start, holds)
	for _, pc := range a.now.list {
		if a.p.inst[pc].Op == syntax.InstMatch {
			return true
		}
	}
	return false
}

// take moves a thread over a byte, if its tree has an edge for it.
func (a *automaton) take(t thread, node uint32, c byte) {
	for _, e := range a.p.nodes[node] {
		switch {
		case c < e.lo || c > e.hi:
		case e.to == 0:
			a.follow(&a.then, a.p.inst[t.instruction()].Out, 0)
			return
		default:
			a.partial = append(a.partial, thread(e.to<<16|t.instruction()))
			return
		}
	}
}

// follow adds an instruction and all that it leads to without a character. Of those that ask what is around a place, it
// goes past the ones for which that holds.
func (a *automaton) follow(set *instructions, pc uint32, holds syntax.EmptyOp) {
	stack := append(set.stack[:0], pc)
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !set.add(pc) {
			continue
		}
		switch in := &a.p.inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, in.Arg, in.Out)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, in.Out)
		case syntax.InstEmptyWidth:
			if asked := syntax.EmptyOp(in.Arg); holds&asked == asked {
				stack = append(stack, in.Out)
			}
		}
	}
	set.stack = stack
}

// instructions is a set of them that is emptied at once, in the order in which they were added.
type instructions struct {
	list  []uint32
	where []uint32 // an instruction is in the set if this is where it is in the list
	stack []uint32 // of follow
}

func newInstructions(n int) instructions { return instructions{where: make([]uint32, n)} }

func (s *instructions) clear() { s.list = s.list[:0] }

func (s *instructions) add(pc uint32) bool {
	if w := s.where[pc]; w < uint32(len(s.list)) && s.list[w] == pc {
		return false
	}
	s.where[pc] = uint32(len(s.list))
	s.list = append(s.list, pc)
	return true
}
