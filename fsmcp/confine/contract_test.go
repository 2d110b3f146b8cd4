//go:build unix

package confine

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sentences gives each refusal its kind: one and the same, whatever has led to it.
var sentences = []struct {
	part string
	kind error
}{
	{"leads outside the root", ErrOutside},
	{"contains '..'", ErrOutside},
	{"is absolute", ErrOutside},
	{"too many symbolic links", ErrTooManyLinks},
	{"was changed while", ErrTooManyLinks},
	{"leads through something that does not exist", ErrNotExist},
	{"does not exist", ErrNotExist},
	{"is not a directory", ErrNotDirectory},
	{"leads through something that is not a directory", ErrNotDirectory},
	{"is a directory", ErrNotRegular},
	{"is not a regular file", ErrNotRegular},
	{"permission denied", ErrPermission},
	{"the root directory has gone", ErrRootGone},
	{"is empty; use '.'", ErrName},
	{"starts with a drive letter", ErrOutside},
	{"a device name", ErrName},
	{"a NUL byte", ErrName},
	{"too long", ErrName},
}

// refusal is the sentence of an error, which it holds to the form of all: one line for a model, of the kind that belongs
// to it, without a path of the host.
func refusal(t *testing.T, dir, arg string, err error) string {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%q: got %v, of type %T, want a refusal", arg, err, err)
	}
	text := err.Error()
	if e.Refusal() != text || strings.Contains(text, "\n") || strings.Contains(text, dir) {
		t.Errorf("%q: got %q, want one line without a path of the host", arg, text)
	}
	if e.Arg != arg && e.Err != ErrRootGone {
		t.Errorf("%q: the refusal is about %q", arg, e.Arg)
	}
	for _, s := range sentences {
		if strings.Contains(text, s.part) {
			if !errors.Is(err, s.kind) {
				t.Errorf("%q: %q is of kind %v, want %v", arg, text, e.Err, s.kind)
			}
			return text
		}
	}
	t.Errorf("%q: %q is no sentence of this package", arg, text)
	return text
}

