//go:build unix

package confine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// opener is one of the two ways to open a root's directory. What holds of one holds of the other.
type opener struct {
	name string
	open func(physical string) (handle, error)
}

// onBoth runs a test on each kind of handle that this system has, each time in a new directory that holds an empty "root"
// and an "out", which nothing may come out of or change.
func onBoth(t *testing.T, test func(t *testing.T, dir string, o opener)) {
	t.Helper()
	for _, o := range openers(t) {
		t.Run(o.name, func(t *testing.T) {
			dir := physicalTemp(t)
			plant(t, dir, "root/", "out/secret", "out/dir/secret", "root2/secret")
			before := snapshot(t, dir+"/out")
			test(t, dir, o)
			if diff := cmp.Diff(before, snapshot(t, dir+"/out")); diff != "" {
				t.Errorf("what is outside has changed:\n%s", diff)
			}
		})
	}
}

func (o opener) root(t *testing.T, path string) *Root {
	t.Helper()
	r, err := openRootWith(path, o.open)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// snapshot is all that is below dir: modes and contents, and link targets, by path.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case e.Type().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(b)
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " => " + target
		}
		all[strings.TrimPrefix(path, dir)] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

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

// TestLocationOpens holds what is opened by a location to what is opened by its argument.
func TestLocationOpens(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/d/f", "root/l => d/f", "root/k => d", "root/o => ../out")
		r := o.root(t, dir+"/root")
		tests := []struct {
			arg, open, list string
			resolve         func(key, arg string) (*Location, error)
		}{
			{"d/f", "root/d/f", "'d/f' is not a directory", r.Resolve},
			{"l", "root/d/f (linked)", "'l' is not a directory", r.Resolve},
			{"d", "'d' is a directory", "f", r.Resolve},
			{"k", "'k' is a directory", "f", r.Resolve},
			{".", "'.' is a directory", "d k l o", r.Resolve},
			{"d/new", "'d/new' does not exist", "'d/new' does not exist", r.Resolve},
			{"new/new", "'new/new' does not exist", "'new/new' does not exist", r.Resolve},
			{"l", "'l' is not a regular file (symbolic link)", "'l' is not a directory", r.ResolveEntry},
			{"o", "'o' is not a regular file (symbolic link)", "'o' is not a directory", r.ResolveEntry},
		}
		for _, tt := range tests {
			loc, err := tt.resolve("path", tt.arg)
			if err != nil {
				t.Fatal(err)
			}
			defer loc.Close()
			f, err := loc.Open()
			if got := contentOf(t, dir, tt.arg, f, err); got != tt.open {
				t.Errorf("open %s: got %s, want %s", tt.arg, got, tt.open)
			}
			d, err := loc.OpenDir()
			if got := namesOf(t, dir, tt.arg, d, err); got != tt.list {
				t.Errorf("list %s: got %s, want %s", tt.arg, got, tt.list)
			}
		}
	})
}

func contentOf(t *testing.T, dir, arg string, f *File, err error) string {
	t.Helper()
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

func namesOf(t *testing.T, dir, arg string, d *Dir, err error) string {
	t.Helper()
	if err != nil {
		return refusal(t, dir, arg, err)
	}
	defer d.Close()
	list, err := d.Entries()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(sortedNames(list), " ")
}

// TestLocationSwapped puts a link to outside in the place of what was found.
func TestLocationSwapped(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/f", "root/d/f", "root/e/f")
		r := o.root(t, dir+"/root")
		var at [3]*Location
		for i, arg := range []string{"f", "d", "e/f"} {
			loc, err := r.Resolve("path", arg)
			if err != nil {
				t.Fatal(err)
			}
			defer loc.Close()
			at[i] = loc
		}
		for name, target := range map[string]string{"f": "secret", "d": "dir", "e": "dir"} {
			must(t, os.Rename(dir+"/root/"+name, dir+"/root/old-"+name))
			must(t, os.Symlink("../out/"+target, dir+"/root/"+name))
		}
		want := "'f' was changed while it was being looked up; try again"
		f, err := at[0].Open()
		if got := contentOf(t, dir, "f", f, err); got != want {
			t.Errorf("a file: got %s, want %s", got, want)
		}
		want = "'d' was changed while it was being looked up; try again"
		d, err := at[1].OpenDir()
		if got := namesOf(t, dir, "d", d, err); got != want {
			t.Errorf("a directory: got %s, want %s", got, want)
		}
		// The directory that was opened is still the one that is meant, whatever its name leads to now.
		f, err = at[2].Open()
		if got := contentOf(t, dir, "e/f", f, err); got != "root/e/f" {
			t.Errorf("a file in a directory: got %s", got)
		}
		if got, want := opened(t, r, dir, "e/secret"), "'e/secret' leads outside the root"; got != want {
			t.Errorf("looked up again: got %s, want %s", got, want)
		}
	})
}

