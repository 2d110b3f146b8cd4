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
	identity := config{name: "lookfirst", version: buildVersion(), instructions: defaultInstructions, revisions: harness.PlaceAuto}
	with := func(toolkits ...mounting) config {
		c := identity
		c.toolkits = toolkits
		return c
	}
	plain := with(mounting{source: "ROOT", prefix: "fs", options: fsmcp.Options{Root: "/a"}})
	const odd = `--tool=FileSystem={"root":"/it's $HOME, \"q\" é"}`
	cases := []struct {
		name string
		args []string
		want config
	}{
		{"it serves ROOT", []string{"/a"}, plain},
		{"it serves --root", []string{"--root=/a"}, plain},
		{"it takes a flag and its value as two words", []string{"--root", "/a"}, plain},
		{"it takes a ROOT that looks like a flag after --", []string{"--", "-a"}, with(mounting{source: "ROOT", prefix: "fs", options: fsmcp.Options{Root: "-a"}})},
		{"it serves ROOT for reading", []string{"/a", "--read-only"}, with(mounting{source: "ROOT", prefix: "fs", options: fsmcp.Options{Root: "/a", ReadOnly: true}})},
		{
			"it takes every setting of a toolkit",
			[]string{`--tool=FileSystem={"root":"/a","read-only":true,"digest-memo":5,"revision-budget":6,"sync":false,"prefix":"p"}`},
			with(mounting{
				source: `--tool=FileSystem={"root":"/a","read-only":true,"digest-memo":5,"revision-budget":6,"sync":false,"prefix":"p"}`,
				prefix: "p", options: fsmcp.Options{Root: "/a", ReadOnly: true, DigestMemo: 5, RevisionBudget: 6, NoSync: true},
			}),
		},
		{
			"it takes several toolkits, in order",
			[]string{`--tool=FileSystem={"root":"/b","prefix":""}`, "--tool", `FileSystem={"root":"/a","sync":true}`},
			with(
				mounting{source: `--tool=FileSystem={"root":"/b","prefix":""}`, options: fsmcp.Options{Root: "/b"}},
				mounting{source: `--tool=FileSystem={"root":"/a","sync":true}`, prefix: "fs", options: fsmcp.Options{Root: "/a"}},
			),
		},
		{"it leaves a root as it is", []string{odd}, with(mounting{source: odd, prefix: "fs", options: fsmcp.Options{Root: `/it's $HOME, "q" é`}})},
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
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(config{}, mounting{})); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestConfigRefuses(t *testing.T) {
	const settings = "; the settings are 'root', 'read-only', 'digest-memo', 'revision-budget', 'sync', 'prefix'"
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
		{"it takes no empty name", []string{"--name=", "/a"}, "--name and --server-version may not be empty; leave them out for the defaults"},
		{"it knows the toolkits", []string{"--tool=Files={}"}, "--tool=Files={}: there is no toolkit 'Files'; there is FileSystem"},
		{"it compares a toolkit's name exactly", []string{"--tool=filesystem"}, "--tool=filesystem: there is no toolkit 'filesystem'; there is FileSystem"},
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
