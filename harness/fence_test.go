package harness

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustFence(t testing.TB, p Provider, prefixes ...string) *Fence {
	t.Helper()
	f, err := NewFence(p, prefixes...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// step is a call through the fence, or with an "!" before its name one of somebody who goes past it.
type step struct{ name, arguments, want string } // want is part of the error, or empty where the call works

func TestFence(t *testing.T) {
	const (
		write  = `{"path":"a.txt","content":"mine"}`
		other  = `{"path":"a.txt","content":"theirs"}`
		stale  = "'a.txt' has changed since the revision that was expected"
		unseen = "'a.txt' exists, and was expected to be absent"
	)
	read := step{"fs_read", `{"path":"a.txt"}`, ""}
	tests := []struct {
		name  string
		steps []step
	}{
		{"refuses to overwrite what was never seen", []step{{"fs_write", write, unseen}, read, {"fs_write", write, ""}}},
		{"lets a new file be made", []step{{"fs_write", `{"path":"new.txt","content":""}`, ""}}},
		{"refuses to overwrite what somebody else has changed", []step{read, {"!fs_write", other, ""}, {"fs_write", write, stale}, read, {"fs_write", write, ""}}},
		{"refuses to make a file that somebody else has made", []step{
			{"!fs_write", `{"path":"new.txt","content":"x"}`, ""},
			{"fs_write", `{"path":"new.txt","content":"y"}`, "'new.txt' exists, and"},
		}},
		{"learns from its own changes", []step{read, {"fs_write", write, ""}, {"fs_edit", `{"path":"a.txt","old-string":"mine","new-string":"ours"}`, ""}, {"fs_delete", `{"path":"a.txt"}`, ""}, {"fs_write", write, ""}}},
		{"learns from a window and from stat", []step{{"fs_stat", `{"path":"a.txt"}`, ""}, {"fs_write", write, ""}, {"fs_read", `{"path":"d/b.txt","limit":1}`, ""}, {"fs_delete", `{"path":"d/b.txt"}`, ""}}},
		{"learns nothing from a search", []step{{"fs_grep", `{"pattern":"a"}`, ""}, {"fs_write", write, unseen}}},
		{"knows a file by other slashes and dots", []step{{"fs_read", `{"path":"./d//b.txt"}`, ""}, {"fs_delete", `{"path":"d/b.txt"}`, ""}}},
		{"knows what one pack has read for the other", []step{read, {"write_file", write, ""}, {"edit_file", `{"path":"a.txt","old_string":"mine","new_string":"ours"}`, ""}, {"fs_delete", `{"path":"a.txt"}`, ""}}},
		{"fences the file tools too", []step{{"read_file", `{"path":"a.txt"}`, ""}, {"!fs_write", other, ""}, {"write_file", write, stale}}},
		{"fences several edits at once", []step{{"multi_edit", `{"path":"a.txt","edits":[{"old_string":"a","new_string":"b"}]}`, unseen}, read, {"multi_edit", `{"path":"a.txt","edits":[{"old_string":"a","new_string":"b"}]}`, ""}}},
		{"forgets after a failure", []step{read, {"fs_edit", `{"path":"a.txt","old-string":"none","new-string":""}`, "is not in 'a.txt'"}, {"fs_write", write, unseen}, read, {"fs_write", write, ""}}},
		{"forgets a file that cannot be read any more", []step{read, {"!fs_delete", `{"path":"a.txt"}`, ""}, {"fs_read", `{"path":"a.txt"}`, "'a.txt'"}, {"fs_write", write, ""}}},
		{"expects both locations of a move", []step{
			{"fs_move", `{"from":"a.txt","to":"c.txt"}`, unseen},
			read,
			{"fs_move", `{"from":"a.txt","to":"c.txt"}`, ""},
			{"fs_write", `{"path":"c.txt","content":"x"}`, ""},
			{"fs_write", write, ""},
		}},
		{"refuses to move onto a file that it has not seen", []step{read, {"fs_move", `{"from":"a.txt","to":"d/b.txt"}`, "'d/b.txt' exists, and"}}},
		{"refuses to delete a directory in which something has changed", []step{
			{"fs_list", `{"path":"d"}`, ""},
			{"!fs_write", `{"path":"d/c.txt","content":"x"}`, ""},
			{"fs_delete", `{"path":"d"}`, "'d' has changed"},
		}},
		{"lists the root where no path is sent", []step{{"fs_list", `{}`, ""}, {"fs_mkdir", `{"path":"e"}`, ""}}},
		{"forgets what was below a directory that has gone", []step{
			{"fs_read", `{"path":"d/b.txt"}`, ""},
			{"fs_stat", `{"path":"d"}`, ""},
			{"fs_move", `{"from":"d","to":"e"}`, ""},
			{"fs_mkdir", `{"path":"d"}`, ""},
			{"fs_write", `{"path":"d/b.txt","content":"x"}`, ""},
		}},
		{"puts its own revisions in place of the model's", []step{{"fs_write", `{"path":"a.txt","content":"x","_expected-revisions":{"path":"sha256-v1:file:` +
			`87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"}}`, unseen}}},
		{"takes arguments in a string", []step{read, {"fs_write", `"{\"path\":\"a.txt\",\"content\":\"x\"}"`, ""}}},
		{"leaves a missing argument to the tool", []step{{"fs_write", `{"content":"x"}`, "'path' is missing"}, {"fs_write", `{"path":7,"content":"x"}`, "'path' is the number 7"}}},
		{"refuses a location that is given twice", []step{{"fs_write", `{"path":"n","path":"a.txt","content":"x"}`, "the location of the 'fs_write' call is not clear: 'path' is given twice; send it once"}}},
		{"refuses arguments that are no object", []step{{"fs_write", `["a.txt"]`, "are no object"}}},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			h, _ := filesHost(t)
			f := mustFence(t, h, "fs", "")
			for _, s := range tt.steps {
				var p Provider = f
				name, past := strings.CutPrefix(s.name, "!")
				if past {
					p = h
				}
				if s.want == "" {
					works(t, p, name, s.arguments)
				} else {
					fails(t, p, name, s.arguments, s.want)
				}
			}
		})
	}
}

