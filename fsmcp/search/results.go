package search

// results puts an answer together, file by file in the order of the walk.
type results struct {
	Result
	query Query
	size  int // bytes of text
}

// done says whether nothing can be added any more.
func (r *results) done() bool { return r.More || r.Full }

// take adds what a file has, as far as there is room: up to the last match that may be shown, and its context up to the
// next match.
func (r *results) take(path string, lines []Line) {
	kept, last := 0, 0 // lines, and the number of the last one that matches
	for _, l := range lines {
		if r.done() {
			break
		}
		if l.Match && r.Matches == r.query.Max {
			r.More = true
			break
		}
		if r.Matches == r.query.Max && (last == 0 || l.Number > last+r.query.Context) {
			continue // It leads to a match that is not shown.
		}
		if r.size += len(path) + len(l.Text); r.size > maxAnswer {
			r.Full = true
			break
		}
		if l.Match {
			r.Matches++
			last = l.Number
		}
		kept++
	}
	if kept > 0 {
		r.Files = append(r.Files, File{Path: path, Lines: lines[:kept]})
	}
}
