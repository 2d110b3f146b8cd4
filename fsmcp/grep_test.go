package fsmcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/search"
	"lookfirst/fsmcp/toolkit"
)

// grepIn serves a tree, given as paths with contents; "a => b" is a link.
func grepIn(t *testing.T, tree map[string]string, dialect search.Dialect) *toolkit.Tool {
	t.Helper()
	dir := t.TempDir()
	for path, content := range tree {
		path, target, isLink := strings.Cut(path, " => ")
		path = filepath.Join(dir, path)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil && isLink {
			err = os.Symlink(target, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(content), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f, err := New(Options{Root: dir, LockDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	tool := f.grepTool(dialect)
	tool.Report = func(err error) { t.Error(err) }
	return tool
}

func TestGrepAnswers(t *testing.T) {
	tree := map[string]string{
		"src/app.raku":      strings.Repeat("#\n", 13) + "# TODO: retries\n",
		"src/lib/db.raku":   strings.Repeat("#\n", 202) + "# TODO: index this\n",
		"notes/todo.md":     "1\n2\nshopping:\n- feed the yak\n- water the yaq\n6\n7\n8\n9\n10\nlater:\n- rename the yak\n",
		"notes/ideas.md":    "the first\n\n\n\n\n\nthe second\nthe third\n",
		"crlf.txt":          "one\r\ntwo\r\n",
		"bom.txt":           "\ufefffirst\n",
		"decomposed.txt":    "cafe\u0301\n",
		"binary":            "needle\x00\n",
		"latin1":            "needle \xe9\n",
		"odd\nname":         "needle\n",
		"link => crlf.txt":  "",
		"out => /etc/group": "",
		"deep => notes":     "",
		"many/b":            "x\n",
		"many/a/c":          "x\n",
		"many/a.txt":        "x\n",
		"long":              strings.Repeat("a", 3000) + "needle" + strings.Repeat("b", 3000) + "\n",
		"group":             "p\nhit 1\np\np\nhit 2\np\np\np\nhit 3\n",
	}
	cases := []struct {
		name, args, want string
		refused          bool
	}{
		{
			name: "it reports path, line and text in the order of the walk",
			args: `{"pattern":"TODO","path":"src"}`,
			want: "src/app.raku:14:# TODO: retries\nsrc/lib/db.raku:203:# TODO: index this",
		},
		{
			name: "it marks context with a dash and parts groups",
			args: `{"pattern":"yak","context":1}`,
			want: "notes/todo.md-3-shopping:\nnotes/todo.md:4:- feed the yak\nnotes/todo.md-5-- water the yaq\n--\nnotes/todo.md-11-later:\nnotes/todo.md:12:- rename the yak",
		},
		{
			name: "it stops and says so",
			args: `{"pattern":"the ","path":"notes/ideas.md","max-results":2}`,
			want: "notes/ideas.md:1:the first\nnotes/ideas.md:7:the second\n\n[stopped at 2 matching lines; raise max-results to see more]",
		},
		{
			name: "it does not say that it stopped when there is no more",
			args: `{"pattern":"the ","path":"notes/ideas.md","max-results":3}`,
			want: "notes/ideas.md:1:the first\nnotes/ideas.md:7:the second\nnotes/ideas.md:8:the third",
		},
		{
			name: "it ends the last context at the next match",
			args: `{"pattern":"hit","path":"group","max-results":1,"context":5}`,
			want: "group-1-p\ngroup:2:hit 1\ngroup-3-p\ngroup-4-p\n\n[stopped at 1 matching lines; raise max-results to see more]",
		},
		{
			name: "it joins groups that touch",
			args: `{"pattern":"hit","path":"group","context":1}`,
			want: "group-1-p\ngroup:2:hit 1\ngroup-3-p\ngroup-4-p\ngroup:5:hit 2\ngroup-6-p\n--\ngroup-8-p\ngroup:9:hit 3",
		},
		{
			name: "it visits a directory's files before its sub-directories",
			args: `{"pattern":"x","path":"many"}`,
			want: "many/a.txt:1:x\nmany/b:1:x\nmany/a/c:1:x",
		},
		{
			name: "it takes a pattern literally",
			args: `{"pattern":".","path":"crlf.txt"}`,
			want: "No matches for '.' under 'crlf.txt'",
		},
		{
			name: "it filters by name at any depth",
			args: `{"pattern":"TODO","glob":"d?.*"}`,
			want: "src/lib/db.raku:203:# TODO: index this",
		},
		{
			name: "it ends a line at CRLF, for a link too",
			args: `{"pattern":"e$|^two$","regex":true,"glob":"*l*"}`,
			want: "crlf.txt:1:one\ncrlf.txt:2:two\nlink:1:one\nlink:2:two",
		},
		{
			name: "it does not see a byte order mark",
			args: `{"pattern":"^first","regex":true}`,
			want: "bom.txt:1:first",
		},
		{
			name: "it finds a composed character in a decomposed text",
			args: `{"pattern":"café"}`,
			want: "decomposed.txt:1:café",
		},
		{
			name: "it finds a composed character for a decomposed pattern",
			args: `{"pattern":"e\u0301"}`,
			want: "decomposed.txt:1:café",
		},
		{
			name: "it does not find a part of a character",
			args: `{"pattern":"cafe"}`,
			want: "No matches for 'cafe' under '.'",
		},
		{
			name: "it passes over what is no text, quotes odd names and cuts long lines",
			args: `{"pattern":"needle"}`,
			want: "long:1:…" + strings.Repeat("a", 994) + "needle" + strings.Repeat("b", 1000) + "…\n\"odd\\nname\":1:needle",
		},
		{
			name: "it does not follow links out of the root or to directories",
			args: `{"pattern":"root"}`,
			want: "No matches for 'root' under '.'",
		},
		{
			name: "it searches a linked directory that is named, by its physical path",
			args: `{"pattern":"first","path":"deep"}`,
			want: "notes/ideas.md:1:the first",
		},
		{
			name:    "it refuses a pattern that does not parse",
			args:    `{"pattern":"a(b","regex":true}`,
			want:    "Invalid regex pattern 'a(b': missing closing ) at 'a(b'",
			refused: true,
		},
		{
			name:    "it refuses an empty pattern",
			args:    `{"pattern":""}`,
			want:    "'pattern' is empty; send the text to look for",
			refused: true,
		},
		{
			name:    "it refuses a pattern with a line break",
			args:    `{"pattern":"a\nb"}`,
			want:    "'pattern' holds a line break, and grep matches one line at a time; search for one of the lines",
			refused: true,
		},
		{
			name:    "it refuses a regex that needs a line break",
			args:    `{"pattern":"a\\nb","regex":true}`,
			want:    "'pattern' holds a line break, and grep matches one line at a time; search for one of the lines",
			refused: true,
		},
		{
			name:    "it refuses a slash in the glob",
			args:    `{"pattern":"a","glob":"src/*.raku"}`,
			want:    "'glob' is 'src/*.raku', and it filters by file name alone; send it without a slash and choose where to look with 'path'",
			refused: true,
		},
		{
			name:    "it refuses a path that does not exist",
			args:    `{"pattern":"a","path":"nowhere"}`,
			want:    "'nowhere' does not exist",
			refused: true,
		},
		{
			name:    "it refuses a path outside",
			args:    `{"pattern":"a","path":"out"}`,
			want:    "'out' leads outside the root",
			refused: true,
		},
		{
			name:    "it refuses too much context",
			args:    `{"pattern":"a","context":21}`,
			want:    "'context' is the number 21; send an integer from 0 to 20",
			refused: true,
		},
	}
	tool := grepIn(t, tree, search.RE2)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want := &toolkit.Result{Text: c.want, IsError: c.refused}
			if diff := cmp.Diff(want, tool.Call(t.Context(), json.RawMessage(c.args))); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}
