package search

// run goes over b[from:] in a state, as far as the first match. It returns the state after the last byte, or a note; and
// where the match ends.
func (a *automaton) run(s uint32, b []byte, from int) (to uint32, end int) {
	for i := from; ; i++ {
		if s, to, i = a.pace(s, b, i); i == len(b) {
			return s, -1
		}
		if to == unknown {
			to = a.learn(s, b[i])
		}
		switch to {
		case a.idle:
			i = a.skip(b, i+1) - 1
		case matched:
			return to, i + 1
		case matchedHere, stopped:
			return to, i
		}
		s = to
	}
}

// pace goes over b[i:] in a state, as far as to what is worth a look: a note or, where idling is, that or less. It returns the
// state before that byte, what the byte leads to and where it is. Each byte waits for the state that the one before led to. So
// nothing is called in this loop: the compiler would keep that state in memory, which takes as long as the step itself.
func (a *automaton) pace(s uint32, b []byte, i int) (from, to uint32, at int) {
	table, class, rest := a.table, &a.p.class, a.rest
	span := leastNote - rest
	for ; i < len(b); i++ {
		to = table[s+uint32(class[b[i]])]
		if to-rest >= span {
			break
		}
		s = to
	}
	return s, to, i
}

// skip returns a place at or after i up to which an idle automaton has nothing to do. Other than in a table, no step waits
// for the one before, so it is several times as quick.
func (a *automaton) skip(b []byte, i int) int {
	if a.spans.few {
		return a.spans.skip(b, i)
	}
	leave := &a.leave
	for ; len(b)-i >= 8; i += 8 {
		w := b[i : i+8]
		if leave[w[0]]|leave[w[1]]|leave[w[2]]|leave[w[3]]|leave[w[4]]|leave[w[5]]|leave[w[6]]|leave[w[7]] != 0 {
			break
		}
	}
	for i < len(b) && leave[b[i]] == 0 {
		i++
	}
	return i
}

// matchesAtEnd says whether a line that ends in a state has matched.
func (a *automaton) matchesAtEnd(s uint32) bool {
	to := a.table[s+uint32(a.p.class['\n'])]
	if to == unknown {
		to = a.learn(s, '\n')
	}
	return to == matchedHere
}
