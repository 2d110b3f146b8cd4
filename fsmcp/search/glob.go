package search

import (
	"strings"
	"unicode/utf8"
)

// MaxPattern is the longest pattern, in bytes (D27).
const MaxPattern = 4 << 10

// Glob is a compiled pattern of the pack's dialect (D17): '*' matches any run of characters within one segment of a
// path, '?' one character, and '**' as a whole segment any number of segments. All else is literal, brackets and
// braces too, and case counts. It may be used from several goroutines.
type Glob struct {
	segments []string
	byName   bool // no slash in the pattern: it is matched against names, at any depth
	onlyDirs bool // a slash at its end
}

// ParseGlob compiles a pattern. Every text is one; a leading "./", which makes it one of paths, and a slash at the end,
// which asks for directories alone, are no part of what is matched.
func ParseGlob(pattern string) Glob {
	below := pattern
	for strings.HasPrefix(below, "./") {
		below = below[2:]
	}
	trimmed := strings.TrimRight(below, "/")
	g := Glob{onlyDirs: len(trimmed) < len(below)}
	g.segments = strings.Split(trimmed, "/")
	g.byName = len(g.segments) == 1 && trimmed != "**" && below == pattern
	return g
}

// ByName reports whether the pattern is matched against names and not against paths.
func (g Glob) ByName() bool { return g.byName }

// Match reports whether the pattern matches an entry, given its path relative to the searched directory.
func (g Glob) Match(path string, isDir bool) bool {
	if g.onlyDirs && !isDir {
		return false
	}
	if g.byName {
		return MatchName(g.segments[0], path[strings.LastIndexByte(path, '/')+1:])
	}
	return matchPath(g.segments, path)
}

// matchPath matches segment by segment. As with '*' in a name, only the last '**' need ever be tried again: whatever
// an earlier one could still take, the later one takes as well. So the time is at most the product of both lengths.
func matchPath(pattern []string, path string) bool {
	rest, p := path, 0
	again, againRest := -1, ""
	for {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			again, againRest = p, rest
			p++
			continue
		case p == len(pattern) && rest == "":
			return true
		}
		name, after, _ := strings.Cut(rest, "/")
		if p < len(pattern) && rest != "" && MatchName(pattern[p], name) {
			p, rest = p+1, after
			continue
		}
		if again < 0 || againRest == "" {
			return false
		}
		_, againRest, _ = strings.Cut(againRest, "/")
		p, rest = again+1, againRest
	}
}

// MatchName matches one name with '*' and '?'. A byte that is not UTF-8 counts as one character. Only the last star
// need be tried again, so the time is at most the product of both lengths, whatever the pattern.
func MatchName(pattern, name string) bool {
	p, n := 0, 0
	star, starName := -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, starName = p, n
			p++
			continue
		case p < len(pattern) && pattern[p] == '?':
			_, size := utf8.DecodeRuneInString(name[n:])
			p, n = p+1, n+size
			continue
		case p < len(pattern) && pattern[p] == name[n]:
			p, n = p+1, n+1
			continue
		}
		if star < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(name[starName:])
		starName += size
		p, n = star+1, starName
	}
	return strings.Trim(pattern[p:], "*") == ""
}
