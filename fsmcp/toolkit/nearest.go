package toolkit

import (
	"slices"
	"strings"
)

// nearest returns the parameter that a caller most likely meant by an unknown name, or "". Names that the call has too
// are no candidates: sending one of them again would only be the next refusal.
func nearest(name string, params []Param, sent []string) string {
	meant := synonym(flatten(name))
	var names []string
	for _, p := range params {
		if slices.Contains(sent, p.Name) {
			continue
		}
		if p.Name == meant {
			return p.Name
		}
		names = append(names, p.Name)
	}
	return Nearest(name, names)
}

// Nearest returns the one of the names that somebody most likely meant by another, or "" where none is near.
func Nearest(name string, names []string) string {
	flat := flatten(name)
	best, bestDistance := "", allowedDistance(flat)+1
	for _, n := range names {
		if d := distance(flat, flatten(n)); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	return best
}

// flatten removes what differs between old-string, old_string and oldString.
func flatten(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
}

// allowedDistance is how many letters may be wrong: one in three, and not more than two, or any short name would be near
// any other.
func allowedDistance(flat string) int { return min(2, len(flat)/3) }

// synonym returns the name that these packs use for what other tools call flat.
func synonym(flat string) string {
	switch flat {
	case "file", "filename", "filepath", "pathname", "dir", "directory", "directorypath", "folder":
		return "path"
	case "source", "src", "sourcepath", "frompath", "oldpath":
		return "from"
	case "destination", "dest", "dst", "destinationpath", "target", "topath", "newpath":
		return "to"
	case "text", "contents", "data", "body", "filetext", "filecontent":
		return "content"
	case "old", "oldtext", "oldstr", "find", "search":
		return "old-string"
	case "new", "newtext", "newstr", "replace", "replacement", "replacewith":
		return "new-string"
	case "all", "global":
		return "replace-all"
	case "query", "regexp", "needle":
		return "pattern"
	case "line", "start", "startline":
		return "offset"
	case "lines", "count":
		return "limit"
	case "headlimit", "maxcount", "maxmatches":
		return "max-results"
	case "include", "filter":
		return "glob"
	}
	return ""
}

// distance counts the letters to insert, remove, replace or swap with their neighbour to get from a to b (optimal string
// alignment). A name of more than maxName bytes is near nothing, which keeps a hostile one cheap.
func distance(a, b string) int {
	const maxName = 64
	if len(a) > maxName {
		return maxName
	}
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			replaced := above[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, row[j]+1, above[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
