package repomap

import (
	"math"
	"strings"
)

// References are matched by name and nothing else. These rules take most of the noise out of that:
//
//   - A name's references are shared among the files that define it, and count with the square root of their number.
//   - In a tree of at least asideFloor files, a name that more than half of them refer to is set aside altogether: it adds
//     nothing to the graph, nor to the score of a definition. In a smaller tree two users of a helper are no noise.
//   - A name that more than maxDefiners files define means nothing.
//   - What is taken from a package by name, as errors.New in Go, refers to files of that package and to no others.
const (
	asideFloor  = 8
	maxDefiners = 16
)

// graph says who leans on whom: an edge goes from a file to one that defines what it refers to. Files are numbered in
// the order of their paths. All sums are taken in the order of files and of the names in them, so that they come out
// the same to the last bit.
type graph struct {
	first  []int32 // of a file's edges; one more than there are files
	to     []int32
	weight []float64

	of       []nameID  // the package of each file
	definers []int32   // the files that define each name, in order
	slot     []int32   // of a name's first definer; one more than there are names
	score    []float64 // of each definer: what other files' references to the name are worth to it

	// What maps have found out so far, for the next one of an unchanged tree.
	last struct{ weights, ranks []float64 }
	best []int32 // of each file's definitions, the best when there is no query, plus one; 0 if that is not known
}

// newGraph builds the graph of the files.
func newGraph(files []file, names *names) *graph {
	g := &graph{first: make([]int32, 1, len(files)+1), of: make([]nameID, len(files)), best: make([]int32, len(files))}
	for f := range files {
		g.of[f] = files[f].of
	}
	g.findDefiners(files, len(names.of))
	users := g.countUsers(files, len(names.of))
	modules := moduleIndex(files)
	row := edges{sum: make([]float64, len(files))}
	for f := range files {
		row.from = int32(f)
		for _, r := range files[f].references {
			if len(files) < asideFloor || 2*int(users[r.name]) <= len(files) {
				g.share(r, &row)
			}
		}
		for _, m := range files[f].modules {
			defining := modules[names.of[m]]
			for _, to := range defining {
				row.add(to, 1/float64(len(defining)))
			}
		}
		for _, to := range row.to {
			g.to, g.weight = append(g.to, to), append(g.weight, row.sum[to])
		}
		g.first = append(g.first, int32(len(g.to)))
		row.clear()
	}
	return g
}

// edges are the edges of one file while their weights are summed.
type edges struct {
	from int32
	to   []int32   // in the order in which they came up
	sum  []float64 // by file
}

func (e *edges) add(to int32, weight float64) {
	if to == e.from {
		return
	}
	if e.sum[to] == 0 {
		e.to = append(e.to, to)
	}
	e.sum[to] += weight
}

func (e *edges) clear() {
	for _, to := range e.to {
		e.sum[to] = 0
	}
	e.to = e.to[:0]
}

// share spreads one file's references to a name over the other files that define it.
func (g *graph) share(r reference, row *edges) {
	from, to := g.slot[r.name], g.slot[r.name+1]
	count := int(to - from)
	if r.from != noName {
		count = 0
		for i := from; i < to; i++ {
			if g.canMean(r, g.definers[i]) {
				count++
			}
		}
	}
	if count == 0 || count > maxDefiners {
		return
	}
	worth := math.Sqrt(float64(r.count)) / float64(count)
	for i := from; i < to; i++ {
		if f := g.definers[i]; f != row.from && g.canMean(r, f) {
			g.score[i] += worth
			row.add(f, worth)
		}
	}
}

// canMean says whether a reference can be to what a file defines.
func (g *graph) canMean(r reference, f int32) bool { return r.from == noName || r.from == g.of[f] }

// findDefiners lists the files that define each name for others.
func (g *graph) findDefiners(files []file, count int) {
	g.slot = make([]int32, count+1)
	eachDefined(files, count, func(_ int32, n nameID) { g.slot[n+1]++ })
	for n := range count {
		g.slot[n+1] += g.slot[n]
	}
	g.definers = make([]int32, g.slot[count])
	g.score = make([]float64, g.slot[count])
	next := append([]int32(nil), g.slot...)
	eachDefined(files, count, func(f int32, n nameID) {
		g.definers[next[n]] = f
		next[n]++
	})
}

// eachDefined calls found for each file and name that it defines for others, once.
func eachDefined(files []file, count int, found func(f int32, n nameID)) {
	last := make([]int32, count)
	for f := range files {
		header := isHeader(files[f].path)
		for _, d := range files[f].definitions {
			if d.own && !header || last[d.name] == int32(f)+1 {
				continue
			}
			last[d.name] = int32(f) + 1
			found(int32(f), d.name)
		}
	}
}

// countUsers counts the files that refer to each name.
func (g *graph) countUsers(files []file, count int) []int32 {
	packages := make([]bool, count)
	packages[noName] = true
	for _, of := range g.of {
		packages[of] = true
	}
	users := make([]int32, count)
	last := make([]int32, count)
	for f := range files {
		for _, r := range files[f].references {
			// A name is counted once a file, and not at all where it is of a package that is not on the map.
			if last[r.name] != int32(f)+1 && packages[r.from] {
				last[r.name] = int32(f) + 1
				users[r.name]++
			}
		}
	}
	return users
}

// scoreOf is what the other files' references to a name are worth to a file that defines it.
func (g *graph) scoreOf(f int, n nameID) float64 {
	for i := g.slot[n]; i < g.slot[n+1]; i++ {
		if int(g.definers[i]) == f {
			return g.score[i]
		}
	}
	return 0
}

// moduleIndex finds the files of Raku modules: lib/Foo/Bar.rakumod is Foo::Bar.
func moduleIndex(files []file) map[string][]int32 {
	index := map[string][]int32{}
	for f := range files {
		path, ok := strings.CutSuffix(files[f].path, ".rakumod")
		if !ok {
			if path, ok = strings.CutSuffix(files[f].path, ".pm6"); !ok {
				continue
			}
		}
		at := strings.LastIndex("/"+path, "/lib/")
		if at < 0 {
			continue
		}
		name := strings.ReplaceAll(path[at+len("lib/"):], "/", "::")
		index[name] = append(index[name], int32(f))
	}
	return index
}
