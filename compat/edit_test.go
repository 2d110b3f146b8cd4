package compat

import (
	"strings"
	"testing"
)

const currentState = " (file state is current in your context — no need to Read it back)"

const (
	unread  = "File has not been read yet. Read it first before writing to it."
	changed = "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it."
)

func TestWriteFile(t *testing.T) {
	s := open(t, map[string]string{"f": "old", "d/": "", "utf16": "\xff\xfea\x00"})
	s.want(s.call("write_file", args{"path": "new", "content": "a\r\n"}), false, "File created successfully at: new"+currentState)
	s.want(s.call("write_file", args{"path": "x/y/z", "content": "deep"}), false, "File created successfully at: x/y/z"+currentState)
	s.want(s.call("write_file", args{"path": "new", "content": ""}), false, "The file new has been updated successfully."+currentState)
	s.want(s.call("write_file", args{"path": "f", "content": "x"}), true, unread)
	s.want(s.call("write_file", args{"path": "d", "content": "x"}), true, "EISDIR: illegal operation on a directory, open 'ROOT/d'")
	s.want(s.call("write_file", args{"path": "e/", "content": "x"}), true, "EISDIR: illegal operation on a directory, open 'ROOT/e'")
	s.want(s.call("write_file", args{"path": ".", "content": "x"}), true, "EISDIR: illegal operation on a directory, open 'ROOT'")
	s.want(s.call("write_file", args{"path": "f/x", "content": "x"}), true, "ENOTDIR: not a directory, open 'ROOT/f/x'")
	s.works(s.call("read_file", args{"path": "utf16"}))
	s.works(s.call("write_file", args{"path": "utf16", "content": "é"}))
	for name, want := range map[string]string{"new": "", "x/y/z": "deep", "f": "old", "e": "(none)", "utf16": "\xff\xfe\xe9\x00"} {
		if got := s.content(name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	s.works(s.call("read_file", args{"path": "f"}))
	s.want(s.call("write_file", args{"path": "f", "content": "new"}), false, "The file f has been updated successfully."+currentState)
}

func TestEditFile(t *testing.T) {
	const done = "The file f has been updated successfully." + currentState
	const all = "The file f has been updated. All occurrences were successfully replaced." + currentState
	several := func(n, old string) string {
		return "Found " + n + " matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: " + old
	}
	notFound := func(old string) string { return "String to replace not found in file.\nString: " + old }
	tests := []struct {
		name, before, old, new string
		all                    bool
		want, after            string
	}{
		{"replaces the one occurrence", "a b c", "b", "x", false, done, "a x c"},
		{"deletes", "a b c", " b", "", false, done, "a c"},
		{"replaces all", "a b a", "a", "x", true, all, "x b x"},
		{"refuses the same strings", "a", "a", "a", false, "No changes to make: old_string and new_string are exactly the same.", "a"},
		{"refuses what is not there", "a", "b", "c", false, notFound("b"), "a"},
		{"refuses several", "a b a", "a", "x", false, several("2", "a"), "a b a"},
		{"counts without overlap", "aaa", "aa", "b", false, done, "ba"},
		{"does not look into what it has put in", "aa", "a", "aa", true, all, "aaaa"},
		{"takes $ and \\ as they are", "a", "a", `$1\n$&`, false, done, `$1\n$&`},
		{"does not repair white space", "\tif a:\n", "  if a:", "  if b:", false, notFound("  if a:"), "\tif a:\n"},
		{"does not drop line numbers", "foo()", "    12\tfoo()", "x", false, notFound("    12\tfoo()"), "foo()"},
		{"does not call an edit that was made before a success", "y", "x", "y", false, notFound("x"), "y"},
		{"adds a last line break", "a", "a", "a\n", false, done, "a\n"},
		{"keeps trailing white space", "\ta\n\n", "a", "b", false, done, "\tb\n\n"},
		{"keeps CRLF", "a\r\nb\r\nc", "a\nb", "x\ny\nz", false, done, "x\r\ny\r\nz\r\nc"},
		{"takes CRLF in the arguments for LF", "a\nb\nc", "a\r\nb", "x\r\ny", false, done, "x\ny\nc"},
		{"puts the line ends of the neighbours into mixed ones", "a\nb\r\nc\nd", "c", "c\ne", false, done, "a\nb\r\nc\r\ne\nd"},
		{"changes no other line end", "a\r\nb\nc", "c", "x\ny", false, done, "a\r\nb\nx\ny"},
		{"deletes a CRLF whole", "a\r\nb", "a\n", "", false, done, "b"},
		{"replaces an LF within CRLF", "a\r\nb", "\n", " ", false, done, "a b"},
		{"keeps line ends as they come where there are none", "a", "a", "x\r\ny", false, done, "x\r\ny"},
		{"keeps a byte order mark", "\xef\xbb\xbfa\nb", "a\n", "c\n", false, done, "\xef\xbb\xbfc\nb"},
		{"keeps UTF-16", "\xfe\xff\x00a\x00\r\x00\n", "a\n", "é\n", false, done, "\xfe\xff\x00\xe9\x00\r\x00\n"},
		{"writes beyond the basic plane in UTF-16", "\xff\xfea\x00", "a", "😀", false, done, "\xff\xfe=\xd8\x00\xde"},
		{"matches curly quotes by straight ones", "say “hi” it’s", `"hi" it's`, `"ho" it's`, false, done, `say "ho" it's`},
		{"matches straight quotes by curly ones", `it's`, "it’s", "it is", false, done, "it is"},
		{"counts those matches too", "“a” “a”", `"a"`, "b", false, several("2", `"a"`), "“a” “a”"},
		{"replaces all of them", "“a” 'é' “a”\r\n", `"a"`, "b", true, all, "b 'é' b\r\n"},
		{"prefers the exact text", "“a” \"a\"", `"a"`, "b", false, done, "“a” b"},
		{"can straighten a quote", "it’s", "it’s", "it's", false, done, "it's"},
		{"takes other marks of the same lead for what they are", "a – b ’", "a – b '", "c", false, done, "c"},
		{"fills a blank file", " \n", "", "text", false, done, "text"},
		{"does not create over a text", "text", "", "x", false, "Cannot create new file - file already exists.", "text"},
		{"refuses bytes that are not text", "x\xff", "x", "y", false, "This tool cannot read binary files. The file appears to be a binary file. Please use appropriate tools for binary file analysis.", "x\xff"},
		{"leaves what is next to a character of several parts", "e\u0301 e", " e", " x", false, done, "e\u0301 x"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			s := open(t, map[string]string{"f": tt.before})
			s.call("read_file", args{"path": "f"})
			a := args{"path": "f", "old_string": tt.old, "new_string": tt.new, "replace_all": tt.all}
			if strings.Contains(tt.before, "\xff") && !strings.HasPrefix(tt.before, "\xff") {
				a["_expected-revisions"] = args{"path": s.token("f")} // It cannot be read.
			}
			r := s.call("edit_file", a)
			s.want(r, !strings.HasPrefix(tt.want, "The file"), tt.want)
			if tt.want == "" || strings.HasPrefix(tt.want, "This tool") {
				return
			}
			if got := s.content("f"); got != tt.after {
				t.Errorf("the file holds %q, want %q", got, tt.after)
			}
		})
	}
}

func TestEditFileOrder(t *testing.T) {
	s := open(t, map[string]string{"n.ipynb": `{"cells":[]}`, "f": "text", "notes.md": "", "d/": ""})
	edit := func(path, old, new string) args { return args{"path": path, "old_string": old, "new_string": new} }
	s.want(s.call("edit_file", edit("../x", "a", "a")), true, "No changes to make: old_string and new_string are exactly the same.")
	s.want(s.call("edit_file", edit("/etc/passwd", "a", "b")), true, "Error: Path escapes root: /etc/passwd (allowed: ROOT)")
	s.want(s.call("edit_file", edit("notes.txt", "a", "b")), true, "File does not exist. Note: your current working directory is ROOT. Did you mean notes.md?")
	s.want(s.call("edit_file", edit("d", "a", "b")), true, "EISDIR: illegal operation on a directory, read 'ROOT/d'")
	s.want(s.call("edit_file", edit("f", "", "b")), true, "Cannot create new file - file already exists.")
	s.want(s.call("edit_file", edit("n.ipynb", "a", "b")), true, "File is a Jupyter Notebook. Use the NotebookEdit to edit this file.")
	s.want(s.call("edit_file", edit("f", "absent", "b")), true, unread)
	s.want(s.call("edit_file", edit("new/deep", "", "made")), false, "The file new/deep has been updated successfully."+currentState)
	s.want(s.call("edit_file", edit("new/deep", "made", "then edited")), false, "The file new/deep has been updated successfully."+currentState)
	if got := s.content("new/deep"); got != "then edited" {
		t.Errorf("holds %q", got)
	}
}

func TestMultiEdit(t *testing.T) {
	e := func(pairs ...string) (edits []args) {
		for i := 0; i < len(pairs); i += 2 {
			edits = append(edits, args{"old_string": pairs[i], "new_string": pairs[i+1]})
		}
		return edits
	}
	long := strings.Repeat("é", 51)
	tests := []struct {
		name, before string
		edits        []args
		want, after  string
	}{
		{"makes them one after the other", "a\nb\nc", e("a", "a1\na2", "c", "d", "a2\nb", "B"), "Applied 3 edits to f:\n1. Replaced \"a\" with \"a1\na2\"\n2. Replaced \"c\" with \"d\"\n3. Replaced \"a2\nb\" with \"B\"", "a1\nB\nd"},
		{"speaks of one edit", "a", e("a", "b"), "Applied 1 edit to f:\n1. Replaced \"a\" with \"b\"", "b"},
		{"cuts what it shows", long, e(long, long+"!"), "Applied 1 edit to f:\n1. Replaced \"" + long[:100] + "...\" with \"" + long[:100] + "...\"", long + "!"},
		{"finds what an earlier edit has put in", "a", e("a", "bb", "bb", "c"), "Applied 2 edits to f:\n1. Replaced \"a\" with \"bb\"\n2. Replaced \"bb\" with \"c\"", "c"},
		{"makes two edits on one line", "f(a,a)", []args{{"old_string": "(a", "new_string": "(b"}, {"old_string": "a)", "new_string": "b)"}}, "Applied 2 edits to f:\n1. Replaced \"(a\" with \"(b\"\n2. Replaced \"a)\" with \"b)\"", "f(b,b)"},
		{"replaces all where it is told to", "a a b", []args{{"old_string": "a", "new_string": "x", "replace_all": true}, {"old_string": "b", "new_string": "y"}}, "Applied 2 edits to f:\n1. Replaced \"a\" with \"x\"\n2. Replaced \"b\" with \"y\"", "x x y"},
		{"writes nothing unless all apply", "a b", e("a", "x", "absent", "y"), "String to replace not found in file.\nString: absent", "a b"},
		{"says that an earlier edit took the text away", "a b", e("a b", "x", "b", "y"), "String not found in file. Failed to apply edit.", "a b"},
		{"refuses several", "a a", e("a", "b"), "Found 2 matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: a", "a a"},
		{"refuses the same strings", "a", e("a", "b", "b", "b"), "No changes to make: old_string and new_string are exactly the same.", "a"},
		{"does not create in the middle", "a", e("a", "b", "", "c"), "Cannot create new file - file already exists.", "a"},
		{"keeps mixed line ends", "a\r\nb\nc\r\n", e("a", "A\nA", "c", "C"), "Applied 2 edits to f:\n1. Replaced \"a\" with \"A\nA\"\n2. Replaced \"c\" with \"C\"", "A\r\nA\r\nb\nC\r\n"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			s := open(t, map[string]string{"f": tt.before})
			s.want(s.call("multi_edit", args{"path": "f", "edits": tt.edits}), true, unread)
			s.works(s.call("read_file", args{"path": "f"}))
			s.want(s.call("multi_edit", args{"path": "f", "edits": tt.edits}), !strings.HasPrefix(tt.want, "Applied"), tt.want)
			if got := s.content("f"); got != tt.after {
				t.Errorf("the file holds %q, want %q", got, tt.after)
			}
		})
	}
}

