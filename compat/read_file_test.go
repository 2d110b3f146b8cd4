package compat

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	const reminder = "<system-reminder>Warning: the file exists but "
	long := strings.Repeat("x", 1999) + "é"
	tests := []struct {
		name    string
		files   map[string]string
		args    args
		want    string
		isError bool
	}{
		{"numbers the lines", map[string]string{"f": "a\nb"}, args{"path": "f"}, "1\ta\n2\tb", false},
		{"shows the empty line after a last line break", map[string]string{"f": "a\n"}, args{"path": "f"}, "1\ta\n2\t", false},
		{"takes an absolute path", map[string]string{"f": "a"}, args{"path": "ROOT/f"}, "1\ta", false},
		{"takes .. that stays inside", map[string]string{"d/f": "a", "g": "b"}, args{"path": "d/../g"}, "1\tb", false},
		{"takes .. through a link as the system does", map[string]string{"deep/d/": "", "l": "=> deep/d", "deep/g": "b"}, args{"path": "l/../g"}, "1\tb", false},
		{"reads through a link", map[string]string{"f": "a", "l": "=> f"}, args{"path": "l"}, "1\ta", false},
		{"does not expand a tilde", map[string]string{"~/f": "a"}, args{"path": "~/f"}, "1\ta", false},
		{"drops a byte order mark", map[string]string{"f": "\xef\xbb\xbfa"}, args{"path": "f"}, "1\ta", false},
		{"shows CRLF as LF, and keeps a lone CR", map[string]string{"f": "a\r\nb\rc\r"}, args{"path": "f"}, "1\ta\n2\tb\rc\r", false},
		{"reads UTF-16, little end first", map[string]string{"f": "\xff\xfea\x00\r\x00\n\x00=\xd8\x00\xde"}, args{"path": "f"}, "1\ta\n2\t😀", false},
		{"reads UTF-16, big end first", map[string]string{"f": "\xfe\xff\x00a\x00\n\x4e\x2d"}, args{"path": "f"}, "1\ta\n2\t中", false},
		{"keeps tabs after the one that follows the number", map[string]string{"f": "\t\tx()\n"}, args{"path": "f"}, "1\t\t\tx()\n2\t", false},
		{"starts at offset", map[string]string{"f": "a\nb\nc\nd"}, args{"path": "f", "offset": 3}, "3\tc\n4\td", false},
		{"stops after limit", map[string]string{"f": "a\nb\nc\nd"}, args{"path": "f", "offset": 2, "limit": 2}, "2\tb\n3\tc", false},
		{"takes a decimal string for a number", map[string]string{"f": "a\nb"}, args{"path": "f", "offset": "2"}, "2\tb", false},
		{"takes offset 0 for 1", map[string]string{"f": "a\nb"}, args{"path": "f", "offset": 0, "limit": 1}, "1\ta", false},
		{"takes a limit that is larger than any file", map[string]string{"f": "a\nb"}, args{"path": "f", "offset": 2, "limit": 9223372036854775807}, "2\tb", false},
		{"cuts a line to 2000 characters", map[string]string{"f": long + "more\nb"}, args{"path": "f"}, "1\t" + long + "\n2\tb", false},
		{"does not cut a line of 2000 characters with CRLF", map[string]string{"f": long + "\r\nb"}, args{"path": "f"}, "1\t" + long + "\n2\tb", false},
		{"says that a file is empty", map[string]string{"f": ""}, args{"path": "f"}, reminder + "the contents are empty.</system-reminder>", false},
		{"says that a file is shorter than offset", map[string]string{"f": "a\nb\nc\n"}, args{"path": "f", "offset": 10}, reminder + "is shorter than the provided offset (10). The file has 4 lines.</system-reminder>", false},
		{"speaks of lines where there is one", map[string]string{"f": "a"}, args{"path": "f", "offset": 2}, reminder + "is shorter than the provided offset (2). The file has 1 lines.</system-reminder>", false},
		{
			"refuses too much, with the count of what was asked for",
			map[string]string{"f": strings.Repeat("abcdefg\n", 20000)},
			args{"path": "f", "limit": 20000},
			"File content (40000 tokens) exceeds maximum allowed tokens (25000). Use offset and limit parameters to read specific portions of the file, or search for specific content instead of reading the whole file.", true,
		},
		{"says that a file is missing", nil, args{"path": "notes.txt"}, "File does not exist. Note: your current working directory is ROOT.", true},
		{"names the file with another extension", map[string]string{"d/notes.md": ""}, args{"path": "d/notes.txt"}, "File does not exist. Note: your current working directory is ROOT. Did you mean notes.md?", true},
		{"refuses a directory", map[string]string{"d/": ""}, args{"path": "d"}, "EISDIR: illegal operation on a directory, read 'ROOT/d'", true},
		{"refuses a path through a file", map[string]string{"f": "a"}, args{"path": "f/x"}, "ENOTDIR: not a directory, open 'ROOT/f/x'", true},
		{"refuses a file with a slash at its end", map[string]string{"f": "a"}, args{"path": "f/"}, "ENOTDIR: not a directory, open 'ROOT/f'", true},
		{"refuses a binary file by its extension", map[string]string{"a.ZIP": "text"}, args{"path": "a.ZIP"}, "This tool cannot read binary files. The file appears to be a binary .zip file. Please use appropriate tools for binary file analysis.", true},
		{"refuses a NUL near the beginning", map[string]string{"f": "a\x00b"}, args{"path": "f"}, "This tool cannot read binary files. The file appears to be a binary file. Please use appropriate tools for binary file analysis.", true},
		{"reads a NUL after 8 KB", map[string]string{"f": strings.Repeat("x", 9000) + "\x00\nb"}, args{"path": "f", "offset": 2}, "2\tb", false},
		{"refuses bytes that are not UTF-8", map[string]string{"f.txt": "x=1\n\xd6\xd0\n"}, args{"path": "f.txt"}, "This tool cannot read binary files. The file appears to be a binary .txt file. Please use appropriate tools for binary file analysis.", true},
		{"refuses them beyond what is shown too", map[string]string{"f": strings.Repeat("x\n", 90000) + "\xff"}, args{"path": "f", "limit": 1}, "This tool cannot read binary files. The file appears to be a binary file. Please use appropriate tools for binary file analysis.", true},
		{"refuses half a character of UTF-16", map[string]string{"f": "\xff\xfea\x00b"}, args{"path": "f"}, "This tool cannot read binary files. The file appears to be a binary file. Please use appropriate tools for binary file analysis.", true},
		{"refuses a lone surrogate", map[string]string{"f": "\xff\xfe\x3d\xd8a\x00"}, args{"path": "f"}, "This tool cannot read binary files. The file appears to be a binary file. Please use appropriate tools for binary file analysis.", true},
		{"refuses a path outside by ..", nil, args{"path": "../x"}, "Error: Path escapes root: PARENT/x (allowed: ROOT)", true},
		{"refuses an absolute path outside", nil, args{"path": "/etc/passwd"}, "Error: Path escapes root: /etc/passwd (allowed: ROOT)", true},
		{"refuses a link that leads outside, and does not name its target", map[string]string{"l": "=> /etc/passwd"}, args{"path": "l"}, "Error: Path escapes root: ROOT/l (allowed: ROOT)", true},
		{"says the same where nothing is there", map[string]string{"l": "=> /nowhere/at/all"}, args{"path": "l"}, "Error: Path escapes root: ROOT/l (allowed: ROOT)", true},
		{"refuses a link in a circle", map[string]string{"l": "=> l"}, args{"path": "l"}, "too many symbolic links in 'l'", true},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			s := open(t, tt.files)
			tt.args["path"] = strings.ReplaceAll(tt.args["path"].(string), "ROOT", s.root)
			parent := s.root[:strings.LastIndex(s.root, string(os.PathSeparator))]
			s.want(s.call("read_file", tt.args), tt.isError, strings.ReplaceAll(tt.want, "PARENT", parent))
		})
	}
}

