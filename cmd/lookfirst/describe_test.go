package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// output runs the program to its end, and returns its status and what it said.
func output(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	status = run(t.Context(), args, strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

// The golden texts in testdata are written anew with go test -run Describe -args update.
func TestDescribe(t *testing.T) {
	update := len(flag.Args()) > 0 && flag.Args()[0] == "update"
	dir := t.TempDir()
	cases := []struct {
		name, arg, golden string
	}{
		{"it lists the settings", "FileSystem", "describe.txt"},
		{"it lists the tools that settings give", `FileSystem={"root":"` + filepath.ToSlash(dir) + `"}`, "describe_tools.txt"},
		{"it lists the tools that are left for reading, under their prefix", `FileSystem={"root":"` + filepath.ToSlash(dir) + `","prefix":"logs","read-only":true}`, "describe_reading.txt"},
		{"it lists the settings of the file tools", "FileTools", "describe_file_tools.txt"},
		{"it lists the file tools", `FileTools={"root":"` + filepath.ToSlash(dir) + `"}`, "describe_file_tools_tools.txt"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			status, got, errs := output(t, "--describe", c.arg)
			if status != 0 || errs != "" {
				t.Fatalf("status %d: %s", status, errs)
			}
			file := filepath.Join("testdata", c.golden)
			if update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestDescribeRefuses(t *testing.T) {
	const settings = "; the settings are 'root', 'read-only', 'read-before-write', 'regex-syntax', 'digest-memo', 'revision-budget', 'map-cache', 'sync', 'prefix'\n"
	cases := []struct {
		name string
		args []string
		want string // the start of what it says
	}{
		{"it knows the toolkits", []string{"--describe=Files"}, "lookfirst: --describe=Files: there is no toolkit 'Files'; there are FileSystem and FileTools\n"},
		{"it wants a root among settings", []string{"--describe=FileSystem={}"}, "lookfirst: --describe=FileSystem={}: 'root' is missing" + settings},
		{"it wants an object", []string{"--describe=FileSystem="}, "lookfirst: --describe=FileSystem=: the settings are not one JSON object (it does not start with {); write them as in --describe=" + example + "\n"},
		{"it wants a root that is there", []string{`--describe=FileSystem={"root":"/no/such/directory"}`}, `lookfirst: --describe=FileSystem={"root":"/no/such/directory"}: `},
		{"it wants a prefix that clients take", []string{`--describe=FileSystem={"root":".","prefix":"a b"}`}, `lookfirst: --describe=FileSystem={"root":".","prefix":"a b"}: prefix 'a b': a name is made of`},
		{"it takes --describe or ROOT", []string{"--describe=FileSystem", "/a"}, "lookfirst: ROOT ('/a') and --describe exclude each other; give one of them\n"},
		{"it takes --describe or --tool", []string{"--describe=FileSystem", "--tool=FileSystem"}, "lookfirst: --tool and --describe exclude each other; give one of them\n"},
		{"it serves nothing", []string{"--describe=FileSystem", "--http=0"}, "lookfirst: --describe serves nothing, and --http says how to serve; leave it out\n"},
		{"it takes no vocabulary", []string{"--describe=FileTools", "--vocabulary=both"}, "lookfirst: --describe serves nothing, and --vocabulary says how to serve; leave it out\n"},
		{"it wants a root of the file tools", []string{"--describe=FileTools={}"}, "lookfirst: --describe=FileTools={}: 'root' is missing; the settings are 'root', 'extra-roots',"},
		{"it writes nothing", []string{"--describe=FileSystem", "--read-only"}, "lookfirst: --describe serves nothing, and --read-only says how to serve; leave it out\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			status, out, errs := output(t, c.args...)
			if status != exitUsage || out != "" || !strings.HasPrefix(errs, c.want) {
				t.Errorf("status %d, standard output %q, standard error\n  %q, want\n  %q", status, out, errs, c.want)
			}
		})
	}
}

func TestFlagsStandOnce(t *testing.T) {
	for _, name := range []string{"root", "config", "describe", "vocabulary", "name", "server-version", "instructions", "revisions", "http", "host", "http-path"} {
		want := `lookfirst: invalid argument "b" for "--` + name + `" flag: the flag is given twice; 'lookfirst --help' lists the flags` + "\n"
		if status, _, errs := output(t, "--"+name+"=a", "--"+name+"=b"); status != exitUsage || errs != want {
			t.Errorf("--%s: status %d, %q", name, status, errs)
		}
	}
}

func TestCompletion(t *testing.T) {
	t.Run("it prints a script for each shell", func(t *testing.T) {
		for shell, sign := range map[string]string{"bash": "complete -o default -F __start_lookfirst lookfirst", "zsh": "#compdef lookfirst", "fish": "complete -c lookfirst"} {
			if status, out, errs := output(t, "completion", shell); status != 0 || errs != "" || !strings.Contains(out, sign) {
				t.Errorf("%s: status %d, %q, %d bytes", shell, status, errs, len(out))
			}
		}
	})
	t.Run("it refuses everything else", func(t *testing.T) {
		for _, args := range [][]string{{"completion"}, {"completion", "csh"}, {"completion", "bash", "zsh"}} {
			if status, out, errs := output(t, args...); status != exitUsage || out != "" || !strings.HasPrefix(errs, "lookfirst: completion is for one shell: bash, zsh or fish; ") {
				t.Errorf("%q: status %d, %q", args, status, errs)
			}
		}
	})
	cases := []struct {
		name string
		line []string
		want string // what a shell is told
	}{
		{"it offers directories for --root", []string{"--root", ""}, ":16\n"},
		{"it offers JSON files for --config", []string{"--config="}, "json\n:8\n"},
		{"it offers toolkits", []string{"--tool", ""}, "FileSystem\nFileTools\n:6\n"},
		{"it offers vocabularies", []string{"--vocabulary="}, "both\nfilesystem\nfile-tools\n:4\n"},
		{"it shows nobody how it reads a PDF", []string{"__re"}, ":16\n"},
		{"it offers places for revisions", []string{"--revisions", ""}, "auto\nstructured\nmeta\n:4\n"},
		{"it offers nothing for a port", []string{"--http", ""}, ":4\n"},
		{"it offers nothing behind ROOT", []string{"a", ""}, ":4\n"},
		{"it offers the shells", []string{"completion", ""}, "bash\nzsh\nfish\n:4\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, out, _ := output(t, append([]string{"__complete"}, c.line...)...); out != c.want {
				t.Errorf("got %q, want %q", out, c.want)
			}
		})
	}
	t.Run("it leaves a directory of its name to --root", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if err := os.Mkdir("completion", 0o700); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"--root=completion"}, {"--root", "completion"}, {"./completion"}} {
			if status, _, errs := output(t, args...); status != 0 || !strings.HasPrefix(errs, "lookfirst: serving '") {
				t.Errorf("%q: status %d, %q", args, status, errs)
			}
		}
	})
}
