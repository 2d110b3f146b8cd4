package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"lookfirst/fsmcp"
	"lookfirst/harness"
)

// parse returns what a command line asks for.
func parse(t *testing.T, args []string) (config, error) {
	t.Helper()
	var f flags
	cmd := &cobra.Command{}
	f.register(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return f.config(cmd.Flags().Args())
}

func TestConfig(t *testing.T) {
	rooted := func(root string, readOnly bool) []mounting {
		return []mounting{
			{source: "ROOT", kind: "FileSystem", prefix: "fs", fileSystem: fsmcp.Options{Root: root, ReadOnly: readOnly, ReadBeforeWrite: true}},
			{source: "ROOT", kind: "FileTools", fileTools: fileToolsOptions{root: root, readOnly: readOnly}},
		}
	}
	with := func(toolkits ...mounting) config {
		return config{
			name: "lookfirst", version: buildVersion(), instructions: instructionsFor(toolkits), revisions: harness.PlaceAuto, toolkits: toolkits,
		}
	}
	files := func(source, prefix string, options fsmcp.Options) mounting {
		return mounting{source: source, kind: "FileSystem", prefix: prefix, fileSystem: options}
	}
	plain := with(rooted("/a", false)...)
	const (
		odd        = `--tool=FileSystem={"root":"/it's $HOME, \"q\" é"}`
		fileSystem = `--tool=FileSystem={"root":"/a","read-only":true,"read-before-write":true,"regex-syntax":"raku","digest-memo":5,"revision-budget":6,"map-cache":"memory","sync":false,"prefix":"p"}`
		fileTools  = `--tool=FileTools={"root":"/a","extra-roots":["/b","c"],"confine":false,"read-only":true,"sees-images":false,"reads-pdf":false,"sync":false,"prefix":"p"}`
	)
	cases := []struct {
		name string
		args []string
		want config
	}{
		{"it serves ROOT", []string{"/a"}, plain},
		{"it serves --root", []string{"--root=/a"}, plain},
		{"it takes a flag and its value as two words", []string{"--root", "/a"}, plain},
		{"it takes a ROOT that looks like a flag after --", []string{"--", "-a"}, with(rooted("-a", false)...)},
		{"it serves ROOT for reading", []string{"/a", "--read-only"}, with(rooted("/a", true)...)},
		{"it serves ROOT in both vocabularies when told to", []string{"/a", "--vocabulary=both"}, plain},
		{"it serves ROOT as the filesystem alone", []string{"--vocabulary=filesystem", "/a"}, with(rooted("/a", false)[0])},
		{"it serves ROOT as the file tools alone", []string{"--vocabulary", "file-tools", "/a", "--read-only"}, with(rooted("/a", true)[1])},
		{
			"it takes every setting of FileSystem",
			[]string{fileSystem},
			with(files(fileSystem, "p", fsmcp.Options{
				Root: "/a", ReadOnly: true, ReadBeforeWrite: true, RegexSyntax: "raku", DigestMemo: 5, RevisionBudget: 6, MapCache: "memory", NoSync: true,
			})),
		},
		{
			"it takes every setting of FileTools",
			[]string{fileTools},
			with(mounting{source: fileTools, kind: "FileTools", prefix: "p", fileTools: fileToolsOptions{
				root: "/a", extraRoots: []string{"/b", "c"}, isUnconfined: true, readOnly: true, noImages: true, noPDF: true, noSync: true,
			}}),
		},
		{
			"it takes the default of every setting of FileTools",
			[]string{`--tool=FileTools={"root":"/a","extra-roots":[],"confine":true,"read-only":false,"sees-images":true,"reads-pdf":true,"sync":true,"prefix":""}`},
			with(mounting{
				source: `--tool=FileTools={"root":"/a","extra-roots":[],"confine":true,"read-only":false,"sees-images":true,"reads-pdf":true,"sync":true,"prefix":""}`,
				kind:   "FileTools", fileTools: fileToolsOptions{root: "/a", extraRoots: []string{}},
			}),
		},
		{
			"it takes several toolkits, in order",
			[]string{`--tool=FileSystem={"root":"/b","prefix":""}`, "--tool", `FileSystem={"root":"/a","sync":true}`},
			with(
				files(`--tool=FileSystem={"root":"/b","prefix":""}`, "", fsmcp.Options{Root: "/b"}),
				files(`--tool=FileSystem={"root":"/a","sync":true}`, "fs", fsmcp.Options{Root: "/a"}),
			),
		},
		{"it leaves a root as it is", []string{odd}, with(files(odd, "fs", fsmcp.Options{Root: `/it's $HOME, "q" é`}))},
		{
			"it takes an identity",
			[]string{"--name=n", "--server-version=v", "--instructions=", "/a"},
			config{name: "n", version: "v", toolkits: plain.toolkits, revisions: harness.PlaceAuto},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse(t, c.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(config{}, mounting{}, fileToolsOptions{})); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestConfigRefuses(t *testing.T) {
	const (
		settings  = "; the settings are 'root', 'read-only', 'read-before-write', 'regex-syntax', 'digest-memo', 'revision-budget', 'map-cache', 'sync', 'prefix'"
		fileTools = "; the settings are 'root', 'extra-roots', 'confine', 'read-only', 'sees-images', 'reads-pdf', 'sync', 'prefix'"
	)
	cases := []struct {
		name string
		args []string
		want string
	}{
		{"it serves nothing by default", nil, "no directory to serve; name one as in 'lookfirst /srv/notes', or a toolkit as in --tool=" + example},
		{"it takes no empty ROOT", []string{""}, "no directory to serve; name one as in 'lookfirst /srv/notes', or a toolkit as in --tool=" + example},
		{"it takes no empty --root", []string{"--root="}, "no directory to serve; name one as in 'lookfirst /srv/notes', or a toolkit as in --tool=" + example},
		{"it serves one ROOT", []string{"/a", "/b"}, "one ROOT is served, and 2 are given ('/a', '/b'); serve several with a --tool=" + example + " for each"},
		{"it takes ROOT or --root", []string{"--root=/a", "/b"}, "one ROOT is served, and 2 are given ('/a', '/b'); serve several with a --tool=" + example + " for each"},
		{"it takes ROOT or --tool", []string{"/a", "--tool=FileSystem"}, "ROOT ('/a') and --tool exclude each other; give the directory as a toolkit too: --tool=" + example},
		{"it takes --root or --tool", []string{"--root=/a", "--tool=FileSystem"}, "ROOT ('/a') and --tool exclude each other; give the directory as a toolkit too: --tool=" + example},
		{"it takes --read-only with ROOT alone", []string{"--read-only", "--tool=FileSystem"}, `--read-only goes with ROOT; beside --tool, write "read-only": true into the toolkit's settings`},
		{"it takes --vocabulary with ROOT alone", []string{"--vocabulary=both", "--tool=FileSystem"}, "--vocabulary goes with ROOT; beside --tool, name the toolkits that are wanted"},
		{"it knows the vocabularies", []string{"--vocabulary=fs", "/a"}, "--vocabulary is 'fs' and must be 'both', 'filesystem' or 'file-tools'"},
		{"it takes no empty name", []string{"--name=", "/a"}, "--name and --server-version may not be empty; leave them out for the defaults"},
		{"it knows the toolkits", []string{"--tool=Files={}"}, "--tool=Files={}: there is no toolkit 'Files'; there are FileSystem and FileTools"},
		{"it compares a toolkit's name exactly", []string{"--tool=filesystem"}, "--tool=filesystem: there is no toolkit 'filesystem'; there are FileSystem and FileTools"},
		{"it wants a root", []string{"--tool=FileSystem"}, "--tool=FileSystem: 'root' is missing" + settings},
		{"it wants a root that is not empty", []string{`--tool=FileSystem={"root":""}`}, `--tool=FileSystem={"root":""}: 'root' is empty and must be a string` + settings},
		{"it refuses an unknown setting", []string{`--tool=FileSystem={"root":"/a","readonly":true}`}, `--tool=FileSystem={"root":"/a","readonly":true}: there is no setting 'readonly'` + settings},
		{"it compares settings exactly", []string{`--tool=FileSystem={"Root":"/a"}`}, `--tool=FileSystem={"Root":"/a"}: there is no setting 'Root'` + settings},
		{"it refuses a setting given twice", []string{`--tool=FileSystem={"root":"/a","root":"/"}`}, `--tool=FileSystem={"root":"/a","root":"/"}: 'root' is given twice` + settings},
		{"it wants a string", []string{`--tool=FileSystem={"root":["/a"]}`}, `--tool=FileSystem={"root":["/a"]}: 'root' is ["/a"] and must be a string` + settings},
		{"it wants true or false", []string{`--tool=FileSystem={"root":"/a","read-only":"yes"}`}, `--tool=FileSystem={"root":"/a","read-only":"yes"}: 'read-only' is "yes" and must be true or false` + settings},
		{"it does not take null for a default", []string{`--tool=FileSystem={"root":"/a","read-only":null}`}, `--tool=FileSystem={"root":"/a","read-only":null}: 'read-only' is null and must be true or false` + settings},
		{"it wants a whole number", []string{`--tool=FileSystem={"root":"/a","digest-memo":1.5}`}, `--tool=FileSystem={"root":"/a","digest-memo":1.5}: 'digest-memo' is 1.5 and must be an integer of at least 1` + settings},
		{"it wants a positive number", []string{`--tool=FileSystem={"root":"/a","digest-memo":0}`}, `--tool=FileSystem={"root":"/a","digest-memo":0}: 'digest-memo' is 0 and must be an integer of at least 1` + settings},
		{"it does not take true for 1", []string{`--tool=FileSystem={"root":"/a","digest-memo":true}`}, `--tool=FileSystem={"root":"/a","digest-memo":true}: 'digest-memo' is true and must be an integer of at least 1` + settings},
		{"it wants one of the words", []string{`--tool=FileSystem={"root":"/a","regex-syntax":"perl"}`}, `--tool=FileSystem={"root":"/a","regex-syntax":"perl"}: 'regex-syntax' is "perl" and must be "re2" or "raku"` + settings},
		{"it wants a word", []string{`--tool=FileSystem={"root":"/a","map-cache":false}`}, `--tool=FileSystem={"root":"/a","map-cache":false}: 'map-cache' is false and must be "disk" or "memory"` + settings},
		{"it serves no directory by default as FileTools", []string{"--tool=FileTools"}, "--tool=FileTools: 'root' is missing" + fileTools},
		{"it wants a root of FileTools that is not empty", []string{`--tool=FileTools={"root":""}`}, `--tool=FileTools={"root":""}: 'root' is empty and must be a string` + fileTools},
		{"it wants a list of roots", []string{`--tool=FileTools={"root":"/a","extra-roots":"/b"}`}, `--tool=FileTools={"root":"/a","extra-roots":"/b"}: 'extra-roots' is "/b" and must be a list of strings that are not empty` + fileTools},
		{"it wants roots that are not empty", []string{`--tool=FileTools={"root":"/a","extra-roots":["/b",""]}`}, `--tool=FileTools={"root":"/a","extra-roots":["/b",""]}: 'extra-roots' is ["/b",""] and must be a list of strings that are not empty` + fileTools},
		{"it keeps the settings of the toolkits apart", []string{`--tool=FileTools={"root":"/a","digest-memo":1}`}, `--tool=FileTools={"root":"/a","digest-memo":1}: there is no setting 'digest-memo'` + fileTools},
		{"it wants an object", []string{`--tool=FileSystem="/a"`}, `--tool=FileSystem="/a": the settings are not one JSON object (it does not start with {); write them as in --tool=` + example},
		{"it wants an object and not nothing", []string{`--tool=FileSystem=`}, `--tool=FileSystem=: the settings are not one JSON object (it does not start with {); write them as in --tool=` + example},
		{"it wants one object", []string{`--tool=FileSystem={}{}`}, `--tool=FileSystem={}{}: the settings are not one JSON object (something follows its end); write them as in --tool=` + example},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(t, c.args)
			if err == nil {
				t.Fatal("it was taken")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestConfigRefusesBrokenSettings(t *testing.T) {
	for _, raw := range []string{`{`, `{"root"`, `{"root":`, `{"root":"/a"`, `{"root":"/a",`, `{root:"/a"}`, `{"root":"/a"]`, `{1:2}`} {
		if _, err := parse(t, []string{"--tool=FileSystem=" + raw}); err == nil {
			t.Errorf("%s was taken", raw)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s is refused in several lines: %v", raw, err)
		}
	}
}

func TestRunStatus(t *testing.T) {
	dir := t.TempDir()
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}` + "\n"
	cases := []struct {
		name   string
		args   []string
		stdin  string
		status int
		stdout string // must be part of it; nothing may be there if empty
		stderr string // must be part of it
	}{
		{"it shows its version", []string{"--version"}, "", 0, "lookfirst ", ""},
		{"it shows its flags", []string{"--help"}, "", 0, "--tool NAME[=JSON]", ""},
		{"it ends well with its input", []string{dir}, "", 0, "", "lookfirst: serving '"},
		{"it refuses an unknown flag", []string{"--rot=" + dir}, initialize, 2, "", "lookfirst: unknown flag: --rot; 'lookfirst --help' lists the flags\n"},
		{"it refuses a root that is not there", []string{dir + "/missing"}, initialize, 2, "", "lookfirst: ROOT: "},
		{"it refuses a prefix that clients do not take", []string{`--tool=FileSystem={"root":"` + dir + `","prefix":"a b"}`}, initialize, 2, "", "prefix 'a b'"},
		{"it refuses a name that two tools would have", []string{`--tool=FileSystem={"root":"` + dir + `"}`, `--tool=FileSystem={"root":"` + dir + `"}`}, initialize, 2, "", "both have a tool 'fs_"},
		{"it answers a line that is no protocol, and goes on", []string{dir}, "hello\n" + initialize, 0, `"code":-32700`, "parse error"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			if status := run(t.Context(), c.args, strings.NewReader(c.stdin), &stdout, &stderr); status != c.status {
				t.Errorf("the status is %d, want %d", status, c.status)
			}
			if !strings.Contains(stdout.String(), c.stdout) || c.stdout == "" && stdout.Len() > 0 {
				t.Errorf("standard output is %q, want %q in it", &stdout, c.stdout)
			}
			if !strings.Contains(stderr.String(), c.stderr) {
				t.Errorf("standard error is %q, want %q in it", &stderr, c.stderr)
			}
		})
	}
}

// A signal ends the context. Standard input stays open, as it does when a terminal is there.
func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stdin, client := io.Pipe()
	defer client.Close()
	stderr := &cancelling{cancel: cancel}
	if status := run(ctx, []string{t.TempDir()}, stdin, io.Discard, stderr); status != 0 {
		t.Errorf("the status is %d, standard error %q", status, &stderr.Builder)
	}
}

// cancelling cancels as soon as the program says what it serves.
type cancelling struct {
	strings.Builder
	cancel context.CancelFunc
}

func (c *cancelling) Write(b []byte) (int, error) {
	c.cancel()
	return c.Builder.Write(b)
}