// TestNamesThatNoArgumentHas covers names that cannot arrive in JSON, but can be on the disk.
func TestNamesThatNoArgumentHas(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		name := "bad\xff\xfename"
		if err := os.WriteFile(dir+"/root/"+name, []byte("bytes"), 0o666); err != nil {
			t.Skipf("this file system takes no name that is not UTF-8: %v", err)
		}
		must(t, os.Symlink(name, dir+"/root/l"))
		must(t, os.Symlink("../out/\xff", dir+"/root/o"))
		r := o.root(t, dir+"/root")
		d, err := r.dir.Retain(), error(nil)
		if got := namesOf(t, dir, ".", d, err); got != name+" l o" {
			t.Errorf("list: got %q", got)
		}
		if got := opened(t, r, dir, name); got != "bytes" {
			t.Errorf("open: got %q", got)
		}
		if got := opened(t, r, dir, "l"); got != "bytes (linked)" {
			t.Errorf("open by a link: got %q", got)
		}
		if got, want := opened(t, r, dir, "missing\xff\n"), `'missing\xff\n' does not exist`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := opened(t, r, dir, "o"), "'o' leads outside the root"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestRootGivenThroughALink(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/f", "root/l => ROOT/alias/f", "alias => root", "above => ROOT", "root/k => ../above/root/f")
		for _, given := range []string{"/alias", "/alias/", "/above/alias", "/root/../root"} {
			r := o.root(t, dir+given)
			if r.Path() != dir+"/root" {
				t.Errorf("%s: got %s", given, r.Path())
			}
			for arg, want := range map[string]string{"f": "root/f", "l": "root/f (linked)", "k": "root/f (linked)"} {
				if got := opened(t, r, dir, arg); got != want {
					t.Errorf("%s: %s: got %s, want %s", given, arg, got, want)
				}
			}
		}
	})
}

func TestRootThatIsNone(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "f", "cycle => cycle", "dangling => nowhere")
		for _, path := range []string{"f", "f/", "cycle", "dangling", "nowhere"} {
			if r, err := openRootWith(dir+"/"+path, o.open); err == nil {
				r.Close()
				t.Errorf("%s is a root", path)
			}
		}
	})
}

