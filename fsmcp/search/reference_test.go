package search

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The reference is a search as plainly as it can be written: every file is read whole, normalised and split, and every
// line is shown to strings.Contains or to Go's regexp.

type reference struct {
	q  Query
	re *regexp.Regexp // nil for a literal pattern
}

func newReference(t testing.TB, q Query) reference {
	t.Helper()
	r := reference{q: q}
	r.q.Pattern = norm.NFC.String(q.Pattern)
	if q.Regex {
		re, err := regexp.Compile(r.q.Pattern)
		if err != nil {
			t.Fatal(err)
		}
		r.re = re
	}
	return r
}

// tree searches the files below a directory.
func (r reference) tree(t testing.TB, dir string) Result {
	t.Helper()
	var all Result
	for _, path := range walkPlainly(t, dir, "") {
		if r.q.Glob != "" && !MatchName(r.q.Glob, filepath.Base(path)) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			continue
		}
		r.file(&all, filepath.ToSlash(path), b)
	}
	return all
}

// walkPlainly lists the files, and the links to files, in order.
func walkPlainly(t testing.TB, dir, prefix string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, prefix))
	if err != nil {
		return nil
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var files, below []string
	for _, e := range entries {
		path := filepath.Join(prefix, e.Name())
		info, err := os.Stat(filepath.Join(dir, path))
		switch {
		case err != nil:
		case e.IsDir():
			below = append(below, walkPlainly(t, dir, path)...)
		case info.Mode().IsRegular() && isInside(dir, path):
			files = append(files, path)
		}
	}
	return append(files, below...)
}

func isInside(dir, path string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(filepath.Join(dir, path))
	return err == nil && strings.HasPrefix(target, dir+string(filepath.Separator))
}

// file adds what a file has to a result.
func (r reference) file(all *Result, path string, b []byte) {
	if all.More || bytes.IndexByte(b[:min(len(b), 8192)], 0) >= 0 || !utf8.Valid(b) {
		return
	}
	b = norm.NFC.Bytes(bytes.TrimPrefix(b, []byte("\ufeff")))
	lines := strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	show := make([]bool, len(lines))
	match := make([]bool, len(lines))
	any := false
	for i, line := range lines {
		if !r.matches(line) {
			continue
		}
		if all.Matches == r.q.Max {
			all.More = true
			break
		}
		all.Matches++
		match[i], any = true, true
		for j := max(0, i-r.q.Context); j <= min(len(lines)-1, i+r.q.Context); j++ {
			show[j] = true
		}
	}
	if !any {
		return
	}
	f := File{Path: path}
	for i, line := range lines {
		switch {
		case match[i]:
			f.Lines = append(f.Lines, Line{Number: i + 1, Text: r.cut(line), Match: true})
		case show[i] && r.matches(line):
			all.Files = append(all.Files, f)
			return // The context of the last match ends at the next.
		case show[i]:
			f.Lines = append(f.Lines, Line{Number: i + 1, Text: cutAt([]rune(line), 0)})
		}
	}
	all.Files = append(all.Files, f)
}

func (r reference) matches(line string) bool {
	if r.re != nil {
		return r.re.MatchString(line)
	}
	return strings.Contains(line, r.q.Pattern)
}

// cut shows a line around where its first match ends: the shortest beginning of the line that matches.
func (r reference) cut(line string) string {
	runes := []rune(line)
	if len(runes) <= 2000 {
		return line
	}
	lo, hi := 0, len(runes)
	if strings.Contains(r.q.Pattern, "$") {
		lo = hi // The patterns with one here match at the end alone.
	}
	for lo < hi {
		mid := (lo + hi) / 2
		if r.matches(string(runes[:mid])) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return cutAt(runes, lo)
}

func cutAt(runes []rune, at int) string {
	if len(runes) <= 2000 {
		return string(runes)
	}
	from := max(0, at-1000)
	to := min(len(runes), from+2000)
	s := string(runes[from:to])
	if from > 0 {
		s = "…" + s
	}
	if to < len(runes) {
		s += "…"
	}
	return s
}

// text writes a result down for comparison as strings.
func text(r Result) string {
	var b strings.Builder
	for _, f := range r.Files {
		for _, l := range f.Lines {
			fmt.Fprintf(&b, "%q:%d:%v:%s\n", f.Path, l.Number, l.Match, l.Text)
		}
	}
	fmt.Fprintf(&b, "%d matches, more: %v, full: %v\n", r.Matches, r.More, r.Full)
	return b.String()
}

// differ shows where two texts part, since lines may be long.
func differ(want, got string) string {
	if want == got {
		return ""
	}
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	from := max(0, i-60)
	return fmt.Sprintf("at %d: want %q, got %q", i, want[from:min(len(want), i+200)], got[from:min(len(got), i+200)])
}