func TestMultiEditCreates(t *testing.T) {
	s := open(t, nil)
	s.want(s.call("multi_edit", args{"path": "gone", "edits": []args{{"old_string": "a", "new_string": "b"}}}), true, "File does not exist. Note: your current working directory is ROOT.")
	s.want(s.call("multi_edit", args{"path": "d/new", "edits": []args{{"old_string": "", "new_string": "one"}, {"old_string": "one", "new_string": "two"}}}), false,
		"Applied 2 edits to d/new:\n1. Replaced \"\" with \"one\"\n2. Replaced \"one\" with \"two\"")
	if got := s.content("d/new"); got != "two" {
		t.Errorf("holds %q", got)
	}
	// A batch that fails leaves no directories behind.
	s.want(s.call("multi_edit", args{"path": "e/new", "edits": []args{{"old_string": "", "new_string": "one"}, {"old_string": "x", "new_string": "y"}}}), true, "String to replace not found in file.\nString: x")
	if got := s.call("list_files", args{"path": "."}).Text; got != "d/" {
		t.Errorf("the root has %q", got)
	}
	// Models send the list as a string too.
	s.want(s.call("multi_edit", args{"path": "d/new", "edits": `[{"old_string":"two","new_string":"three"}]`}), false, "Applied 1 edit to d/new:\n1. Replaced \"two\" with \"three\"")
}
