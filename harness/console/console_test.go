package console

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/compat"
	"lookfirst/fsmcp"
	"lookfirst/fsmcp/toolkit"
	"lookfirst/harness"
)

// tree is what the tests serve.
func tree() map[string]string {
	return map[string]string{
		".hidden":        "",
		"README.md":      "# Shop\n\nTODO: say more.\n",
		"src/price.go":   "package shop\n\n// Price is in cents.\nfunc Price() int { return 100 } // TODO: ask\n",
		"my dir/a b.txt": "here\n",
		"esc.txt":        "a\x1b]0;owned\x07b\r\nc\u009bd\x7f\n",
	}
}

// place makes a directory with files, and hosts of both packs over it: one for the person and one for looking.
func place(t testing.TB, files map[string]string) (dir string, person, preview *harness.Host) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	person, preview = hosts(t, dir, t.TempDir())
	return dir, person, preview
}

func hosts(t testing.TB, dir, locks string) (person, preview *harness.Host) {
	t.Helper()
	kits, err := packs(dir, locks)
	if err != nil {
		t.Fatal(err)
	}
	return mustHost(t, kits...), mustHost(t, kits...)
}

// packs opens both packs over a directory. They stay open until the test program ends.
func packs(dir, locks string) ([]harness.Toolkit, error) {
	pack, err := fsmcp.New(fsmcp.Options{Root: dir, NoSync: true, LockDir: locks, MapCache: "memory", ReadBeforeWrite: true})
	if err != nil {
		return nil, err
	}
	files, err := compat.New(compat.Options{Root: dir, NoSync: true, LockDir: locks})
	if err != nil {
		return nil, err
	}
	return []harness.Toolkit{{Prefix: "fs", Tools: pack.Tools()}, {Tools: files.Tools()}}, nil
}