// opened is what Open gives: the content, or the refusal.
func opened(t *testing.T, r *Root, dir, arg string) string {
	t.Helper()
	f, err := r.Open("path", arg)
	if err != nil {
		return refusal(t, dir, arg, err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if f.Linked {
		return string(b) + " (linked)"
	}
	return string(b)
}

// located is what Resolve and ResolveEntry give, in words.
func located(t *testing.T, dir, arg string, loc *Location, err error) string {
	t.Helper()
	if err != nil {
		return refusal(t, dir, arg, err)
	}
	defer loc.Close()
	text := loc.Rel() + ": " + loc.Info.Kind.String()
	if n := loc.Missing(); n > 1 {
		text += fmt.Sprintf(" (%d missing)", n)
	}
	if loc.Linked {
		text += " (linked)"
	}
	return text
}

type contractCase struct {
	name  string
	plant []string // in the directory that holds root and out
	arg   string
	// What Open, Resolve and ResolveEntry give; "ARG" stands for the argument in quotes. entry is like at when it is empty.
	open, at, entry string
}

// chain is n links, the last of which leads to root/f.
func chain(n int) []string {
	entries := []string{"root/l0 => f", "root/f"}
	for i := 1; i < n; i++ {
		entries = append(entries, fmt.Sprintf("root/l%d => l%d", i, i-1))
	}
	return entries
}

const (
	leavesText  = "ARG leads outside the root"
	missingText = "ARG does not exist"
	notDirText  = "ARG is not a directory"
	throughText = "ARG leads through something that is not a directory"
	cycleText   = "too many symbolic links in ARG"
	isDirText   = "ARG is a directory"
)

func spellingCases() []contractCase {
	tree := []string{"root/f", "root/d/f", "root/d/e/f"}
	return []contractCase{
		{name: "opens a file", plant: tree, arg: "f", open: "root/f", at: "f: file"},
		{name: "opens a file below directories", plant: tree, arg: "d/e/f", open: "root/d/e/f", at: "d/e/f: file"},
		{name: "drops a dot", plant: tree, arg: "./d/./f", open: "root/d/f", at: "d/f: file"},
		{name: "drops empty names", plant: tree, arg: "d//f", open: "root/d/f", at: "d/f: file"},
		{name: "knows the root", plant: tree, arg: ".", open: isDirText, at: ".: directory"},
		{name: "knows the root with a slash", plant: tree, arg: "./", open: isDirText, at: ".: directory"},
		{name: "opens no directory as a file", plant: tree, arg: "d", open: isDirText, at: "d: directory"},
		{name: "takes a slash after a directory", plant: tree, arg: "d/", open: isDirText, at: "d: directory"},
		{name: "takes a dot after a directory", plant: tree, arg: "d/.", open: isDirText, at: "d: directory"},
		{name: "refuses a slash after a file", plant: tree, arg: "f/", open: notDirText, at: notDirText},
		{name: "refuses a dot after a file", plant: tree, arg: "d/f/.", open: notDirText, at: notDirText},
		{name: "says that a file is missing", plant: tree, arg: "d/new", open: missingText, at: "d/new: nothing"},
		{name: "takes a slash after what is missing", plant: tree, arg: "new/", open: missingText, at: "new: nothing"},
		{name: "says how much is missing", plant: tree, arg: "d/a/b/new", open: missingText, at: "d/a/b/new: nothing (3 missing)"},
		{name: "refuses what is below a file", plant: tree, arg: "d/f/new", open: throughText, at: throughText},
		{name: "refuses what is further below a file", plant: tree, arg: "f/a/b", open: throughText, at: throughText},
		{name: "refuses an empty path", plant: tree, arg: "", open: "'path' is empty; use '.' for the root", at: "'path' is empty; use '.' for the root"},
		{name: "refuses two dots", plant: tree, arg: "d/../f", open: "ARG contains '..'; send the path from the root without it", at: "ARG contains '..'; send the path from the root without it"},
		{name: "expands no tilde", plant: append(tree, "root/~/f"), arg: "~/f", open: "root/~/f", at: "~/f: file"},
		{name: "decodes nothing", plant: append(tree, "root/%2e%2e/f"), arg: "%2e%2e/f", open: "root/%2e%2e/f", at: "%2e%2e/f: file"},
		{name: "takes a backslash as part of a name", plant: append(tree, `root/a\b`), arg: `a\b`, open: `root/a\b`, at: `a\b: file`},
		{name: "takes a line break as part of a name", plant: append(tree, "root/a\nb"), arg: "a\nb", open: "root/a\nb", at: "a\nb: file"},
		{name: "shows a line break on one line", plant: tree, arg: "a\nb", open: `'a\nb' does not exist`, at: "a\nb: nothing"},
		{name: "opens a name of 255 bytes", plant: append(tree, "root/"+strings.Repeat("n", 255)), arg: strings.Repeat("n", 255), open: "root/" + strings.Repeat("n", 255), at: strings.Repeat("n", 255) + ": file"},
	}
}

func linkCases() []contractCase {
	return []contractCase{
		{name: "follows a link to a file", plant: []string{"root/f", "root/l => f"}, arg: "l", open: "root/f (linked)", at: "f: file (linked)", entry: "l: symbolic link"},
		{name: "follows a link to a directory", plant: []string{"root/d/f", "root/l => d"}, arg: "l/f", open: "root/d/f", at: "d/f: file"},
		{name: "follows a link with a slash behind it", plant: []string{"root/d/f", "root/l => d"}, arg: "l/", open: isDirText, at: "d: directory (linked)", entry: notDirText},
		{name: "keeps a link at the end behind a link", plant: []string{"root/d/f", "root/d/k => f", "root/l => d"}, arg: "l/k", open: "root/d/f (linked)", at: "d/f: file (linked)", entry: "d/k: symbolic link"},
		{name: "follows a link upwards", plant: []string{"root/f", "root/d/l => ../f"}, arg: "d/l", open: "root/f (linked)", at: "f: file (linked)", entry: "d/l: symbolic link"},
		{name: "follows a link to the root", plant: []string{"root/f", "root/d/l => .."}, arg: "d/l/f", open: "root/f", at: "f: file"},
		{name: "finds the root behind a link", plant: []string{"root/l => ."}, arg: "l", open: isDirText, at: ".: directory (linked)", entry: "l: symbolic link"},
		{name: "follows an absolute link to inside", plant: []string{"root/f", "root/l => ROOT/root/f"}, arg: "l", open: "root/f (linked)", at: "f: file (linked)", entry: "l: symbolic link"},
		{name: "follows a link that leaves and comes back", plant: []string{"root/f", "root/l => ../root/f"}, arg: "l", open: "root/f (linked)", at: "f: file (linked)", entry: "l: symbolic link"},
		{name: "follows a link through outside", plant: []string{"root/f", "root/l => ../out/dir/../../root/f"}, arg: "l", open: "root/f (linked)", at: "f: file (linked)", entry: "l: symbolic link"},
		{name: "follows a link through a link outside", plant: []string{"root/d/f", "back => ROOT/root/d", "root/l => ../back"}, arg: "l/f", open: "root/d/f", at: "d/f: file"},
		{name: "follows 40 links", plant: chain(40), arg: "l39", open: "root/f (linked)", at: "f: file (linked)", entry: "l39: symbolic link"},
		{name: "refuses 41 links", plant: chain(41), arg: "l40", open: cycleText, at: cycleText, entry: "l40: symbolic link"},
		{name: "refuses a link to itself", plant: []string{"root/l => l"}, arg: "l", open: cycleText, at: cycleText, entry: "l: symbolic link"},
		{name: "refuses a cycle on the way", plant: []string{"root/a => b", "root/b => a"}, arg: "a/f", open: cycleText, at: cycleText},
		{name: "knows where a dangling link leads", plant: []string{"root/d/", "root/l => d/new"}, arg: "l", open: missingText, at: "d/new: nothing (linked)", entry: "l: symbolic link"},
		{name: "knows how much a dangling link misses", plant: []string{"root/l => a/b"}, arg: "l/new", open: missingText, at: "a/b/new: nothing (3 missing)"},
		{name: "refuses up from what is missing", plant: []string{"root/f", "root/l => new/../f"}, arg: "l", open: "ARG leads through something that does not exist", at: "ARG leads through something that does not exist", entry: "l: symbolic link"},
		{name: "refuses what is below a link to a file", plant: []string{"root/f", "root/l => f"}, arg: "l/new", open: throughText, at: throughText},
		{name: "refuses a link that makes a file a directory", plant: []string{"root/f", "root/l => f/"}, arg: "l", open: throughText, at: throughText, entry: "l: symbolic link"},
	}
}

func TestContract(t *testing.T) {
	for _, tt := range append(spellingCases(), linkCases()...) {
		t.Run("it "+tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, dir string, o opener) {
				plant(t, dir, tt.plant...)
				tt.check(t, dir, o.root(t, dir+"/root"))
			})
		})
	}
}

