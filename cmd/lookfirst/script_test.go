package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts in testdata/script are conversations with the real program, run as a child process: each once over real
// pipes and, under its name with _http behind it, once over HTTP, and all that comes back must be the same. One whose first
// line is "# stdio only" is run over pipes alone. A script starts with a comment that says which rule or which fault it guards, and ends with the files of its work
// directory in the txtar format. The commands of testscript (exec, cmp, exists, stdout, stderr, [conditions] and so on)
// are there too; `! exec lookfirst …` and `stderr` show what is refused at start.
//
// The program:
//
//	serve ARG…                 start the program with these arguments in the current directory and shake hands
//	close                      end its input: it must exit with status 0, having written nothing but JSON-RPC lines to
//	                           its standard output and no panic to its standard error; `stdout` and `stderr` look at them
//	restart                    close, and serve with the same arguments
//	terminate                  as close, but by SIGTERM (Unix)
//	tools                      ask for the list of tools; `stdout` and `cmp stdout` look at it, one tool a line
//
// A script that does not close is closed at its end. A call, and an end, must come within a minute.
//
// A conversation:
//
//	call TOOL JSON             call a tool, and wait for its answer; without JSON, without arguments
//	answer TEXT                the call worked and its text is TEXT
//	answer-matches REGEXP      the call worked and its text matches (Go syntax, not anchored)
//	answer-file FILE           the call worked and its text is that of FILE, less FILE's last line break
//	blocks N                   the call worked and its answer has so many blocks
//	block N TEXT               the call worked and block N of its answer, from 1, is this text
//	block-file N TYPE FILE     block N holds the bytes of FILE, as an image or a resource of this media type
//	refused TEXT               the call was refused, with this text and no revisions
//	refused-matches REGEXP     the call was refused, with a text that matches and no revisions
//	revision KEY STATE         the answer gives the location KEY (path, from, to) this state, with a token unless unknown
//	no-revisions               the answer carries no structured content
//	save-revision KEY NAME     keep the token of the location, for $NAME in the lines marked below
//	[!] same-revision KEY NAME the location's token is (not) the one that was kept
//
// Files, relative to the current directory:
//
//	bytes FILE "TEXT"          the file holds exactly these bytes, written as a Go string
//	put FILE "TEXT"            write a file of exactly these bytes
//	[!] same-bytes A B         two files hold (do not hold) the same bytes
//	mode FILE 0644             the file has these permission bits
//	link NAME TARGET           make a symbolic link whose target is the text TARGET
//	fifo NAME                  make a named pipe (Unix)
//
// What follows call, answer, answer-matches, block, refused, refused-matches, bytes and put is taken as it stands to the end of
// the line: quotes and # mean nothing there. A TEXT in double quotes is a Go string, as "one\ntwo". $NAME stands for a
// token that was saved under NAME, and for itself where there is none; $WORK is the physical path of the work directory.
//
// $GOTREE is the source tree of Go: a repository that we did not write, to be copied before anything is changed.
//
// The condition [root] holds for a user who may do everything, to whom permissions mean nothing; [cgo], where the
// program has the parsers that are written in C.
func TestScripts(t *testing.T) {
	heard := &transcripts{of: map[string][]string{}}
	t.Cleanup(func() { heard.compare(t) })
	testscript.Run(t, testscript.Params{
		Files:              literalScripts(t, filepath.Join("..", "..", "testdata", "script")),
		RequireUniqueNames: true,
		Setup:              func(env *testscript.Env) error { return setup(env, heard) },
		Condition:          condition,
		Cmds:               commands(),
	})
}

// httpSuffix tells the copy of a script that is run over HTTP from the other.
const httpSuffix = "_http"

// transcripts are all that came back, by script.
type transcripts struct {
	mu sync.Mutex // guards of
	of map[string][]string
}

func (tr *transcripts) add(script string, said []string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.of[script] = said
}

// compare holds the transports together. A script that is selected over one alone has nothing to be compared with.
func (tr *transcripts) compare(t *testing.T) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for script, said := range tr.of {
		other, both := tr.of[script+httpSuffix]
		if !both {
			continue
		}
		if diff := cmp.Diff(said, other); diff != "" {
			t.Errorf("%s: stdio -, HTTP +:\n%s", script, diff)
		}
	}
}

// TestMain lets the test binary stand in for the program, so that the scripts run what was just compiled.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == readPDF { // The program within a test has started itself.
		main()
	}
	testscript.Main(m, map[string]func(){"lookfirst": main})
}

// setup gives each script a conversation and a cache directory of its own, and in $GOTREE the source tree of Go: a
// repository that we did not write.
func setup(env *testscript.Env, heard *transcripts) error {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	env.Setenv("GOTREE", filepath.Join(strings.TrimSpace(string(goroot)), "src"))
	cache := filepath.Join(env.WorkDir, ".cache")
	switch runtime.GOOS {
	case "windows":
		env.Setenv("LocalAppData", cache)
	case "darwin":
		env.Setenv("HOME", cache)
	default:
		env.Setenv("XDG_CACHE_HOME", cache)
	}
	work, err := filepath.EvalSymlinks(env.WorkDir)
	if err != nil {
		return err
	}
	script := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
	c := &conversation{
		t:        env.T(),
		overHTTP: strings.HasSuffix(script, httpSuffix),
		heard:    func(said []string) { heard.add(script, said) },
		saved:    map[string]string{"WORK": work},
	}
	env.Values[conversationKey{}] = c
	env.Defer(c.abandon)
	return os.Mkdir(cache, 0o700)
}

func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "cgo":
		info, ok := debug.ReadBuildInfo()
		return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "1"}), nil
	}
	return false, os.ErrInvalid
}

// literalLine is a line whose rest testscript must not look into. In front of its command there may be conditions.
var literalLine = regexp.MustCompile(`^(\s*(?:\[[^\]]*\]\s*)*(?:call|answer|answer-matches|refused|refused-matches|bytes|put|block))(?:[ \t]+(.*))?$`)

// literalScripts copies the scripts, once for each transport, with the rest of each literal line as one quoted argument, and returns the copies.
// Without this every JSON text would have to be quoted, and every quote in a refusal doubled.
func literalScripts(t *testing.T, dir string) []string {
	t.Helper()
	scripts, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	var copies []string
	target := t.TempDir()
	for _, script := range scripts {
		src, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		suffixes := []string{"", httpSuffix}
		if strings.HasPrefix(string(src), "# stdio only\n") {
			suffixes = suffixes[:1]
		}
		for _, suffix := range suffixes {
			file := filepath.Join(target, strings.TrimSuffix(filepath.Base(script), ".txt")+suffix+".txt")
			if err := os.WriteFile(file, []byte(quoteLiterals(string(src))), 0o600); err != nil {
				t.Fatal(err)
			}
			copies = append(copies, file)
		}
	}
	return copies
}

// quoteLiterals leaves the files after the script alone, which begin at the first line of the form "-- name --".
func quoteLiterals(script string) string {
	lines := strings.Split(script, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") {
			break
		}
		if m := literalLine.FindStringSubmatch(line); m != nil {
			rest := strings.ReplaceAll(strings.TrimRight(m[2], " \t\r"), "'", "''")
			lines[i] = m[1] + " '" + rest + "'"
		}
	}
	return strings.Join(lines, "\n")
}
