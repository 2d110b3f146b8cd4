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

// packageDir is where LOOKFIRST_TREES has a package unpacked that is no Go module: the sources of others do not belong
// into this repository.
func packageDir(t *testing.T, dir string) string {
	t.Helper()
	trees := os.Getenv("LOOKFIRST_TREES")
	if trees == "" {
		t.Skipf("LOOKFIRST_TREES names no directory that holds %s", dir)
	}
	return filepath.Join(trees, dir)
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
		root := served(t, packageDir(t, "rxjs-7.8.2/src")) // npm pack rxjs@7.8.2
		// RxJS. The types that every operator is declared with, then the three classes that the library is about, each
		// above what is built from it, and the helpers that all operators call.
		want := []string{
			"internal/types.ts",
			"internal/Subscription.ts",
			"internal/Observable.ts",
			"internal/Subscriber.ts",
			"internal/util/isFunction.ts",
			"internal/Subject.ts",
			"internal/util/createErrorClass.ts",
			"internal/util/arrRemove.ts",
			"internal/config.ts",
			"internal/util/UnsubscriptionError.ts",
		}
		if diff := cmp.Diff(want, top(t, root, Request{}, 10)); diff != "" {
			t.Errorf("top ten (-want +got):\n%s", diff)
		}
	})
	t.Run("Python", func(t *testing.T) {
		root := served(t, packageDir(t, "oauthlib-3.2.2")) // pip download oauthlib==3.2.2
		// OAuthlib. The request and the URL helpers of both protocols, then, for OAuth 2 above OAuth 1 as is their share
		// of the code, the errors that everything raises, the validator that an application implements, and the base
		// classes of endpoints and grant types. The package's __init__ is second because it is all that common.py leans on.
		want := []string{
			"oauthlib/common.py",
			"oauthlib/__init__.py",
			"oauthlib/oauth2/rfc6749/errors.py",
			"oauthlib/oauth2/rfc6749/request_validator.py",
			"oauthlib/oauth1/rfc5849/errors.py",
			"oauthlib/oauth1/rfc5849/__init__.py",
			"oauthlib/oauth2/rfc6749/endpoints/base.py",
			"oauthlib/oauth1/rfc5849/request_validator.py",
			"oauthlib/oauth2/rfc6749/utils.py",
			"oauthlib/oauth2/rfc6749/grant_types/base.py",
		}
		if diff := cmp.Diff(want, top(t, root, Request{}, 10)); diff != "" {
			t.Errorf("top ten (-want +got):\n%s", diff)
		}
	})
}
