package search

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/confine"
)

// defaults are the settings of Run.
func defaults() settings { return usual(2) }

// plant writes files, and links written "a => b", into a new directory and opens that.
func plant(t testing.TB, tree map[string]string) *confine.Location {
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
	return open(t, dir)
}

func open(t testing.TB, dir string) *confine.Location { return openAt(t, dir, ".") }

func openAt(t testing.TB, dir, path string) *confine.Location {
	t.Helper()
	root, err := confine.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	loc, err := root.Resolve("path", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		loc.Close()
		root.Close()
	})
	return loc
}

// paths are the files of a result, in order.
func paths(r Result) []string {
	var list []string
	for _, f := range r.Files {
		list = append(list, f.Path)
	}
	return list
}

// useStandIn makes the test binary the rg of this test, and returns how often it was started.
func useStandIn(t *testing.T, role string) (binary string, started func() int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(t.TempDir(), "rg")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if err := os.Symlink(self, binary); err != nil {
		t.Fatal(err)
	}
	count := filepath.Join(t.TempDir(), "count")
	t.Setenv("MCP_FS_GREP_BACKEND", "rg")
	t.Setenv("MCP_FS_RG", binary)
	t.Setenv(standInVariable, role)
	t.Setenv(countVariable, count)
	ResetSearchers()
	t.Cleanup(ResetSearchers)
	return binary, func() int {
		b, _ := os.ReadFile(count)
		return len(b)
	}
}

// standInTree has three files that match, of which every stand-in names one; so what is found tells whether its list was
// believed.
func standInTree(t *testing.T) *confine.Location {
	return plant(t, map[string]string{"one": "needle\n", "two": "needle\n", "d/three": "needle\n"})
}

const (
	listed = "one"             // what is found by the list
	all    = "one two d/three" // what is found without
)

func find(t *testing.T, loc *confine.Location, with settings) string {
	t.Helper()
	r, err := runWith(t.Context(), loc, Query{Pattern: "needle", Max: 50}, with)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(paths(r), " ")
}

func TestSearcherIsBelieved(t *testing.T) {
	cases := []struct {
		name, role, want string
		starts           int // with the probe, for six searches
	}{
		{"it believes a list", "answers", listed, 7},
		{"it believes that there is none", "finds nothing", "", 7},
		{"it believes an empty list", "says nothing", "", 7},
		{"it believes a list without files that could not be read", "skips a file", listed, 7},
		{"it disbelieves a refusal, and drops the fifth", "refuses", all, 6},
		{"it disbelieves another status", "exits 3", all, 6},
		{"it disbelieves one that was killed", "dies", all, 6},
		{"it disbelieves what is no list", "prints junk", all, 6},
		{"it disbelieves what is no list any more", "prints junk later", all, 6},
		{"it disbelieves paths from elsewhere", "prints a foreign path", all, 6},
		{"it disbelieves a path that is cut short", "is cut short", all, 6},
		{"it does without a list that is too long, and does not hold that against it", "floods", all, 7},
		{"it does not use one that gives no version", "probe says nothing", all, 1},
		{"it does not use one that fails to give its version", "probe exits 3", all, 1},
		{"it asks one again that was killed as it was asked for its version", "probe dies", all, 6},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, started := useStandIn(t, c.role)
			loc := standInTree(t)
			for range 6 {
				if got := find(t, loc, defaults()); got != c.want {
					t.Fatalf("found %q, want %q", got, c.want)
				}
			}
			if n := started(); n != c.starts {
				t.Errorf("the searcher was started %d times, want %d", n, c.starts)
			}
		})
	}
}

func TestSearcherThatHangs(t *testing.T) {
	const moment = 50 * time.Millisecond
	cases := []struct {
		name, role string
		waits      waits
	}{
		{"it is not waited for long", "hangs", waits{probe: probeWait, list: moment}},
		{"it is not waited for as it is asked for its version", "probe hangs", waits{probe: moment, list: listWait}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			binary, _ := useStandIn(t, c.role)
			loc := standInTree(t)
			with := defaults()
			with.waits = c.waits
			for i := range mostMisses {
				if got, decided := standingOf(binary).verdict(); decided && got == "" {
					t.Fatalf("dropped after %d searches", i)
				}
				if got := find(t, loc, with); got != all {
					t.Fatalf("found %q, want %q", got, all)
				}
			}
			if got, decided := standingOf(binary).verdict(); !decided || got != "" {
				t.Errorf("not dropped after %d searches", mostMisses)
			}
		})
	}
}