func TestRootReplacedOrGone(t *testing.T) {
	gone := "the root directory has gone"
	tests := []struct {
		name     string
		act      []string // "from => to" of renames in the directory that holds the root
		plant    []string
		want     string // of f
		wantThen string // when it is back
	}{
		{name: "opens the root that has taken its place", act: []string{"root => old"}, plant: []string{"root/f"}, want: "root/f", wantThen: "in/root/f"},
		{name: "says that it has gone", act: []string{"root => old"}, want: gone, wantThen: "in/root/f"},
		{name: "follows no link in its place", act: []string{"root => old"}, plant: []string{"root => ../out"}, want: gone, wantThen: "in/root/f"},
		{name: "follows no link to itself", act: []string{"root => old"}, plant: []string{"root => old"}, want: gone, wantThen: "in/root/f"},
		{name: "takes no file", act: []string{"root => old"}, plant: []string{"root"}, want: gone, wantThen: "in/root/f"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, dir string, o opener) {
				in := dir + "/in"
				plant(t, dir, "in/root/f", "in/root/l => f")
				r := o.root(t, in+"/root")
				id := r.ID()
				for _, act := range tt.act {
					from, to, _ := strings.Cut(act, " => ")
					must(t, os.Rename(in+"/"+from, in+"/"+to))
				}
				plant(t, in, tt.plant...)
				for range 2 {
					if got := opened(t, r, dir, "f"); got != tt.want {
						t.Errorf("replaced: got %s, want %s", got, tt.want)
					}
				}
				loc, err := r.Resolve("path", "f")
				if got := located(t, dir, "f", loc, err); tt.want == gone && got != gone {
					t.Errorf("resolved: got %s, want %s", got, gone)
				}
				must(t, os.RemoveAll(in+"/root"))
				must(t, os.Rename(in+"/old", in+"/root"))
				if got := opened(t, r, dir, "f"); got != tt.wantThen || r.ID() != id {
					t.Errorf("back: got %s, want %s", got, tt.wantThen)
				}
			})
		})
	}
}

// TestRootBehindASwappedParent puts a link to outside above the root: what is there has a directory of the root's name.
func TestRootBehindASwappedParent(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "in/dir/f", "in/dir/l => f")
		r := o.root(t, dir+"/in/dir")
		must(t, os.Rename(dir+"/in", dir+"/old"))
		must(t, os.Symlink("out", dir+"/in")) // out/dir/secret is there.
		for _, arg := range []string{"f", "secret", "l"} {
			if got, want := opened(t, r, dir, arg), "the root directory has gone"; got != want {
				t.Errorf("%s: got %s, want %s", arg, got, want)
			}
		}
		must(t, os.Remove(dir+"/in"))
		must(t, os.Symlink("old", dir+"/in")) // The root itself, as it was opened.
		if got := opened(t, r, dir, "f"); got != "in/dir/f" {
			t.Errorf("through a link to the same directory: got %s", got)
		}
	})
}

func TestRootClosed(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/f")
		r := o.root(t, dir+"/root")
		loc, err := r.Resolve("path", "f")
		if err != nil {
			t.Fatal(err)
		}
		defer loc.Close()
		must(t, r.Close())
		must(t, r.Close())
		if _, err := r.Open("path", "f"); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("got %v, want it closed", err)
		}
		f, err := loc.Open()
		if got := contentOf(t, dir, "f", f, err); got != "root/f" {
			t.Errorf("a location from before: got %s", got)
		}
	})
}

// TestFileClosedTwice matters because the number of a descriptor goes to whatever is opened next.
func TestFileClosedTwice(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/f", "root/g")
		r := o.root(t, dir+"/root")
		f, err := r.Open("path", "f")
		must(t, err)
		must(t, f.Close())
		g, err := r.Open("path", "g")
		if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("got %v, want it closed already", err)
		}
		if got := contentOf(t, dir, "g", g, err); got != "root/g" {
			t.Errorf("the file that was opened next: got %s", got)
		}
	})
}

