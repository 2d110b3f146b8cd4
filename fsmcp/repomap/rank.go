package repomap

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"
)

// Personalised PageRank, as the paper has it: a reader follows references with probability damping, and else, or where
// there are none, starts again at a file drawn by its weight.
const (
	damping   = 0.85
	tolerance = 1e-9 // of the change of all ranks in one round, summed
	maxRounds = 200  // real trees took 26 to 90
	// Ranks that agree to twelve digits are equal: what is beyond is the noise of adding.
	rankDigits = 1e12

	queryWeight = 10
	focusWeight = 50
)

// rank gives each file's rank; they add up to 1. The weights say how likely the reader starts at each file, up to a
// common factor. What was asked last is remembered: it is what is oftenest asked next.
func (g *graph) rank(weights []float64) []float64 {
	if !slices.Equal(weights, g.last.weights) {
		g.last.weights, g.last.ranks = weights, g.ranksFrom(normalised(weights))
	}
	return g.last.ranks
}

func (g *graph) ranksFrom(start []float64) []float64 {
	chance, dead := g.chances()
	r, next := slices.Clone(start), make([]float64, len(start))
	for range maxRounds {
		dangling := 0.0
		clear(next)
		for f, rank := range r {
			if dead[f] {
				dangling += rank
				continue
			}
			to := g.to[g.first[f]:g.first[f+1]]
			share := chance[g.first[f]:][:len(to)]
			for i, t := range to {
				// The conversions keep a compiler from fusing the product with the sum, which some processors round
				// differently.
				next[t] += float64(rank * share[i])
			}
		}
		change := 0.0
		for f := range next {
			next[f] = float64(damping*(next[f]+float64(dangling*start[f]))) + float64((1-damping)*start[f])
			change += math.Abs(next[f] - r[f])
		}
		r, next = next, r
		if change < tolerance {
			break
		}
	}
	return r
}

// chances are the weights of the edges as shares of their files' sums, and which files have no edges.
func (g *graph) chances() (chance []float64, dead []bool) {
	chance, dead = make([]float64, len(g.weight)), make([]bool, len(g.first)-1)
	for f := range dead {
		from, to := g.first[f], g.first[f+1]
		dead[f] = from == to
		sum := 0.0
		for e := from; e < to; e++ {
			sum += g.weight[e]
		}
		for e := from; e < to; e++ {
			chance[e] = g.weight[e] / sum
		}
	}
	return chance, dead
}

func normalised(weights []float64) []float64 {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	p := make([]float64, len(weights))
	for i, w := range weights {
		p[i] = w / sum
	}
	return p
}

// ranked is the order of files: first those that the query is about, then the others; by rank, and by path where that
// is the same.
func ranked(ranks []float64, about []bool) []int {
	order := make([]int, len(ranks))
	rounded := make([]float64, len(ranks))
	for i := range order {
		order[i], rounded[i] = i, math.Round(ranks[i]*rankDigits)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if about[a] != about[b] {
			if about[a] {
				return -1
			}
			return 1
		}
		return cmp.Compare(rounded[b], rounded[a])
	})
	return order
}

// steering is what a request says about where to look.
type steering struct {
	words []string // in lower case
	focus []string // physical paths; "." is the root
}

// matching says of each name whether it contains one of the words. Without words it is nil.
func (s *steering) matching(files []file, names *names) []bool {
	if len(s.words) == 0 {
		return nil
	}
	match, seen := make([]bool, len(names.of)), make([]bool, len(names.of))
	for f := range files {
		for _, d := range files[f].definitions {
			if !seen[d.name] {
				seen[d.name], match[d.name] = true, s.contains(names.of[d.name])
			}
		}
	}
	return match
}

func (s *steering) contains(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(s.words, func(w string) bool { return strings.Contains(text, w) })
}

// weights says how likely a reader starts at each file: ten times when the query names it or a definition in it, fifty
// when it is in the focus, and both when both. It also says which files the words are about: they are called so, and define
// names that are.
func (s *steering) weights(files []file, match []bool) (weights []float64, about []bool) {
	weights, about = make([]float64, len(files)), make([]bool, len(files))
	for f := range files {
		weights[f] = 1
		if match != nil {
			defines := slices.ContainsFunc(files[f].definitions, func(d definition) bool { return match[d.name] })
			about[f] = defines && s.contains(path.Base(files[f].path))
			if defines || s.contains(files[f].path) {
				weights[f] *= queryWeight
			}
		}
		if s.inFocus(files[f].path) {
			weights[f] *= focusWeight
		}
	}
	return weights, about
}

func (s *steering) inFocus(file string) bool {
	return slices.ContainsFunc(s.focus, func(f string) bool {
		return f == "." || file == f || strings.HasPrefix(file, f) && file[len(f)] == '/'
	})
}
