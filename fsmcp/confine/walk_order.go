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
func (w *walker) plan(list []Entry) []item {
	items := itemsOf(list)
	w.sort(items)
	return items
}

func itemsOf(list []Entry) []item {
	n := len(list)
	for i := range list {
		if list[i].Kind == Directory {
			n++
		}
	}
	items := make([]item, 0, n)
	for _, e := range list {
		items = append(items, item{Entry: e})
		if e.Kind == Directory {
			items = append(items, item{Entry: e, descend: true})
		}
	}
	return items
}

// sort leaves the order to chance when the walk has been cancelled meanwhile: a million names take a second.
func (w *walker) sort(items []item) {
	const fewItems, comparisonsBetweenLooks = 1 << 12, 1 << 14
	if len(items) <= fewItems {
		slices.SortFunc(items, w.order.compare)
		return
	}
	compared, cancelled := 0, false
	slices.SortFunc(items, func(a, b item) int {
		if compared++; compared%comparisonsBetweenLooks == 0 {
			cancelled = w.ctx.Err() != nil
		}
		if cancelled {
			return 0 // Among equals there is nothing left to do.
		}
		return w.order.compare(a, b)
	})
}

func (o Order) compare(a, b item) int {
	switch o {
	case FilesFirst:
		return filesFirst(a, b)
	case Inside:
		return inside(a, b)
	}
	return byPath(a, b)
}

// byPath compares as if a directory's content stood at its name with a slash.
func byPath(a, b item) int {
	if n := min(len(a.Name), len(b.Name)); a.Name[:n] != b.Name[:n] || len(a.Name) == len(b.Name) {
		return cmp.Or(strings.Compare(a.Name, b.Name), boolCompare(a.descend, b.descend))
	}
	if len(a.Name) > len(b.Name) {
		return -byPath(b, a)
	}
	if a.descend {
		return cmp.Compare('/', b.Name[len(a.Name)])
	}
	return -1
}

func filesFirst(a, b item) int {
	return cmp.Or(
		boolCompare(a.Kind == Directory, b.Kind == Directory),
		strings.Compare(a.Name, b.Name),
		boolCompare(a.descend, b.descend))
}

func inside(a, b item) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), -boolCompare(a.descend, b.descend))
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