// A refusal of the fence must have kept the change from the disk, and would have been none without it.
func TestFenceKeepsTheBytes(t *testing.T) {
	h, dir := filesHost(t)
	const write = `{"path":"a.txt","content":"mine"}`
	fails(t, mustFence(t, h, "fs"), "fs_write", write, "was expected to be absent")
	if got := contentOf(t, dir, "a.txt"); got != "a\n" {
		t.Errorf("the file holds %q", got)
	}
	works(t, h, "fs_write", write)
	if got := contentOf(t, dir, "a.txt"); got != "mine" {
		t.Errorf("the file holds %q", got)
	}
}

// In one batch a change builds on what stands before it, and not on what stands after it.
func TestFenceLearnsWithinABatch(t *testing.T) {
	h, dir := filesHost(t)
	results := mustFence(t, h, "fs").ExecuteToolCalls(t.Context(), callsOf(
		`fs_read {"path":"a.txt"}`, `fs_read {"path":"a.txt"}`, `fs_write {"path":"a.txt","content":"1"}`, `fs_write {"path":"a.txt","content":"2"}`,
		`fs_write {"path":"d/b.txt","content":"3"}`, `fs_read {"path":"d/b.txt"}`, `nothing`))
	var got []bool
	for i, r := range results {
		if r.ToolCallID != string(rune('0'+i)) {
			t.Errorf("%d: %+v", i, r)
		}
		got = append(got, r.IsError)
	}
	if diff := cmp.Diff([]bool{false, false, false, false, true, false, true}, got); diff != "" {
		t.Error(diff)
	}
	if got := contentOf(t, dir, "a.txt") + contentOf(t, dir, "d/b.txt"); got != "2b\n" {
		t.Errorf("the files hold %q", got)
	}
}

func TestFenceSeesAChangeBehindALink(t *testing.T) {
	h, dir := filesHost(t)
	if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
		t.Skip("this system makes no links: ", err)
	}
	f := mustFence(t, h, "fs")
	works(t, f, "fs_read", `{"path":"link"}`)
	works(t, h, "fs_write", `{"path":"a.txt","content":"theirs"}`)
	fails(t, f, "fs_write", `{"path":"link","content":"mine"}`, "'link' has changed")
	works(t, f, "fs_read", `{"path":"link"}`)
	works(t, f, "fs_write", `{"path":"link","content":"mine"}`)
}