func mustHost(t testing.TB, kits ...harness.Toolkit) *harness.Host {
	t.Helper()
	h, err := harness.NewHost(harness.HostOptions{Toolkits: kits})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ran runs a script and returns what it wrote, and whether it failed.
func ran(t testing.TB, o Options, input string) (output string, failed bool) {
	t.Helper()
	var out, errs bytes.Buffer
	o.In, o.Out, o.Errors = strings.NewReader(input), &out, &errs
	if o.Serving == nil {
		o.Serving = func() Serving { return Serving{Prefixes: []string{"fs"}} }
	}
	failed, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return out.String() + errs.String(), failed
}

func text(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func TestScriptsOfCalls(t *testing.T) {
	const passed = "; the lines up to one that is EOF were passed over"
	for _, c := range []struct {
		name, input, want string
		failed            bool
	}{
		{name: "reads", input: "read README.md\n", want: "# Shop\n\nTODO: say more.\n"},
		{name: "reads by the whole name", input: "fs_read README.md", want: "# Shop\n\nTODO: say more.\n"},
		{name: "reads in the other vocabulary", input: "read_file README.md\n", want: "1\t# Shop\n2\t\n3\tTODO: say more.\n4\t\n"},
		{name: "gives words in the order of the schema", input: "read README.md 1 1\n", want: text("1\t# Shop", "", "[lines 1-1 of 3 total]")},
		{name: "gives words to what no flag has taken", input: "read --offset=3 README.md\n", want: text("3\tTODO: say more.", "", "[lines 3-3 of 3 total]")},
		{name: "greps with flags", input: "grep 'TO.O' --regex --path=src\n", want: text("src/price.go:4:func Price() int { return 100 } // TODO: ask")},
		{name: "greps with values behind flags", input: "grep TODO --path src --no-regex\n", want: text("src/price.go:4:func Price() int { return 100 } // TODO: ask")},
		{name: "greps below a second word", input: "grep TODO src\n", want: text("src/price.go:4:func Price() int { return 100 } // TODO: ask")},
		{name: "reads names with spaces", input: `read "my dir/a b.txt"` + "\nread my\\ dir/'a b.txt'\n", want: "here\nhere\n"},
		{name: "calls with JSON", input: `call fs_list {"path":"src"}` + "\n" + `call list '{"path":"src"}'` + "\ncall list\n", want: text("price.go", "price.go", ".hidden", "README.md", "esc.txt", "my dir/", "src/")},
		{name: "skips blank lines and comments", input: "\n  \n# nothing\nlist src\n", want: text("price.go")},
		{name: "skips a mark and carriage returns", input: "\ufefflist src\r\nlist src\r\n", want: text("price.go", "price.go")},
		{name: "writes a heredoc", input: "write new.md <<EOF\none 'two\n\n# three\nEOF\nread new.md\n", want: text("Wrote 18 bytes to 'new.md'", "one 'two", "", "# three")},
		{
			name: "edits with two heredocs", input: "read README.md\nedit README.md <<A <<B\nTODO: say more.\nA\nMore.\nB\nread README.md\n",
			want: text("# Shop", "", "TODO: say more.", "Replaced 1 occurrence in 'README.md'; wrote 14 bytes", "# Shop", "", "More."),
		},
		{name: "goes on after a line that was to fail", input: "! read nix\n!  list nix\nlist src\n", want: text("error: 'nix' does not exist", "error: 'nix' does not exist", "price.go")},
		{name: "fails where a line was to fail and did not", failed: true, input: "! list src\n", want: text("price.go", "error: line 1: the line was to fail, and did not")},
		{name: "knows no short flags", failed: true, input: "grep -i todo\nlist -a\ngrep '-i' src\n", want: text(
			"error: line 1: grep takes no -i; write (?i) in front of the pattern, and --regex",
			"error: line 2: list takes no -a; 'help list' lists what it takes, and for a text put it in quotes",
			"No matches for '-i' under 'src'")},
		{name: "ends at quit", input: "list src\nquit\nlist src\n", want: text("price.go")},
		{name: "ends at exit", input: "exit\nlist src\n"},
		{name: "ends at /quit", input: "/quit\nlist src\n"},
		{name: "passes control characters on where no terminal is", input: "read esc.txt\n", want: tree()["esc.txt"]},
		{name: "goes on after a failure", input: "read nix\nlist src\n", want: text("error: 'nix' does not exist", "price.go"), failed: true},
		{
			name: "keeps the rule of reading first", input: "write README.md x\n", failed: true,
			want: text("error: File has not been read yet. Read it first before writing to it."),
		},
		{name: "says which tool was meant", input: "raed x\n", want: text("error: line 1: there is no tool 'raed'; did you mean read? /tools lists them"), failed: true},
		{name: "says where the tools are", input: "\nfrobnicate x\n", want: text("error: line 2: there is no tool 'frobnicate'; /tools lists them, and help says how to call one"), failed: true},
		{name: "says which flag was meant", input: "grep x --pth=src\n", want: text("error: line 1: grep takes no --pth; did you mean --path?"), failed: true},
		{name: "lists the flags", input: "read x --frobnicate\n", want: text("error: line 1: read takes no --frobnicate; there are --path, --offset, --limit"), failed: true},
		{name: "refuses a flag without its value", input: "grep x --path --regex\n", want: text("error: line 1: --path needs a value; write --path=VALUE"), failed: true},
		{name: "refuses a word too many", input: "mkdir a b\n", want: text("error: line 1: nothing is left for 'b' to be; write it as mkdir PATH, with quotes around a text that has spaces"), failed: true},
		{
			name: "makes no boolean of a word", input: "delete README.md true\n", failed: true,
			want: text("error: line 1: nothing is left for 'true' to be; write it as delete PATH [--recursive], with quotes around a text that has spaces"),
		},
		{name: "refuses a word for a number", input: "read README.md ten\n", want: text("error: line 1: --offset is 'ten' and must be a whole number"), failed: true},
		{name: "refuses what is given twice", input: "read --path=a --path=b\n", want: text("error: line 1: --path is given twice; give it once"), failed: true},
		{
			name: "refuses an open quote", input: "read 'README.md\n", failed: true,
			want: text(`error: line 1: a quote ' is not closed; put another ' behind the text, or write \' for the character itself`),
		},
		{
			name: "refuses a heredoc without an end", input: "write a <<EOF\nx\n", failed: true,
			want: text("error: line 1: the text behind <<EOF has no end; write EOF alone on a line behind it"),
		},
		{
			name: "runs no line of a text that it cannot read", input: "write a <<EOF\nlist src\n\xff\nlist src\nEOF\nread a\n", failed: true,
			want: text("error: line 1: the line is not valid UTF-8", "error: 'a' does not exist"),
		},
		{
			name: "runs no line of a text behind a line that it cannot read", failed: true,
			input: "write it's <<EOF\nlist src\nEOF\nwrite \xff <<EOF\nlist src\nEOF\nwrite a << EOF\nlist src\nEOF\n" +
				"call fs_write <<'EOF'\nlist src\nEOF\n/nope <<EOF\nlist src\nEOF\n" + strings.Repeat("x", maxLine) + " <<EOF\nlist src\nEOF\nlist src\n",
			want: text(
				`error: line 1: a quote ' is not closed; put another ' behind the text, or write \' for the character itself`+passed,
				"error: line 4: the line is not valid UTF-8"+passed,
				"error: line 7: no word stands behind <<; name one that ends the text, as in <<EOF"+passed,
				`error: line 10: the arguments of call are one JSON object; write them as in: call fs_read {"path":"README.md"}`+passed,
				"error: there is no command '/nope'; there are /help, /quit"+passed,
				"error: line 16: the line is longer than 64 MiB and was passed over"+passed,
				"price.go",
			),
		},
		{
			name: "runs no line of a second text", failed: true,
			input: "edit a <<A <<B\n\xff\nA\nlist src\nB\nedit a <<A <<B it's\nlist src\nA\nlist src\nB\nwrite a <<A 'b c\nlist src\nA\nlist src\n",
			want: text(
				"error: line 1: the line is not valid UTF-8",
				`error: line 6: a quote ' is not closed; put another ' behind the text, or write \' for the character itself`+
					"; the lines up to one that is A, and then up to one that is B were passed over",
				`error: line 11: a quote ' is not closed; put another ' behind the text, or write \' for the character itself`+
					"; the lines up to one that is A were passed over",
				"price.go",
			),
		},
		{
			name: "takes a text for no parameter by its name", input: "write a --content=<<EOF\nlist src\nEOF\nread a\nwrite a --content='<<EOF'\nread a\n", failed: true,
			want: text(
				"error: line 1: a text is for a word without a name; write <<WORD as a word of its own, or '<<EOF' in quotes"+passed,
				"error: 'a' does not exist", "Wrote 5 bytes to 'a'", "<<EOF",
			),
		},
		{
			name: "runs no line of a text for a tool that is not there", input: "nix a <<EOF\nlist src\nEOF\n", failed: true,
			want: text("error: line 1: there is no tool 'nix'; /tools lists them, and help says how to call one"),
		},
		{
			name: "repeats no more of a line than is needed", input: strings.Repeat("x", 1<<20) + "\n", failed: true,
			want: text("error: line 1: there is no tool '" + strings.Repeat("x", 100) + "…'; /tools lists them, and help says how to call one"),
		},
		{name: "knows the names of a shell", input: "cat README.md\n", want: text("error: line 1: there is no tool 'cat'; did you mean read? /tools lists them"), failed: true},
		{name: "knows a command without its slash", input: "quit x\n", want: text("error: line 1: there is no tool 'quit', but a command; write /quit"), failed: true},
		{
			name: "refuses arguments that are no JSON", input: "call fs_read README.md\n", failed: true,
			want: text(`error: line 1: the arguments of call are one JSON object; write them as in: call fs_read {"path":"README.md"}`),
		},
		{name: "refuses call alone", input: "call\n", failed: true, want: text(`error: line 1: call names no tool; write it as in: call fs_read {"path":"README.md"}`)},
		{name: "refuses bytes that are no text", input: "read \xff\nlist src\n", want: text("error: line 1: the line is not valid UTF-8", "price.go"), failed: true},
		{name: "refuses JSON without --json", input: `{"name":"fs_list"}` + "\n", want: text("error: line 1: a line of JSON is read with --json only; write: call NAME {…}"), failed: true},
		{name: "edits several times", input: "read_file README.md\n" + `multi_edit README.md --edits='[{"old_string":"Shop","new_string":"Store"}]'` + "\n", want: "1\t# Shop\n2\t\n3\tTODO: say more.\n4\t\nApplied 1 edit to README.md:\n1. Replaced \"Shop\" with \"Store\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, host, preview := place(t, tree())
			got, failed := ran(t, Options{Provider: host, Preview: preview}, c.input)
			if diff := cmp.Diff(c.want, got); diff != "" || failed != c.failed {
				t.Errorf("failed: %v\n%s", failed, diff)
			}
		})
	}
}

func TestCommands(t *testing.T) {
	commands, err := harness.NewCommands(harness.Command{
		Name: "say", Argument: "TEXT", Summary: "Says it.",
		Run: func(_ context.Context, text string) (string, error) { return "said " + text, nil },
	}, harness.Command{
		Name: "break", Summary: "Panics.", Run: func(context.Context, string) (string, error) { panic("broken") },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, host, _ := place(t, tree())
	for _, c := range []struct {
		name, input, want string
		failed            bool
	}{
		{name: "runs one", input: "/say a  'b\n", want: "said a  'b\n"},
		{name: "says which was meant", input: "/sya\n", want: "error: there is no command '/sya'; did you mean /say?\n", failed: true},
		{name: "explains one", input: "help say\n/help say\n/help /say\n", want: strings.Repeat("/say [TEXT]  Says it.\n", 3)},
		{name: "explains a tool", input: "help stat\n", want: text(
			"stat PATH",
			"Tell what is at a path: its type (file, directory, other), size in bytes, time of modification in UTC, whether the path ends in a symbolic link, and whether it can be read and written.",
			"  --path  string, required. The file or directory, relative to the root.")},
		{name: "knows nothing of another", input: "help saz\n", want: "error: there is no tool 'saz'; /tools lists them, and help says how to call one\n", failed: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, failed := ran(t, Options{Provider: host, Commands: commands}, c.input)
			if diff := cmp.Diff(c.want, got); diff != "" || failed != c.failed {
				t.Errorf("failed: %v\n%s", failed, diff)
			}
		})
	}
	got, failed := ran(t, Options{Provider: host, Commands: commands}, "/break\nlist src\n")
	if want := "error: /break failed inside the program; nothing more is known here, the log has the details\nprice.go\n"; got != want || !failed {
		t.Errorf("a command that panics: %q", got)
	}
}

func TestHelpShowsWhatIsThere(t *testing.T) {
	_, host, _ := place(t, tree())
	got, _ := ran(t, Options{Provider: host}, "help\n")
	want := text(
		"Calls:",
		"map .                                    what is in the directory",
		"read README.md                           a file: words without a name go to the parameters in their order",
		`call fs_read {"path":"README.md"}        the same as JSON`,
		"grep 'two words' --path=src --regex      parameters by name; --flag is true, --no-flag false",
		`edit notes.md 'old text' "new\ntext"     in '…' all is literal; in "…" \n is the end of a line`,
		"write notes.md <<END                     and lines up to one that is END",
		"help TOOL                                what a tool takes; /tools lists them",
		"",
		"Commands:",
		"/help [COMMAND]  Lists the commands, or says what one does.",
		"/quit            Ends the console, as Ctrl-D does.")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEcho(t *testing.T) {
	_, host, _ := place(t, tree())
	got, _ := ran(t, Options{Provider: host, Echo: true}, "# A session.\nlist src\n\nwrite a.txt <<END\nb\nEND\n")
	want := text("> # A session.", "> list src", "price.go", "", "> write a.txt <<END", "> b", "> END", "Wrote 2 bytes to 'a.txt'")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestImagesAreALine(t *testing.T) {
	blocks := []toolkit.Block{{Text: "seen"}, {Data: make([]byte, 12), MediaType: "image/png"}}
	show := &toolkit.Tool{Name: "show", Description: "Shows.", Handle: func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
		return &toolkit.Answer{Blocks: blocks}, nil
	}}
	got, _ := ran(t, Options{Provider: mustHost(t, harness.Toolkit{Tools: []*toolkit.Tool{show}})}, "show\n")
	if want := "seen\n[image/png, 12 bytes]\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLongLines(t *testing.T) {
	_, host, _ := place(t, tree())
	comment := "#" + strings.Repeat("x", maxLine-1)
	if got, failed := ran(t, Options{Provider: host}, comment+"\nlist src\n"); got != "price.go\n" || failed {
		t.Errorf("a line of 64 MiB: %q", got)
	}
	got, failed := ran(t, Options{Provider: host}, comment+"x\nlist src\n")
	if want := text("error: line 1: the line is longer than 64 MiB and was passed over", "price.go"); got != want || !failed {
		t.Errorf("a longer one: %q", got)
	}
	got, failed = ran(t, Options{Provider: host}, comment+"x")
	if want := text("error: line 1: the line is longer than 64 MiB and was passed over"); got != want || !failed {
		t.Errorf("a longer one without an end: %q", got)
	}
}

func TestJSON(t *testing.T) {
	commands, err := harness.NewCommands(harness.Command{
		Name: "say", Argument: "TEXT", Summary: "Says it.",
		Run: func(_ context.Context, text string) (string, error) { return "said <" + text + ">", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, host, _ := place(t, tree())
	input := text(
		"# a comment", "read_file README.md", "/say it", "/nix", "read 'x", "nix",
		`[{"id":"a","name":"list_files","arguments":{"path":"src"}},{"name":"nix"},{"id":"c","name":"list_files","arguments":{}}]`,
		`{"id":"d","name":"list_files","arguments":{"path":"src"}}`, "[]", `{"name":"x","args":{}}`, `{"name":"x"},{"name":"y"}`, `[1]`, "quit")
	got, failed := ran(t, Options{Provider: host, Commands: commands, JSON: true, Echo: true}, input)
	const example = `{\"id\":\"1\",\"name\":\"fs_read\",\"arguments\":{\"path\":\"README.md\"}}`
	const noCall = `"content":"the line is no call, and no array of calls, as ` + example + ": "
	want := text(
		`{"role":"tool","tool_call_id":"2","content":"1\t# Shop\n2\t\n3\tTODO: say more.\n4\t","is_error":false,"structured_content":{"revisionScheme":"sha256-v1","revisions":{"path":{"state":"file","token":"sha256-v1:file:fb89e44f63ec62bc43fa85cc0b010f088b322da5e5cfa57a511dbfd01395d7ad"}}}}`,
		`{"command":"say","content":"said <it>","is_error":false}`,
		`{"command":"nix","content":"there is no command '/nix'; there are /help, /quit, /say","is_error":true}`,
		`{"line":5,"content":"a quote ' is not closed; put another ' behind the text, or write \\' for the character itself","is_error":true}`,
		`{"line":6,"content":"there is no tool 'nix'; /tools lists them, and help says how to call one","is_error":true}`,
		`{"role":"tool","tool_call_id":"a","content":"price.go","is_error":false}`,
		`{"role":"tool","tool_call_id":"7","content":"there is no tool 'nix'; choose one of the tools in the list","is_error":true}`,
		`{"role":"tool","tool_call_id":"c","content":"InputValidationError: list_files failed due to the following issue:\nThe required parameter `+"`path`"+` is missing","is_error":true}`,
		`{"role":"tool","tool_call_id":"d","content":"price.go","is_error":false}`,
		`{"line":10,`+noCall+`json: unknown field \"args\"","is_error":true}`,
		`{"line":11,`+noCall+`invalid character ',' after top-level value","is_error":true}`,
		`{"line":12,`+noCall+`json: cannot unmarshal number into Go value of type harness.Call","is_error":true}`)
	if diff := cmp.Diff(want, got); diff != "" || !failed {
		t.Errorf("failed: %v\n%s", failed, diff)
	}
	for line := range strings.Lines(got) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

// Where two directories have tools of one name, it takes more than that to say which is meant.
func TestNamesThatTwoToolsHave(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	var kits []harness.Toolkit
	for prefix, dir := range map[string]string{"a": first, "b": second} {
		pack, err := packs(dir, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		kits = append(kits, harness.Toolkit{Prefix: prefix, Tools: pack[0].Tools})
	}
	o := Options{Provider: mustHost(t, kits...), Serving: func() Serving { return Serving{Prefixes: []string{"a", "b"}} }}
	got, failed := ran(t, o, "write x.txt 1\nb_write x.txt 1\nhelp read\n")
	want := text("error: line 1: 'write' may be a_write or b_write; write one of them", "Wrote 1 bytes to 'x.txt'",
		"error: 'read' may be a_read or b_read; write one of them")
	if diff := cmp.Diff(want, got); diff != "" || !failed {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(second, "x.txt")); err != nil {
		t.Error(err)
	}
	if got, _ := ran(t, o, "help\n"); !strings.Contains(got, "\na_read README.md ") {
		t.Errorf("help shows\n%s", got)
	}
}