func TestSearcherIsGivenItsChanceBack(t *testing.T) {
	loc := standInTree(t)
	t.Run("it counts from the start after an answer", func(t *testing.T) {
		_, started := useStandIn(t, "exits 3")
		for range 3 {
			for range mostMisses - 1 {
				find(t, loc, defaults())
			}
			t.Setenv(standInVariable, "answers")
			if got := find(t, loc, defaults()); got != listed {
				t.Fatalf("found %q, want %q", got, listed)
			}
			t.Setenv(standInVariable, "exits 3")
		}
		if n := started(); n != 16 {
			t.Errorf("the searcher was started %d times, want 16", n)
		}
	})
	t.Run("it forgets what is known", func(t *testing.T) {
		useStandIn(t, "exits 3")
		for range mostMisses {
			find(t, loc, defaults())
		}
		t.Setenv(standInVariable, "answers")
		if got := find(t, loc, defaults()); got != all {
			t.Fatalf("found %q before the reset, want %q", got, all)
		}
		ResetSearchers()
		if got := find(t, loc, defaults()); got != listed {
			t.Fatalf("found %q after the reset, want %q", got, listed)
		}
	})
	t.Run("it does not find one that came later, before a reset", func(t *testing.T) {
		binary, _ := useStandIn(t, "answers")
		self, _ := os.Readlink(binary)
		os.Remove(binary)
		find(t, loc, defaults())
		if err := os.Symlink(self, binary); err != nil {
			t.Fatal(err)
		}
		if got := find(t, loc, defaults()); got != all {
			t.Fatalf("found %q before the reset, want %q", got, all)
		}
		ResetSearchers()
		if got := find(t, loc, defaults()); got != listed {
			t.Fatalf("found %q after the reset, want %q", got, listed)
		}
	})
}

func TestSearcherThatCannotBeStarted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("what is no program cannot be made to look like one without chmod")
	}
	loc := standInTree(t)
	// broken puts what the system cannot start in the place of the binary, and returns how to put it back.
	broken := func(t *testing.T, binary string) (mend func()) {
		self, err := os.Readlink(binary)
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(binary)
		if err := os.WriteFile(binary, []byte("\x7fELF"), 0o777); err != nil {
			t.Fatal(err)
		}
		return func() {
			os.Remove(binary)
			if err := os.Symlink(self, binary); err != nil {
				t.Fatal(err)
			}
		}
	}
	breaksAndMends := func(t *testing.T, binary string) {
		t.Helper()
		mend := broken(t, binary)
		for range mostMisses + 1 {
			if got := find(t, loc, defaults()); got != all {
				t.Fatalf("found %q, want %q", got, all)
			}
		}
		mend()
		if got := find(t, loc, defaults()); got != listed {
			t.Fatalf("found %q once mended, want %q", got, listed)
		}
	}
	t.Run("it is probed again", func(t *testing.T) {
		binary, _ := useStandIn(t, "answers")
		breaksAndMends(t, binary)
	})
	t.Run("it is not held against one that is still there", func(t *testing.T) {
		binary, _ := useStandIn(t, "answers")
		find(t, loc, defaults())
		breaksAndMends(t, binary)
	})
	t.Run("it is dropped when it has gone", func(t *testing.T) {
		binary, _ := useStandIn(t, "answers")
		find(t, loc, defaults())
		self, _ := os.Readlink(binary)
		os.Remove(binary)
		find(t, loc, defaults())
		if err := os.Symlink(self, binary); err != nil {
			t.Fatal(err)
		}
		if got := find(t, loc, defaults()); got != all {
			t.Fatalf("found %q, want %q", got, all)
		}
	})
}