func (tt contractCase) check(t *testing.T, dir string, r *Root) {
	t.Helper()
	if tt.entry == "" {
		tt.entry = tt.at
	}
	want := [3]string{tt.open, tt.at, tt.entry}
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "ARG", Quote(tt.arg))
	}
	at, atErr := r.Resolve("path", tt.arg)
	entry, entryErr := r.ResolveEntry("path", tt.arg)
	got := [3]string{
		opened(t, r, dir, tt.arg),
		located(t, dir, tt.arg, at, atErr),
		located(t, dir, tt.arg, entry, entryErr),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Open, Resolve, ResolveEntry of %q (-want +got):\n%s", tt.arg, diff)
	}
}

// outsideTargets are what a link root/l may lead to, with what else that takes.
func outsideTargets() map[string][]string {
	return map[string][]string{
		"a file":                         {"root/l => ../out/secret"},
		"a file by an absolute path":     {"root/l => ROOT/out/secret"},
		"a directory":                    {"root/l => ../out/dir"},
		"the root's parent":              {"root/l => .."},
		"the file system's root":         {"root/l => /"},
		"nothing":                        {"root/l => ../out/nothing"},
		"nothing by an absolute path":    {"root/l => ROOT/out/nothing/at/all"},
		"a sibling with a longer name":   {"root/l => ROOT/root2/secret"},
		"a sibling by a relative path":   {"root/l => ../root2"},
		"a sibling with a shorter name":  {"root/l => ROOT/roo"},
		"below a file":                   {"root/l => ../out/secret/x"},
		"up from nothing":                {"root/l => ../out/nothing/../secret"},
		"up from a file":                 {"root/l => ../out/secret/../secret"},
		"inside by way of nothing":       {"root/l => ../out/nothing/../../root/f"},
		"a cycle outside":                {"root/l => ../out2/a", "out2/a => b", "out2/b => a"},
		"a link outside":                 {"root/l => ../out2", "out2 => out"},
		"a link to nothing outside":      {"root/l => ../out2", "out2 => nothing"},
		"a file through a link inside":   {"root/l => k", "root/k => ../out/secret"},
		"nothing through a link inside":  {"root/l => k", "root/k => ../out/nothing"},
		"a file through a directory":     {"root/l => k/secret", "root/k => ../out"},
		"a file with a slash behind it":  {"root/l => ../out/secret/"},
		"a file in the process' root":    {"root/l => /proc/self/root/etc/passwd"},
		"a file in the process' own dir": {"root/l => /proc/self/cwd/contract_test.go"},
	}
}

// TestOutsideHasOneText shows that no answer tells what is outside, or whether anything is.
func TestOutsideHasOneText(t *testing.T) {
	looks := []contractCase{
		{arg: "l", open: leavesText, at: leavesText, entry: "l: symbolic link"},
		{arg: "l/secret", open: leavesText, at: leavesText},
		{arg: "l/new/new", open: leavesText, at: leavesText},
		{arg: "l/", open: leavesText, at: leavesText, entry: notDirText},
		{arg: "./l/.", open: leavesText, at: leavesText, entry: notDirText},
	}
	for name, entries := range outsideTargets() {
		t.Run("it refuses a link to "+name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, dir string, o opener) {
				plant(t, dir, append(entries, "root/f")...)
				r := o.root(t, dir+"/root")
				for _, look := range looks {
					look.check(t, dir, r)
				}
			})
		})
	}
}