func TestRename(t *testing.T) {
	tree := []string{
		"root/f", "root/g", "root/d/f", "root/e/", "root/full/x", "root/l => f", "root/dangling => nowhere",
		"root/o => ../out/secret", "root/od => ../out/dir",
	}
	tests := []struct {
		name, from, to string
		want           error // nil when it works
	}{
		{"moves a file", "f", "new", nil},
		{"moves a file elsewhere", "d/f", "e/new", nil},
		{"moves a file up", "d/f", "new", nil},
		{"moves a directory", "full", "e/new", nil},
		{"moves a link, not what it names", "l", "d/new", nil},
		{"moves a link to outside", "o", "d/new", nil},
		{"moves a dangling link", "dangling", "new", nil},
		{"replaces no file", "f", "g", fs.ErrExist},
		{"replaces no file elsewhere", "f", "d/f", fs.ErrExist},
		{"replaces no empty directory by a directory", "full", "e", fs.ErrExist},
		{"replaces no directory by a file", "f", "e", fs.ErrExist},
		{"replaces no file by a directory", "full", "f", fs.ErrExist},
		{"replaces no link", "g", "l", fs.ErrExist},
		{"replaces no dangling link", "g", "dangling", fs.ErrExist},
		{"replaces no link to outside", "g", "o", fs.ErrExist},
		{"replaces no link to a directory", "full", "od", fs.ErrExist},
		{"replaces no entry by itself", "f", "f", fs.ErrExist},
		{"finds nothing to move", "nothing", "new", fs.ErrNotExist},
		{"moves no directory into itself", "full", "full/new", syscall.EINVAL},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, dir string, o opener) {
				plant(t, dir, tree...)
				r := o.root(t, dir+"/root")
				before := snapshot(t, dir+"/root")
				from, to := entryOf(t, r, tt.from), entryOf(t, r, tt.to)
				if err := from.Parent().Rename(from.Name(), to.Parent(), to.Name()); !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				after := snapshot(t, dir+"/root")
				if tt.want != nil {
					if diff := cmp.Diff(before, after); diff != "" {
						t.Errorf("it has changed something:\n%s", diff)
					}
					return
				}
				if diff := cmp.Diff(renamed(before, "/"+tt.from, "/"+tt.to), after); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		})
	}
}

// renamed is a snapshot after from was renamed.
func renamed(before map[string]string, from, to string) map[string]string {
	after := map[string]string{}
	for path, text := range before {
		if path == from || strings.HasPrefix(path, from+"/") {
			path = to + strings.TrimPrefix(path, from)
		}
		after[path] = text
	}
	return after
}

func entryOf(t *testing.T, r *Root, arg string) *Location {
	t.Helper()
	loc, err := r.ResolveEntry("path", arg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { loc.Close() })
	return loc
}

// TestRenameAfterAMove moves the directories themselves between the look-up and the act. openat2's descriptors go along
// with them; an os.Root reaches them by name, and must notice.
func TestRenameAfterAMove(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/d/f", "root/e/", "root/trap/f")
		r := o.root(t, dir+"/root")
		from, to := entryOf(t, r, "d/f"), entryOf(t, r, "e/new")
		must(t, os.Rename(dir+"/root/d", dir+"/root/moved"))
		must(t, os.Rename(dir+"/root/trap", dir+"/root/d"))
		err := from.Parent().Rename(from.Name(), to.Parent(), to.Name())
		want := map[string]string{"/d/f": "root/trap/f", "/e/new": "root/d/f"}
		if err != nil {
			want = map[string]string{"/d/f": "root/trap/f", "/moved/f": "root/d/f"}
		}
		for path, text := range want {
			if got, _ := os.ReadFile(dir + "/root" + path); string(got) != text {
				t.Errorf("%v: %s holds %q, want %q", err, path, got, text)
			}
		}
	})
}

