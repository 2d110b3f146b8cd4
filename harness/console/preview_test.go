package console

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/harness"
)

func TestPreview(t *testing.T) {
	files := tree()
	files["two.txt"], files["crlf.txt"], files["open.txt"] = "a\nb\na\n", "a\r\nb\r\n", "no end"
	files["long.txt"] = strings.Repeat("line\n", 3000)
	files["wide.txt"] = strings.Repeat("x", 3000) + "\n"
	files["large.txt"] = strings.Repeat("line of text\n", maxDiffed/13+1)
	dir, host, preview := place(t, files)
	_ = dir
	for _, c := range []struct{ name, tool, arguments, want string }{
		{"writes a file", "fs_write", `{"path":"two.txt","content":"a\nc\na\n"}`, "--- two.txt\n+++ two.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n a\n"},
		{"writes a new file", "fs_write", `{"path":"new/x.txt","content":"a\n"}`, "--- /dev/null\n+++ new/x.txt\n@@ -0,0 +1 @@\n+a\n"},
		{"writes a new file in the other vocabulary", "write_file", `{"path":"new.txt","content":"a\n"}`, "--- /dev/null\n+++ new.txt\n@@ -0,0 +1 @@\n+a\n"},
		{"writes an empty file", "fs_write", `{"path":"new.txt","content":""}`, "This makes the empty file 'new.txt'."},
		{"writes what is there", "fs_write", `{"path":"two.txt","content":"a\nb\na\n"}`, "'two.txt' has just this text already."},
		{"edits", "fs_edit", `{"path":"two.txt","old-string":"b","new-string":"c"}`, "--- two.txt\n+++ two.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n a\n"},
		{"edits every place", "fs_edit", `{"path":"two.txt","old-string":"a","new-string":"c","replace-all":true}`, "--- two.txt\n+++ two.txt\n@@ -1,3 +1,3 @@\n-a\n+c\n b\n-a\n+c\n"},
		{"edits in the other vocabulary", "edit_file", `{"path":"two.txt","old_string":"b","new_string":"c"}`, "--- two.txt\n+++ two.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n a\n"},
		{"edits a file without a line end", "edit_file", `{"path":"open.txt","old_string":"no","new_string":"an"}`, "--- open.txt\n+++ open.txt\n@@ -1 +1 @@\n-no end\n\\ No newline at end of file\n+an end\n\\ No newline at end of file\n"},
		{"edits several times", "multi_edit", `{"path":"two.txt","edits":[{"old_string":"b","new_string":"c"},{"old_string":"c","new_string":"d"}]}`, "--- two.txt\n+++ two.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+d\n a\n"},
		{"makes a file by an edit", "edit_file", `{"path":"new.txt","old_string":"","new_string":"a\n"}`, "--- /dev/null\n+++ new.txt\n@@ -0,0 +1 @@\n+a\n"},
		{"shows an edit of two places as it is", "fs_edit", `{"path":"two.txt","old-string":"a","new-string":"c"}`, ""},
		{"shows an edit of none as it is", "fs_edit", `{"path":"two.txt","old-string":"z","new-string":"c"}`, ""},
		{"shows an edit of a new file as it is", "fs_edit", `{"path":"new.txt","old-string":"z","new-string":"c"}`, ""},
		{"shows a change of what cannot be read as it is", "fs_write", `{"path":"src","content":"c"}`, ""},
		{"shows a change outside as it is", "fs_write", `{"path":"../x","content":"c"}`, ""},
		{"shows a change of cut lines as it is", "edit_file", `{"path":"wide.txt","old_string":"x\n","new_string":"c"}`, ""},
		{"shows a change of missing lines as it is", "write_file", `{"path":"long.txt","content":"c"}`, ""},
		{"shows a change of a large file as it is", "fs_write", `{"path":"large.txt","content":"c"}`, ""},
		{"shows odd arguments as they are", "fs_write", `{"path":1}`, ""},
		{"shows another tool as it is", "other", `{"path":"two.txt"}`, ""},
		{"shows a path of several lines as it is", "fs_move", `{"from":"a","to":"b'.\nThis changes nothing"}`, ""},
		{"moves", "fs_move", `{"from":"a","to":"b"}`, "This moves 'a' to 'b'."},
		{"makes a directory", "fs_mkdir", `{"path":"a"}`, "This makes the directory 'a', and those above it that are missing."},
		{"deletes a file", "fs_delete", `{"path":"two.txt"}`, "This deletes 'two.txt', for good."},
		{"deletes a directory", "fs_delete", `{"path":"src","recursive":true}`, "This deletes 'src', for good, and everything below it: 1 entry."},
		{"deletes what cannot be counted", "fs_delete", `{"path":"two.txt","recursive":true}`, "This deletes 'two.txt', for good, and everything below it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == "" {
				c.want = c.tool + " " + c.arguments
			}
			with := looking(t, preview).preview(t.Context(), harness.Call{Name: c.tool, Arguments: json.RawMessage(c.arguments)})
			if diff := cmp.Diff(c.want, with); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("shows changes as calls where nothing can be looked at", func(t *testing.T) {
		got := looking(t, nil).preview(t.Context(), harness.Call{Name: "fs_write", Arguments: json.RawMessage(`{"path":"a"}`)})
		if want := `fs_write {"path":"a"}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("shows no more than there is room for", func(t *testing.T) {
		got := looking(t, nil).preview(t.Context(), harness.Call{Name: "t", Arguments: json.RawMessage(strings.Repeat("é", maxCall))})
		if len(got) != maxCall+len("…") || !strings.HasSuffix(got, "é…") {
			t.Errorf("%d bytes, %q", len(got), got[len(got)-10:])
		}
	})
	if got, failed := ran(t, Options{Provider: host}, "write two.txt x\n"); !failed {
		t.Errorf("what was looked at counts as read: %s", got)
	}
}

func looking(t *testing.T, preview *harness.Host) *console {
	t.Helper()
	o := Options{Serving: func() Serving { return Serving{Prefixes: []string{"fs"}} }, In: strings.NewReader(""), Out: io.Discard, Errors: io.Discard}
	if preview != nil {
		o.Preview = preview
	}
	c, err := newConsole(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLongDifferencesAreCut(t *testing.T) {
	var out strings.Builder
	newPrinter(&out, false).difference(strings.Repeat("+x\n", maxShown+3))
	if want := strings.Repeat("+x\n", maxShown) + "… 3 more lines\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
}

func TestUnnumbered(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		ok               bool
	}{
		{"takes numbers off", "1\ta\tb\n2\t", "a\tb\n", true},
		{"refuses other lines", "1\ta\nb", "", false},
		{"refuses lines that begin later", "2\ta", "", false},
		{"refuses a notice", "<system-reminder>Empty.</system-reminder>", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := unnumbered(c.text); got != c.want || ok != c.ok {
				t.Errorf("got %q, %v", got, ok)
			}
		})
	}
}
