package confine

import (
	"cmp"
	"slices"
	"strings"
)

// Order is the order in which a walk visits.
type Order uint8

const (
	// ByPath is the byte order of the slash-separated paths: "a", "a.txt", "a/b".
	ByPath Order = iota
	// FilesFirst is each directory's other entries, then its sub-directories, both in byte order.
	FilesFirst
	// Inside is a directory's content before the directory itself, as deleting needs it.
	Inside
)

// plan puts a directory's entries in the order in which they are dealt with.
func (w *walker) plan(list []Entry) []Entry {
	todo := withDescents(list)
	w.sort(todo)
	return todo
}

// withDescents adds the descent into each directory. Where there is none it gives the list itself, which is left as it is.
func withDescents(list []Entry) []Entry {
	n := len(list)
	for i := range list {
		if list[i].Kind == Directory {
			n++
		}
	}
	if n == len(list) {
		return list
	}
	todo := make([]Entry, 0, n)
	for _, e := range list {
		todo = append(todo, e)
		if e.Kind == Directory {
			e.deed = descend
			todo = append(todo, e)
		}
	}
	return todo
}

// sort leaves the order to chance when the walk has been cancelled meanwhile: a million names take a second.
func (w *walker) sort(todo []Entry) {
	const fewItems, comparisonsBetweenLooks = 1 << 12, 1 << 14
	if len(todo) <= fewItems {
		slices.SortFunc(todo, w.order.compare)
		return
	}
	compared, cancelled := 0, false
	slices.SortFunc(todo, func(a, b Entry) int {
		if compared++; compared%comparisonsBetweenLooks == 0 {
			cancelled = w.ctx.Err() != nil
		}
		if cancelled {
			return 0 // Among equals there is nothing left to do.
		}
		return w.order.compare(a, b)
	})
}

func (o Order) compare(a, b Entry) int {
	switch o {
	case FilesFirst:
		return filesFirst(a, b)
	case Inside:
		return inside(a, b)
	}
	return byPath(a, b)
}

// byPath compares as if a directory's content stood at its name with a slash.
func byPath(a, b Entry) int {
	if n := min(len(a.Name), len(b.Name)); a.Name[:n] != b.Name[:n] || len(a.Name) == len(b.Name) {
		return cmp.Or(strings.Compare(a.Name, b.Name), boolCompare(a.deed != show, b.deed != show))
	}
	if len(a.Name) > len(b.Name) {
		return -byPath(b, a)
	}
	if a.deed != show {
		return cmp.Compare('/', b.Name[len(a.Name)])
	}
	return -1
}

func filesFirst(a, b Entry) int {
	return cmp.Or(
		boolCompare(a.Kind == Directory, b.Kind == Directory),
		strings.Compare(a.Name, b.Name),
		boolCompare(a.deed != show, b.deed != show))
}

func inside(a, b Entry) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), -boolCompare(a.deed != show, b.deed != show))
}

// boolCompare puts false before true.
func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