func TestReadFileDefaultsTo2000Lines(t *testing.T) {
	var text, want strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&text, "l%d\n", i)
		if i < 2000 {
			fmt.Fprintf(&want, "%d\tl%d\n", i+1, i)
		}
	}
	s := open(t, map[string]string{"f": text.String()})
	s.want(s.call("read_file", args{"path": "f"}), false, strings.TrimSuffix(want.String(), "\n"))
}

func TestArgumentFaults(t *testing.T) {
	const failed = "InputValidationError: read_file failed due to the following "
	tests := []struct{ name, tool, raw, want string }{
		{"names what is missing", "read_file", `{}`, failed + "issue:\nThe required parameter `path` is missing"},
		{"takes null for missing", "read_file", `{"path":null}`, failed + "issue:\nThe required parameter `path` is missing"},
		{"names what nobody knows", "read_file", `{"path":"f","bogus":1}`, failed + "issue:\nAn unexpected parameter `bogus` was provided"},
		{"tells the types", "read_file", `{"path":"f","offset":true}`, failed + "issue:\nThe parameter `offset` type is expected as `number` but provided as `boolean`"},
		{"refuses a word for a number", "read_file", `{"path":"f","limit":"forty"}`, failed + "issue:\nThe parameter `limit` type is expected as `number` but provided as `string`"},
		{"has a line for each", "read_file", `{"offset":[],"Path":"f"}`, failed + "issues:\nThe required parameter `path` is missing\nAn unexpected parameter `Path` was provided\nThe parameter `offset` type is expected as `number` but provided as `array`"},
		{"names the bound of an offset", "read_file", `{"path":"f","offset":-1}`, failed + "issue:\n'offset' is the number -1; send an integer of at least 0"},
		{"names the bound of a limit", "read_file", `{"path":"f","limit":0}`, failed + "issue:\n'limit' is the number 0; send an integer of at least 1"},
		{"refuses a part of a line", "read_file", `{"path":"f","offset":2.5}`, failed + "issue:\n'offset' is the number 2.5; send an integer of at least 0"},
		{"refuses an argument that is given twice", "read_file", `{"path":"f","path":"g"}`, failed + "issue:\nthe argument 'path' is given twice; send it once"},
		{"refuses an empty path", "read_file", `{"path":""}`, failed + "issue:\nThe parameter `path` is empty; send `.` for the working directory"},
		{"refuses revisions for a reading", "read_file", `{"path":"f","_expected-revisions":{}}`, failed + "issue:\nAn unexpected parameter `_expected-revisions` was provided"},
		{"names the place in a list", "multi_edit", `{"path":"f","edits":[{"old_string":"a","new_string":"b"},{"old_string":1,"neu":""}]}`, "InputValidationError: multi_edit failed due to the following issues:\nThe required parameter `edits[1].new_string` is missing\nAn unexpected parameter `edits[1].neu` was provided\nThe parameter `edits[1].old_string` type is expected as `string` but provided as `number`"},
		{"wants a list", "multi_edit", `{"path":"f","edits":{"old_string":"a","new_string":"b"}}`, "InputValidationError: multi_edit failed due to the following issue:\nThe parameter `edits` type is expected as `array` but provided as `object`"},
		{"wants objects in it", "multi_edit", `{"path":"f","edits":["x"]}`, "InputValidationError: multi_edit failed due to the following issue:\nThe parameter `edits[0]` type is expected as `object` but provided as `string`"},
		{"wants at least one", "multi_edit", `{"path":"f","edits":[]}`, "InputValidationError: multi_edit failed due to the following issue:\nAt least one edit is required"},
		{"takes no string that is not just such a list", "multi_edit", `{"path":"f","edits":"[{\"old_string\":\"a\"}]"}`, "InputValidationError: multi_edit failed due to the following issue:\nThe parameter `edits` type is expected as `array` but provided as `string`"},
		{"refuses a name that an item has twice", "multi_edit", `{"path":"f","edits":[{"old_string":"a","old_string":"b","new_string":"c"}]}`, "InputValidationError: multi_edit failed due to the following issue:\nthe argument 'edits[0].old_string' is given twice; send it once"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			s := open(t, map[string]string{"f": "a"})
			s.want(s.callRaw(tt.tool, tt.raw), true, tt.want)
			if s.content("f") != "a" {
				t.Error("the file was changed")
			}
		})
	}
}