func TestSearcherIsNotAsked(t *testing.T) {
	cases := []struct {
		name string
		q    Query
		asks bool
	}{
		{"it is asked about printable ASCII", Query{Pattern: "needle = -- '\"$(x)"}, true},
		{"it is asked about what looks like an option", Query{Pattern: "--pre=x"}, true},
		{"it is not asked about a regular expression", Query{Pattern: "needle", Regex: true}, false},
		{"it is not asked about what is not ASCII", Query{Pattern: "né"}, false},
		{"it is not asked about a tab", Query{Pattern: "a\tb"}, false},
		{"it is not asked about a character with a double", Query{Pattern: "K"}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, started := useStandIn(t, "answers")
			c.q.Max = 1
			if _, err := Run(t.Context(), standInTree(t), c.q); err != nil {
				t.Fatal(err)
			}
			if got := started() > 0; got != c.asks {
				t.Errorf("asked: %v, want %v", got, c.asks)
			}
		})
	}
	t.Run("it is not asked about one file", func(t *testing.T) {
		_, started := useStandIn(t, "finds nothing")
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("needle\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		root, err := confine.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		loc, err := root.Resolve("path", "f")
		if err != nil {
			t.Fatal(err)
		}
		defer loc.Close()
		r, err := Run(t.Context(), loc, Query{Pattern: "needle", Max: 5})
		if err != nil || r.Matches != 1 || started() != 0 {
			t.Errorf("found %d, error %v, started %d times; want 1, none, 0", r.Matches, err, started())
		}
	})
}

func TestSearcherSkipsNeitherLinksNorOddNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("names hold no line breaks there")
	}
	_, _ = useStandIn(t, "breaks a line")
	loc := plant(t, map[string]string{
		"one": "needle\n", "two": "needle\n", "link => two": "", "odd\nname\nof three lines": "needle\n",
		"d\n/x": "needle\n", "gone => nowhere": "", "out => /etc/passwd": "",
	})
	if diff := cmp.Diff("link odd\nname\nof three lines one d\n/x", find(t, loc, defaults())); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestBackendIsReadAtEverySearch(t *testing.T) {
	loc := standInTree(t)
	_, started := useStandIn(t, "answers")
	for _, c := range []struct {
		backend, want string
		starts        int
	}{
		{"native", all, 0},
		{"auto", all, 0},
		{"", all, 0},
		{"rg", listed, 2},
		{"external", listed, 3},
		{"native", all, 3},
	} {
		t.Setenv("MCP_FS_GREP_BACKEND", c.backend)
		if got := find(t, loc, defaults()); got != c.want || started() != c.starts {
			t.Errorf("%q: found %q after %d starts, want %q after %d", c.backend, got, started(), c.want, c.starts)
		}
	}
	t.Setenv("MCP_FS_GREP_BACKEND", "ripgrep")
	want := "the environment variable MCP_FS_GREP_BACKEND is 'ripgrep'; it must be auto, external, rg, grep or native"
	dir, _ := loc.HostPath()
	for _, path := range []string{".", "one"} { // No searcher is asked about a file, but a mistake is one.
		loc := openAt(t, dir, path)
		for _, regex := range []bool{false, true} {
			if _, err := Run(t.Context(), loc, Query{Pattern: "x", Regex: regex, Max: 1}); err == nil || err.Error() != want {
				t.Errorf("%s: error %v, want %s", path, err, want)
			}
		}
	}
}

func TestSearcherArguments(t *testing.T) {
	want := []string{"--files-with-matches", "--no-config", "--no-ignore", "--hidden", "--no-follow", "--no-messages", "--text", "--fixed-strings", "--", "-x", "/r"}
	if diff := cmp.Diff(want, ripgrep{}.args("-x", "/r")); diff != "" {
		t.Errorf("rg: want -, got +:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"-r", "-l", "-F", "-a", "-s", "--", "-x", "/r"}, systemGrep{}.args("-x", "/r")); diff != "" {
		t.Errorf("grep: want -, got +:\n%s", diff)
	}
	got := searcherEnvironment([]string{"PATH=/bin", "LC_ALL=de_DE", "GREP_OPTIONS=-v", "GREP_COLORS=x", "RIPGREP_CONFIG_PATH=/x", "A=b"})
	if diff := cmp.Diff([]string{"PATH=/bin", "A=b", "LC_ALL=C"}, got); diff != "" {
		t.Errorf("environment: want -, got +:\n%s", diff)
	}
}