func TestRenameBetweenRoots(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/f", "other/")
		from := entryOf(t, o.root(t, dir+"/root"), "f")
		to := entryOf(t, o.root(t, dir+"/other"), "new")
		err := from.Parent().Rename(from.Name(), to.Parent(), to.Name())
		// A descriptor is as good as another; an os.Root knows only what is below it.
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
		here, there := exists(dir+"/root/f"), exists(dir+"/other/new")
		if here == there || here != (err != nil) {
			t.Errorf("%v: in the old place %v, in the new one %v", err, here, there)
		}
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestRemove(t *testing.T) {
	tests := []struct {
		name, arg string
		kind      Kind
		want      error
	}{
		{"removes a file", "f", Regular, nil},
		{"removes an empty directory", "e", Directory, nil},
		{"removes a link, not what it names", "l", Link, nil},
		{"removes a link to a directory", "k", Link, nil},
		{"removes a link to outside", "o", Link, nil},
		{"removes a dangling link", "dangling", Link, nil},
		{"keeps a directory that is not empty", "d", Directory, syscall.ENOTEMPTY},
		{"keeps a directory that was a file", "e", Regular, syscall.EISDIR},
		{"keeps a file that was a directory", "f", Directory, syscall.ENOTDIR},
		{"keeps a link that was a directory", "k", Directory, syscall.ENOTDIR},
		{"finds nothing", "nothing", Regular, fs.ErrNotExist},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, dir string, o opener) {
				plant(t, dir, "root/f", "root/e/", "root/d/f", "root/l => f", "root/k => e", "root/dangling => nowhere", "root/o => ../out/dir")
				loc := entryOf(t, o.root(t, dir+"/root"), tt.arg)
				want := snapshot(t, dir+"/root")
				if err := loc.Parent().Remove(loc.Name(), tt.kind); !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				if tt.want == nil {
					delete(want, "/"+tt.arg)
				}
				if diff := cmp.Diff(want, snapshot(t, dir+"/root")); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		})
	}
}

func TestMkdir(t *testing.T) {
	tests := []struct {
		name, arg string
		want      error
	}{
		{"makes a directory", "new", nil},
		{"makes one in a directory", "d/new", nil},
		{"makes one through a link to inside", "k/new", nil},
		{"finds a file", "f", fs.ErrExist},
		{"finds a directory", "d", fs.ErrExist},
		{"finds a link", "k", fs.ErrExist},
		{"makes nothing through a dangling link", "dangling", fs.ErrExist},
		{"makes nothing through a link to outside", "o", fs.ErrExist},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, dir string, o opener) {
				plant(t, dir, "root/f", "root/d/", "root/k => d", "root/dangling => nowhere", "root/o => ../out/new")
				loc := entryOf(t, o.root(t, dir+"/root"), tt.arg)
				if err := loc.Parent().Mkdir(loc.Name()); !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				if made := exists(dir + "/root/" + loc.Rel()); !made || exists(dir+"/root/nowhere") {
					t.Errorf("made: %v, something else: %v", made, exists(dir+"/root/nowhere"))
				}
			})
		})
	}
}

// TestDirTakesSingleNames holds every method against a caller's mistake, each shown to work with the name alone.
func TestDirTakesSingleNames(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plant(t, dir, "root/d/f", "root/d/l => f", "root/d/e/", "root/d/f2")
		loc := entryOf(t, o.root(t, dir+"/root"), "d/f")
		d := loc.Parent()
		closing := func(c io.Closer, err error) error {
			if err == nil {
				c.Close()
			}
			return err
		}
		acts := []struct {
			what, name string
			act        func(name string) error
		}{
			{"Stat", "f", func(name string) error { _, err := d.Stat(name); return err }},
			{"ReadLink", "l", func(name string) error { _, err := d.ReadLink(name); return err }},
			{"OpenDir", "e", func(name string) error { c, err := d.OpenDir(name); return closing(c, err) }},
			{"OpenDirSameMount", "e", func(name string) error { c, err := d.OpenDirSameMount(name); return closing(c, err) }},
			{"OpenFile", "f", func(name string) error { c, err := d.OpenFile(name); return closing(c, err) }},
			{"OpenSeen", "f", func(name string) error { c, err := d.OpenSeen(name); return closing(c, err) }},
			{"Mkdir", "new", func(name string) error { return d.Mkdir(name) }},
			{"Rename from", "f", func(name string) error { return d.Rename(name, d, "f3") }},
			{"Rename to", "f4", func(name string) error { return d.Rename("f2", d, name) }},
			{"Remove", "e", func(name string) error { return d.Remove(name, Directory) }},
		}
		bad := []string{"", "..", "../out/secret", "../../out/dir", "/", dir + "/out/secret", "e/../f", "./f", "f\x00"}
		for _, a := range acts {
			for _, name := range bad {
				if err := a.act(name); !errors.Is(err, ErrName) {
					t.Errorf("%s takes %q: %v", a.what, name, err)
				}
			}
			if err := a.act(a.name); err != nil {
				t.Errorf("%s refuses %q: %v", a.what, a.name, err)
			}
		}
	})
}