// recorder is a provider that keeps the calls, each batch of them, and answers each alike.
type recorder struct {
	batches [][]Call
	result  Result
}

func (r *recorder) Tools(context.Context) ([]Tool, error) { return nil, os.ErrClosed }

func (r *recorder) ExecuteToolCalls(_ context.Context, calls []Call) []Result {
	r.batches = append(r.batches, calls)
	results := make([]Result, len(calls))
	for i := range results {
		results[i] = r.result
	}
	return results
}

func TestFenceHandsOn(t *testing.T) {
	r := &recorder{result: Result{StructuredContent: json.RawMessage(`{"revisions":{"path":{"state":"file","token":"T"},"from":7}}`)}}
	f := mustFence(t, r, "fs")
	f.ExecuteToolCalls(t.Context(), callsOf(`x 1`, `fs_read {"path":"a"}`, `fs_write {"_expected-revisions":1,"path":"a", "n":[{}]}`, `fs_list`, `write {"path":"a"}`))
	r.result.StructuredContent = json.RawMessage(`{"revisions":{"path":{"state":"file","token":"T"}}}`)
	f.ExecuteToolCalls(t.Context(), callsOf(`fs_read {"path":"a"}`, `fs_write {"path":"a","x":{},"_expected\u002drevisions":2}`, `fs_mkdir {"path":"b"}`))
	r.result.StructuredContent = json.RawMessage(`{"revisions":{"path":{"state":"unknown"}}}`)
	f.ExecuteToolCalls(t.Context(), callsOf(`fs_write {"path":"a"}`, `fs_write {"path":"a"}`))
	var got [][]string
	for _, calls := range r.batches {
		var lines []string
		for _, c := range calls {
			lines = append(lines, c.ID+" "+c.Name+" "+string(c.Arguments))
		}
		got = append(got, lines)
	}
	want := [][]string{
		{`0 x 1`, `1 fs_read {"path":"a"}`},
		{`2 fs_write {"_expected-revisions":{"path":"sha256-v1:absent"},"path":"a","n":[{}]}`},
		{`3 fs_list `, `4 write {"path":"a"}`},
		{`0 fs_read {"path":"a"}`},
		{`1 fs_write {"_expected-revisions":{"path":"T"},"path":"a","x":{}}`},
		{`2 fs_mkdir {"_expected-revisions":{"path":"sha256-v1:absent"},"path":"b"}`},
		{`0 fs_write {"_expected-revisions":{"path":"T"},"path":"a"}`},
		{`1 fs_write {"_expected-revisions":{"path":"sha256-v1:absent"},"path":"a"}`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := f.Tools(t.Context()); err != os.ErrClosed {
		t.Errorf("tools: %v", err)
	}
	if _, err := NewFence(r, "a b"); err == nil {
		t.Error("a prefix that no client takes was taken")
	}
}

// Where ".." leads is known to those alone who follow the links before it.
func TestFenceDoesNotFollowParents(t *testing.T) {
	r := &recorder{result: Result{StructuredContent: json.RawMessage(`{"revisions":{"path":{"state":"file","token":"T"}}}`)}}
	mustFence(t, r, "fs").ExecuteToolCalls(t.Context(), callsOf(`fs_read {"path":"a/../b"}`, `fs_write {"path":"b"}`, `fs_write {"path":"a/../b"}`))
	got := []string{string(r.batches[1][0].Arguments), string(r.batches[2][0].Arguments)}
	want := []string{`{"_expected-revisions":{"path":"sha256-v1:absent"},"path":"b"}`, `{"_expected-revisions":{"path":"T"},"path":"a/../b"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFenceOverAnUnrulyProvider(t *testing.T) {
	f := mustFence(t, unruly{answer: func([]Call) []Result { return nil }}, "fs")
	const failed = "!the provider of the tools failed; it is not known whether the call was made"
	got := outcome(f.ExecuteToolCalls(t.Context(), callsOf("fs_read", `fs_write {"path":"a"}`)))
	if diff := cmp.Diff([]string{"0 " + failed, "1 " + failed}, got); diff != "" {
		t.Error(diff)
	}
}
