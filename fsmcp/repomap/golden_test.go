//go:build cgo

package repomap

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/confine"
)

// top is the first files of a map.
func top(t *testing.T, root *confine.Root, req Request, n int) []string {
	t.Helper()
	d := drawingOf(t, New(Options{Root: root}), req)
	var paths []string
	for _, f := range d.order[:n] {
		paths = append(paths, d.files[f].path)
	}
	return paths
}

// moduleDir is where the module cache has a module that this one needs.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Skip("no go command to ask for a module")
	}
	return strings.TrimSpace(string(out))
}

// foreignDir is where the module cache has a module that this one does not need. The sources of others do not belong into
// this repository, and a module is what can be had wherever Go is.
func foreignDir(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Skip("no go command to ask for the module cache")
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), filepath.FromSlash(module))
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("there is no tree to map; 'go mod download %s' fetches it", module)
	}
	return dir
}

// TestQueryCookie asks the standard library's net/http about cookies.
func TestQueryCookie(t *testing.T) {
	root := goTree(t, "net/http")
	text := drawn(t, New(Options{Root: root}), Request{Path: ".", Query: "cookie"})
	if !strings.HasPrefix(text, "cookie.go:\n") {
		t.Errorf("it begins:\n%.400s\nwant cookie.go first", text)
	}
	if text := drawn(t, New(Options{Root: root}), Request{Path: "."}); !strings.HasPrefix(text, "server.go:\n") {
		t.Errorf("without a query it begins:\n%.400s\nwant server.go first, which defines Handler and ResponseWriter", text)
	}
}

// TestGolden maps trees that we did not write. The lists were read against the trees when they were recorded; why each is
// right stands beside it. Another version of a package may have another.
func TestGolden(t *testing.T) {
	t.Run("C", func(t *testing.T) {
		root := served(t, filepath.Join(moduleDir(t, "github.com/tree-sitter/go-tree-sitter"), "src"))
		// The tree-sitter runtime. First what all of it is written in terms of: the parse table's types, points and
		// lengths, the assertion and the array macros, the node of the syntax tree; then the cursor and the language,
		// which the query engine leans on. The two Unicode headers are there because each is all that a widely used
		// one leans on, so that its whole rank goes on to them.
		want := []string{
			"parser.h",
			"point.h",
			"length.h",
			"ts_assert.h",
			"subtree.h",
			"array.h",
			"unicode/umachine.h",
			"tree_cursor.h",
			"unicode/utf8.h",
			"language.h",
		}
		if diff := cmp.Diff(want, top(t, root, Request{}, 10)); diff != "" {
			t.Errorf("top ten (-want +got):\n%s", diff)
		}
	})
	t.Run("TypeScript", func(t *testing.T) {
		root := served(t, filepath.Join(foreignDir(t, "github.com/prometheus/prometheus@v0.307.3"), "web/ui/mantine-ui/src"))
		// Prometheus' web interface, in React. The page for queries is its heart: what is on it (queryPageSlice), how that
		// stands in the address (urlStateEncoding), and what is kept from one visit to the next (initializeFromLocalStorage,
		// which everything calls that is kept). Then what all pages share: times and durations as text, the syntax tree of a
		// query and what is asked of it (ast, promql/utils), the settings, which have more users than anything else, the sizes
		// of icons, the type of a histogram, and the store that all state is in.
		want := []string{
			"pages/query/urlStateEncoding.ts",
			"lib/formatTime.ts",
			"state/initializeFromLocalStorage.ts",
			"state/queryPageSlice.ts",
			"promql/ast.ts",
			"state/settingsSlice.ts",
			"styles.ts",
			"types/types.ts",
			"promql/utils.ts",
			"state/store.ts",
		}
		if diff := cmp.Diff(want, top(t, root, Request{}, 10)); diff != "" {
			t.Errorf("top ten (-want +got):\n%s", diff)
		}
	})
	t.Run("Python", func(t *testing.T) {
		root := served(t, filepath.Join(foreignDir(t, "github.com/apache/thrift@v0.25.0"), "lib/py"))
		// Apache Thrift for Python: a message goes through a protocol into a transport. First the base classes of the two and
		// their exceptions, with Thrift.py, which has the types of values and TException; then the protocols, and the
		// transports that wrap another. Two of ten are the price of matching by name: types.h is the C++ of the package's fast
		// path and has a TType of its own, and the test defines a readAll as transports do.
		want := []string{
			"src/transport/TTransport.py",
			"src/protocol/TProtocol.py",
			"src/Thrift.py",
			"src/protocol/TBinaryProtocol.py",
			"src/protocol/TCompactProtocol.py",
			"src/protocol/TJSONProtocol.py",
			"src/ext/types.h",
			"src/transport/THeaderTransport.py",
			"test/test_sasl_frame_size.py",
			"src/protocol/THeaderProtocol.py",
		}
		if diff := cmp.Diff(want, top(t, root, Request{}, 10)); diff != "" {
			t.Errorf("top ten (-want +got):\n%s", diff)
		}
	})
}