// TestHandlesAgreeOnInfo asks both handles about one entry of every kind.
func TestHandlesAgreeOnInfo(t *testing.T) {
	dir := physicalTemp(t)
	names := plantEveryKind(t, dir)
	must(t, os.Chmod(dir+"/f", 0o640|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky))
	must(t, os.Link(dir+"/f", dir+"/f2"))
	var first map[string]Info
	for _, o := range openers(t) {
		r := o.root(t, dir)
		got := map[string]Info{}
		for name := range names {
			info, err := r.dir.Stat(name)
			must(t, err)
			got[name] = info
		}
		if first == nil {
			first = got
		}
		if diff := cmp.Diff(first, got); diff != "" {
			t.Errorf("%s (-%s +%s):\n%s", o.name, openers(t)[0].name, o.name, diff)
		}
	}
	want, err := os.Lstat(dir + "/f")
	must(t, err)
	if f := first["f"]; f.Mode != want.Mode() || f.Size != want.Size() || f.ModTime != want.ModTime().UnixNano() || f.Links != 2 || f.Kind != Regular || f.ID == (ID{}) {
		t.Errorf("got %+v of %+v", f, want)
	}
	for name, kind := range names {
		if got := first[name].Kind; got != kind {
			t.Errorf("%s is a %s, want a %s", name, got, kind)
		}
	}
}

// plantEveryKind makes an entry of each kind that this process may make.
func plantEveryKind(t *testing.T, dir string) map[string]Kind {
	t.Helper()
	plant(t, dir, "f", "d/", "l => nowhere")
	names := map[string]Kind{"f": Regular, "d": Directory, "l": Link}
	must(t, syscall.Mkfifo(dir+"/fifo", 0o666))
	names["fifo"] = FIFO
	// Bound by a short path: an address holds about a hundred bytes.
	t.Chdir(dir)
	s, err := net.ListenUnix("unix", &net.UnixAddr{Name: "socket", Net: "unix"})
	must(t, err)
	s.SetUnlinkOnClose(false)
	must(t, s.Close())
	names["socket"] = Socket
	if makeDevice(dir+"/device") == nil {
		names["device"] = Device
	}
	return names
}

// TestSpecialFiles shows that no look-up waits for the other end of a FIFO, and that each kind has its sentence.
func TestSpecialFiles(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		names := plantEveryKind(t, dir+"/root")
		plant(t, dir, "root/to-fifo => fifo")
		r := o.root(t, dir+"/root")
		want := map[string]string{
			"fifo":    "'fifo' is not a regular file (fifo)",
			"socket":  "'socket' is not a regular file (socket)",
			"device":  "'device' is not a regular file (device)",
			"to-fifo": "'to-fifo' is not a regular file (fifo)",
		}
		names["to-fifo"] = FIFO
		for name, kind := range names {
			if kind == Regular || kind == Directory || kind == Link {
				continue
			}
			if got := opened(t, r, dir, name); got != want[name] {
				t.Errorf("got %s, want %s", got, want[name])
			}
			if got, want := opened(t, r, dir, name+"/x"), fmt.Sprintf("'%s/x' leads through something that is not a directory", name); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			loc, err := r.Resolve("path", name)
			must(t, err)
			d, err := loc.OpenDir()
			if got, want := namesOf(t, dir, name, d, err), fmt.Sprintf("'%s' is not a directory", name); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			loc.Access()
			loc.Close()
		}
		for name, kind := range names {
			if name == "to-fifo" || kind == Regular {
				continue
			}
			from := entryOf(t, r, name)
			must(t, from.Parent().Rename(name, from.Parent(), "moved-"+name))
			must(t, from.Parent().Remove("moved-"+name, kind))
		}
	})
}

func sortedNames(list []Entry) []string {
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name
	}
	slices.Sort(names)
	return names
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
