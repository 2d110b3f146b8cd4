package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"lookfirst/harness"
)

// TestAgentRun plays testdata/agent/run.txt over each transport: what an agent does in batches, through a fence, while
// somebody else writes the same files past the program. In the script
//
//	call TOOL JSON          is a call; calls with no empty line or comment between them are one batch
//	answer TEXT             the call above worked, and its text is TEXT
//	answer-matches REGEXP   the call above worked, and its text matches
//	refused TEXT            the call above was refused with this text
//	refused-matches REGEXP  the call above was refused with a text that matches
//	put FILE TEXT           somebody else writes a file, between two batches
//
// A TEXT in double quotes is a Go string. The files below "before" are there at the beginning, those below "after" at the
// end, and no others.
//
// Whatever the script says, two things are held after each batch: what somebody else has written is still there, or the
// agent was shown it, to the byte; and no change that was refused has landed before its file was looked at again. At the
// end none is left that has not landed.
func TestAgentRun(t *testing.T) {
	name := filepath.Join("..", "..", "testdata", "agent", "run.txt")
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, after := map[string]string{}, map[string]string{}
	for _, f := range archive.Files {
		if path, ok := strings.CutPrefix(f.Name, "before/"); ok {
			before[path] = string(f.Data)
		} else {
			after[strings.TrimPrefix(f.Name, "after/")] = string(f.Data)
		}
	}
	steps := parseRun(t, string(archive.Comment))
	for name, open := range transports() {
		t.Run("it loses nothing over "+name, func(t *testing.T) {
			s := newSite(t)
			for path, text := range before {
				s.putBelow(t, path, text)
			}
			connect := open(t, s)
			r := &agentRun{t: t, site: s, tools: fence(t, connect(t, "")), theirs: map[string]string{}, refused: map[string]retry{}}
			for _, step := range steps {
				r.play(step)
			}
			for path := range r.refused {
				t.Errorf("the change of %s that was refused has not been made after all", path)
			}
			if diff := cmp.Diff(after, filesBelow(t, s.root)); diff != "" {
				t.Errorf("in the end: want -, got +:\n%s", diff)
			}
		})
	}
}

// putBelow writes a file, and makes the directories above it.
func (s *site) putBelow(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(s.root, name)), 0o700); err != nil {
		t.Fatal(err)
	}
	s.put(t, name, text)
}

func filesBelow(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(root), name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// runStep is a batch, or what somebody else writes.
type runStep struct {
	line       int // where it begins
	calls      []harness.Call
	want       []expectation
	file, text string
}

// expectation is what is to become of a call.
type expectation struct{ kind, text string }

func (e expectation) refused() bool { return strings.HasPrefix(e.kind, "refused") }

// check compares a result with it.
func (e expectation) check(r harness.Result) string {
	ok := e.text == r.Content
	if strings.HasSuffix(e.kind, "-matches") {
		ok = regexp.MustCompile(e.text).MatchString(r.Content)
	}
	if ok && r.IsError == e.refused() {
		return ""
	}
	return fmt.Sprintf("got %q (refused: %v), want %s %q", r.Content, r.IsError, e.kind, e.text)
}

// parseRun reads the script.
func parseRun(t *testing.T, script string) []runStep {
	t.Helper()
	var steps []runStep
	open := false // whether the last step is a batch that goes on
	for i, line := range strings.Split(script, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "call":
			if !open {
				steps = append(steps, runStep{line: i + 1})
			}
			step := &steps[len(steps)-1]
			tool, arguments, _ := strings.Cut(rest, " ")
			step.calls = append(step.calls, harness.Call{ID: strconv.Itoa(i + 1), Name: tool, Arguments: json.RawMessage(arguments)})
		case "answer", "answer-matches", "refused", "refused-matches":
			step := &steps[len(steps)-1]
			step.want = append(step.want, expectation{word, runText(t, rest)})
			if len(step.want) != len(step.calls) {
				t.Fatalf("line %d: a call has one expectation", i+1)
			}
		case "put":
			name, text, _ := strings.Cut(rest, " ")
			steps = append(steps, runStep{line: i + 1, file: name, text: runText(t, text)})
		case "", "#":
		default:
			t.Fatalf("line %d: %s", i+1, line)
		}
		open = word != "" && word != "#" && word != "put"
	}
	return steps
}

func runText(t *testing.T, text string) string {
	t.Helper()
	if !strings.HasPrefix(text, `"`) {
		return text
	}
	text, err := strconv.Unquote(text)
	if err != nil {
		t.Fatalf("%s is not a Go string: %v", text, err)
	}
	return text
}

// agentRun is one playing of the script.
type agentRun struct {
	t       *testing.T
	site    *site
	tools   harness.Provider
	theirs  map[string]string // what somebody else has written and the agent was not shown, by file
	refused map[string]retry  // by file
}

// retry is how far the agent has come after a refusal.
type retry int

const (
	mustLook retry = iota
	hasLooked
)

func (r *agentRun) play(s runStep) {
	r.t.Helper()
	if s.file != "" {
		r.site.put(r.t, s.file, s.text)
		r.theirs[s.file] = s.text
		return
	}
	results := r.tools.ExecuteToolCalls(r.t.Context(), s.calls)
	if len(results) != len(s.calls) {
		r.t.Fatalf("line %d: %d calls have %d results", s.line, len(s.calls), len(results))
	}
	for i, result := range results {
		if result.ToolCallID != s.calls[i].ID || result.Role != "tool" {
			r.t.Errorf("line %s: the result is of %q, %q", s.calls[i].ID, result.ToolCallID, result.Role)
		}
		if wrong := s.want[i].check(result); wrong != "" {
			r.t.Errorf("line %s: %s:\n%s", s.calls[i].ID, s.calls[i].Name, wrong)
		}
		r.follow(s.calls[i], result)
	}
	for _, file := range slices.Sorted(maps.Keys(r.theirs)) {
		if got := r.site.get(r.t, file); got != r.theirs[file] {
			r.t.Errorf("line %d: what somebody else has written to %s is lost, and nobody was shown it: it holds %q", s.line, file, got)
		}
	}
}

// follow notes what a call has shown, and how it stands with what was refused.
func (r *agentRun) follow(c harness.Call, result harness.Result) {
	r.t.Helper()
	var arguments struct{ Path, From string }
	if err := json.Unmarshal(c.Arguments, &arguments); err != nil {
		r.t.Fatalf("line %s: %v", c.ID, err)
	}
	path := arguments.Path + arguments.From
	switch c.Name {
	case "fs_read", "read_file":
		shown := result.Content
		if c.Name == "read_file" {
			shown = unnumbered(shown)
		}
		if theirs, ok := r.theirs[path]; ok && shown == theirs && !result.IsError {
			delete(r.theirs, path)
		}
		r.look(path, result)
	case "fs_list", "fs_stat":
		r.look(path, result)
	case "fs_write", "fs_edit", "fs_mkdir", "fs_move", "fs_delete", "write_file", "edit_file", "multi_edit":
		state, again := r.refused[path]
		switch {
		case result.IsError:
			r.refused[path] = mustLook
		case again && state == mustLook:
			r.t.Errorf("line %s: %s was changed after a refusal, and nobody has looked at it", c.ID, path)
		default:
			delete(r.refused, path)
		}
	}
}

func (r *agentRun) look(path string, result harness.Result) {
	if _, ok := r.refused[path]; ok && !result.IsError {
		r.refused[path] = hasLooked
	}
}
