package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The files that the agents of TestAgents share. Each begins with its name and a count for each agent, ends with "end",
// and has in front of that the lines that the agents add, under any others:
//
//	file 07
//	count 0 = 12
//	…
//	count 7 = 3
//	text 1
//	…
//	agent 5 line 17
//	agent 2 line 9
//	end
const (
	agentCount = 8
	fileCount  = 20
	linkedFile = 7  // has another name: a link to it
	movedFile  = 13 // has another place, to and from which it is moved
)

// file is one of them.
type file struct {
	name          string
	linked, moved bool
	other         string // the link, or the other place
}

// putFiles makes them, of 10 to 1995 lines.
func putFiles(t *testing.T, s *site) []file {
	t.Helper()
	files := make([]file, fileCount)
	for i := range files {
		files[i].name = fmt.Sprintf("file%02d.txt", i)
		s.put(t, files[i].name, firstText(i))
	}
	if err := os.Mkdir(filepath.Join(s.root, "away"), 0o700); err != nil {
		t.Fatal(err)
	}
	files[movedFile].moved, files[movedFile].other = true, "away/"+files[movedFile].name
	linked := &files[linkedFile]
	if err := os.Symlink(linked.name, filepath.Join(s.root, "link.txt")); err == nil { // else this system makes no links
		linked.linked, linked.other = true, "link.txt"
	}
	return files
}

func firstText(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "file %02d\n", i)
	for agent := range agentCount {
		fmt.Fprintf(&b, "count %d = 0\n", agent)
	}
	for n := range i * i * 11 / 2 {
		fmt.Fprintf(&b, "text %d\n", n+1)
	}
	b.WriteString("end\n")
	return b.String()
}

// unnumbered is the text that read_file has shown.
func unnumbered(shown string) string {
	lines := strings.Split(shown, "\n")
	for i, line := range lines {
		_, lines[i], _ = strings.Cut(line, "\t")
	}
	return strings.Join(lines, "\n")
}

// change is what an agent wants to do to a file: to count one further, to add a line of its own unless it is number 0, or
// both at once.
type change struct {
	agent  int
	counts bool
	line   int
}

// replacement is one edit. The old text stands in the file once.
type replacement struct{ old, new string }

// replacements say what the change does to a text.
func (c change) replacements(text string) ([]replacement, error) {
	var all []replacement
	if c.counts {
		name := fmt.Sprintf("count %d = ", c.agent)
		_, rest, _ := strings.Cut(text, "\n"+name)
		old, _, _ := strings.Cut(rest, "\n")
		n, err := strconv.Atoi(old)
		if err != nil {
			return nil, fmt.Errorf("no %q with a number after it: %w", name, err)
		}
		all = append(all, replacement{name + old + "\n", fmt.Sprintf("%s%d\n", name, n+1)})
	}
	if c.line > 0 {
		all = append(all, replacement{"end\n", fmt.Sprintf("agent %d line %d\nend\n", c.agent, c.line)})
	}
	for _, r := range all {
		if strings.Count(text, r.old) != 1 {
			return nil, fmt.Errorf("%q is there %d times", r.old, strings.Count(text, r.old))
		}
	}
	return all, nil
}

// arguments make a call of the change of a text.
func (a *agent) arguments(tool, path, text string, c change) (map[string]any, error) {
	all, err := c.replacements(text)
	if err != nil {
		return nil, err
	}
	arguments := map[string]any{"path": path}
	switch tool {
	case "fs_edit":
		arguments["old-string"], arguments["new-string"] = all[0].old, all[0].new
	case "edit_file":
		arguments["old_string"], arguments["new_string"] = all[0].old, all[0].new
	case "multi_edit":
		var edits []map[string]string
		for _, r := range all {
			edits = append(edits, map[string]string{"old_string": r.old, "new_string": r.new})
		}
		arguments["edits"] = edits
	default:
		for _, r := range all {
			text = strings.Replace(text, r.old, r.new, 1)
		}
		arguments["content"] = text
	}
	return arguments, nil
}

// ledger is what one agent has done to one file.
type ledger struct {
	Count int
	Lines []int // in the order in which they were added
}

// and is the ledger with one change more.
func (l ledger) and(c change) ledger {
	if c.counts {
		l.Count++
	}
	if c.line > 0 {
		l.Lines = append(l.Lines, c.line)
	}
	return l
}

// parseFile takes a file apart into what each agent has done to it, and the other lines.
func parseFile(text string) (of [agentCount]ledger, rest string) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		var agent, n int
		if k, _ := fmt.Sscanf(line, "count %d = %d\n", &agent, &n); k == 2 && agent < agentCount {
			of[agent].Count += n // A line that is there twice counts twice.
		} else if k, _ := fmt.Sscanf(line, "agent %d line %d\n", &agent, &n); k == 2 && agent < agentCount {
			of[agent].Lines = append(of[agent].Lines, n)
		} else {
			b.WriteString(line)
		}
	}
	return of, b.String()
}

// checkFiles counts the changes. Nothing may be lost, nothing there twice, and no other line may have been touched.
func checkFiles(t *testing.T, s *site, files []file, agents []*agent) {
	t.Helper()
	wantNames := []string{"away"}
	for i, f := range files {
		var want [agentCount]ledger
		for _, a := range agents {
			want[a.number] = a.wrote[f.name]
		}
		got, rest := parseFile(s.get(t, f.name))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: what was reported to the agents -, what is there +:\n%s", f.name, diff)
		}
		if _, wantRest := parseFile(firstText(i)); rest != wantRest {
			t.Errorf("%s: the other lines are not what they were: %s", f.name, cmp.Diff(wantRest, rest))
		}
		wantNames = append(wantNames, f.name)
		if f.linked {
			wantNames = append(wantNames, f.other)
		}
	}
	slices.Sort(wantNames)
	if diff := cmp.Diff(wantNames, names(t, s.root)); diff != "" {
		t.Errorf("in the root: want -, got +:\n%s", diff)
	}
	if left := names(t, filepath.Join(s.root, "away")); len(left) > 0 {
		t.Errorf("in away: %v", left)
	}
}