func TestListFiles(t *testing.T) {
	s := open(t, map[string]string{"a.txt": "", "a/": "", ".hidden": "", "b": "", "empty/": "", "l": "=> a"})
	s.want(s.call("list_files", args{"path": "."}), false, ".hidden\na.txt\na/\nb\nempty/\nl")
	s.want(s.call("list_files", args{"path": s.root}), false, ".hidden\na.txt\na/\nb\nempty/\nl")
	s.want(s.call("list_files", args{"path": "empty"}), false, "")
	s.want(s.call("list_files", args{"path": "b"}), true, "Error: not a directory: ROOT/b")
	s.want(s.call("list_files", args{"path": "gone/x"}), true, "Error: not a directory: ROOT/gone/x")
	s.want(s.call("list_files", args{"path": "/"}), true, "Error: Path escapes root: / (allowed: ROOT)")
}

func TestRoots(t *testing.T) {
	extra := physical(t, t.TempDir())
	other := physical(t, t.TempDir())
	gone := extra + "-gone"
	confined, extras := true, []string{extra, gone}
	s := open(t, map[string]string{"f": "in"}, func(o *Options) {
		o.ExtraRoots = func() []string { return extras }
		o.Confine = func() bool { return confined }
	})
	s.put(extra+"/f", "extra")
	s.put(other+"/f", "other")
	s.put("leads", "=> "+extra)
	s.put("dangling", "=> "+other+"/new")

	s.want(s.call("read_file", args{"path": "f"}), false, "1\tin")
	s.want(s.call("read_file", args{"path": extra + "/f"}), false, "1\textra")
	s.want(s.call("read_file", args{"path": "leads/f"}), false, "1\textra")
	s.want(s.call("read_file", args{"path": other + "/f"}), true, "Error: Path escapes root: "+other+"/f (allowed: ROOT, "+extra+")")
	s.want(s.call("read_file", args{"path": extra + "f/f"}), true, "Error: Path escapes root: "+extra+"f/f (allowed: ROOT, "+extra+")")
	s.want(s.call("write_file", args{"path": "dangling", "content": "x"}), true, "Error: Path escapes root: ROOT/dangling (allowed: ROOT, "+extra+")")
	s.want(s.call("write_file", args{"path": "dangling/deep/x", "content": "x"}), true, "Error: Path escapes root: ROOT/dangling/deep/x (allowed: ROOT, "+extra+")")
	s.works(s.call("write_file", args{"path": extra + "/new/x", "content": "made"}))
	if got := s.content(extra + "/new/x"); got != "made" {
		t.Errorf("made in the extra root: %s", got)
	}

	extras = []string{gone}
	s.want(s.call("read_file", args{"path": extra + "/f"}), true, "Error: Path escapes root: "+extra+"/f (allowed: ROOT)")
	if err := os.Mkdir(gone, 0o777); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(gone)
	s.put(gone+"/f", "back")
	s.want(s.call("read_file", args{"path": gone + "/f"}), false, "1\tback")

	confined = false
	s.want(s.call("read_file", args{"path": other + "/f"}), false, "1\tother")
	s.works(s.call("write_file", args{"path": "dangling", "content": "x"}))
	if got := s.content(other + "/new"); got != "x" {
		t.Errorf("written through the link: %s", got)
	}
}

func TestReadOnly(t *testing.T) {
	s := open(t, nil, func(o *Options) { o.ReadOnly = true })
	if len(s.tools) != 2 || s.tools["list_files"] == nil || s.tools["read_file"] == nil {
		t.Errorf("tools: %v", s.tools)
	}
}
