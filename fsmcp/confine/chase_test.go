package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// linkTable is a file system as a table, of any platform: what is not in it is not there.
type linkTable struct {
	platform platform
	nodes    map[string]linkNode // by the text that the chase asks with
	asked    *int
}

type linkNode struct {
	kind   chaseKind
	target string
	err    error
}

// newLinkTable holds the entries below root, with the directories above them: "d/" a directory, "f" a file, "a => b" a
// link. Entries are written with slashes.
func newLinkTable(p platform, root []string, entries ...string) linkTable {
	table := linkTable{platform: p, nodes: map[string]linkNode{}, asked: new(int)}
	for _, entry := range entries {
		name, target, isLink := strings.Cut(entry, " => ")
		place := slices.Concat(root, strings.FieldsFunc(name, func(r rune) bool { return r == '/' }))
		for n := range len(place) {
			if above := p.join(place[:n]); n >= len(p.top(place)) && table.nodes[above].kind == chaseAbsent {
				table.nodes[above] = linkNode{kind: chaseDirectory}
			}
		}
		node := linkNode{kind: chaseOther}
		switch {
		case isLink:
			node = linkNode{kind: chaseLink, target: target}
		case strings.HasSuffix(name, "/"):
			node = linkNode{kind: chaseDirectory}
		}
		table.nodes[p.join(place)] = node
	}
	return table
}

func (l linkTable) readlink(path string) (string, chaseKind, error) {
	*l.asked++
	node := l.nodes[path]
	return node.target, node.kind, node.err
}

// fail makes the place at root with the given names one that cannot be looked at.
func (l linkTable) fail(err error, place ...string) {
	l.nodes[l.platform.join(place)] = linkNode{kind: chaseLink, err: err}
}

func (l linkTable) chaser() chaser {
	return chaser{platform: l.platform, links: l, maxHops: defaultHops}
}

// testRoot is a root on the platform, and its text with slashes.
func testRoot(p platform) (place []string, text string) {
	if p.windows {
		return []string{"C:", "root"}, "C:/root"
	}
	return []string{"srv", "root"}, "/srv/root"
}

func TestPhysicalFollowsThePlatformsDotDot(t *testing.T) {
	tests := []struct {
		name           string
		extra          string // an entry beside the common ones
		path           string
		posix, windows string // seen from the root; or why it is refused
	}{
		{"goes up from where a link led, or by name", "", "one/L/../x.txt", "deep/a/x.txt", "one/x.txt"},
		{"goes up twice", "", "one/L/../../x.txt", "deep/x.txt", "x.txt"},
		{"follows a link beside the directory", "", "one/../L2/x", "deep/x", "deep/x"},
		{"goes up inside a target", "one/K => L/../../x", "one/K", "deep/x", "x"},
		{"goes up inside a target with a rest behind it", "one/K => L/..", "one/K/x", "deep/a/x", "one/x"},
		{"leaves by a target", "one/K => ../../x", "one/K", "outside", "outside"},
		{"leaves by a target that is only ..", "K => ..", "K", "outside", "outside"},
		{"leaves and comes back", "one/K => ../../root/x.txt", "one/K", "x.txt", "x.txt"},
		{"goes up from nothing", "", "gone/../x", "does not exist", "x"},
		{"goes up from a file", "", "f.txt/../x", "not a directory", "x"},
		{"goes up from nothing inside a target", "K => gone/../x", "K", "does not exist", "x"},
		{"goes up from a file inside a target", "K => f.txt/../x", "K", "not a directory", "x"},
		{"goes on below a file", "", "f.txt/x", "not a directory", "not a directory"},
		{"goes on below a link to a file", "K => f.txt", "K/x", "not a directory", "not a directory"},
		{"keeps what does not exist", "", "one/L/not/yet", "deep/a/b/not/yet", "deep/a/b/not/yet"},
		{"keeps what does not exist behind a link to nothing", "K => gone/too", "K/x", "gone/too/x", "gone/too/x"},
		{"follows links in the middle and at the end", "deep/a/b/K => ../../../L2", "one/L/K", "deep", "deep"},
	}
	for _, tt := range tests {
		for _, p := range []platform{posixPlatform(), windowsPlatform()} {
			for _, kind := range []string{"relative", "absolute"} {
				t.Run(fmt.Sprintf("it %s, %s links, windows=%v", tt.name, kind, p.windows), func(t *testing.T) {
					root, text := testRoot(p)
					toB, toDeep := "../deep/a/b", "deep"
					if kind == "absolute" {
						toB, toDeep = text+"/deep/a/b", text+"/deep"
					}
					entries := []string{"deep/a/b/", "f.txt", "one/L => " + toB, "L2 => " + toDeep}
					if tt.extra != "" {
						entries = append(entries, tt.extra)
					}
					want := tt.posix
					if p.windows {
						want = tt.windows
					}
					got := seenFromRoot(newLinkTable(p, root, entries...).chaser(), root, text+"/"+tt.path)
					if got != want {
						t.Errorf("%s is %q, want %q", tt.path, got, want)
					}
				})
			}
		}
	}
}

// seenFromRoot says where path leads: a path below root with slashes, "outside", or why it is refused.
func seenFromRoot(c chaser, root []string, path string) string {
	place, err := c.physical("", path)
	for kind, word := range map[error]string{
		ErrBlocked: "blocked", ErrTooManyLinks: "too many links", ErrNotExist: "does not exist",
		ErrNotDirectory: "not a directory", ErrPermission: "no permission",
	} {
		if errors.Is(err, kind) {
			return word
		}
	}
	if err != nil {
		return err.Error()
	}
	rel, inside := within(c.platform, root, place)
	if !inside {
		return "outside"
	}
	return strings.Join(rel, "/")
}

func TestPhysicalJudgesWindowsTargets(t *testing.T) {
	const guid = `\\?\Volume{26a21bda-a627-11d7-9931-806e6f6e6963}\`
	tests := []struct{ target, want string }{
		{`C:\root\x`, `C:\root\x`},
		{`c:/root/x`, `C:\root\x`},
		{`..\x`, `C:\root\x`},
		{`../x`, `C:\root\x`},
		{`L\..\..\x`, `C:\root\x`},
		{`\x`, `C:\x`}, // The root of the link's volume.
		{`/x/y`, `C:\x\y`},
		{`..\..\..\..\x`, `C:\x`},
		{`D:\x`, `D:\x`},
		{`\\srv\share\x`, `\\srv\share\x`}, // Another volume.
		{`\\srv\share`, `\\srv\share\`},
		{`\\srv\share\..\..\x`, `\\srv\share\x`},
		{`//srv/share/x`, `\\srv\share\x`},
		{`C:foo`, "relative to the working directory of a drive"},
		{`C:`, "relative to the working directory of a drive"},
		{`C:..\x`, "relative to the working directory of a drive"},
		{`\\?\C:\x`, "device path"},
		{`\\.\C:\x`, "device path"},
		{`//?/C:/x`, "device path"},
		{`\??\C:\x`, "device path"},
		{`/??/C:/x`, "device path"},
		{`\\?\UNC\srv\share\x`, "device path"},
		{guid, "device path"},
		{`\\srv`, "no server and share"},
		{`\\srv\`, "no server and share"},
		{`\\\x`, "no server and share"},
		{`\\srv\..\x`, "no server and share"},
		{`\\.. \share\x`, "no server and share"},
		{`a\...\b`, "names something else"},
		{`a\.. \b`, "names something else"},
		{`a\. .\b`, "names something else"},
		{`a\ \b`, "names something else"},
		{`a\b.`, "names something else"},
		{`a\..\b. \..`, "names something else"},
		{`one::$INDEX_ALLOCATION\x`, "names something else"},
		{`a\NUL`, "names something else"},
		{"", "empty path"},
		{"a\x00b", "NUL byte"},
	}
	root, text := testRoot(windowsPlatform())
	for _, tt := range tests {
		t.Run("it judges "+strconv.Quote(tt.target), func(t *testing.T) {
			c := newLinkTable(windowsPlatform(), root, "one/K => "+tt.target, "one/L => ../deep/a/b").chaser()
			place, err := c.physical("", text+"/one/K")
			if err == nil {
				if got := c.platform.join(place); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				return
			}
			if !errors.Is(err, ErrBlocked) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it blocked: %s", err, tt.want)
			}
		})
	}
}

func TestPhysicalTakesItsOwnPathAsATarget(t *testing.T) {
	tests := []struct {
		p               platform
		dir, path, want string
	}{
		{posixPlatform(), "/srv/root/one", "L/../x", "/srv/root/deep/x"},
		{posixPlatform(), "/srv/root/link", "../x", "/srv/root/x"}, // Up from where dir led, not from its name.
		{posixPlatform(), "/srv/root", "/", "/"},
		{posixPlatform(), "/srv/root", "/../..", "/"},
		{posixPlatform(), "/", "srv/", "/srv"},
		{posixPlatform(), "/srv", ".", "/srv"},
		{posixPlatform(), "/srv", `C:\x`, `/srv/C:\x`},
		{windowsPlatform(), `C:\root\one`, `..\x`, `C:\root\x`},
		{windowsPlatform(), `c:\root\link`, `..\x`, `C:\root\x`}, // Up by name.
		{windowsPlatform(), `c:/root`, `\`, `C:\`},
		{windowsPlatform(), `C:\root`, `\root\link/y`, `C:\root\deep\a\y`},
		{windowsPlatform(), `C:\root`, `d:\..\x`, `D:\x`},
		{windowsPlatform(), `C:\root`, `C:x`, ""},
		{windowsPlatform(), `C:\root`, `\\?\C:\root`, ""},
		{windowsPlatform(), `C:\root`, `x.\y`, ""},
		{windowsPlatform(), "", `x`, ""},
		{posixPlatform(), "/srv", "", ""},
		{posixPlatform(), "/srv", "a\x00b", ""},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("it reads %q in %q, windows=%v", tt.path, tt.dir, tt.p.windows), func(t *testing.T) {
			root, _ := testRoot(tt.p)
			entries := []string{"deep/a/", "one/L => ../deep/a", "link => deep/a"}
			if !tt.p.windows {
				entries[2] = "link => one"
			}
			c := newLinkTable(tt.p, root, entries...).chaser()
			place, err := c.physical(tt.dir, tt.path)
			switch {
			case tt.want == "" && !errors.Is(err, ErrBlocked):
				t.Errorf("got %v, %v, want it blocked", place, err)
			case tt.want != "" && err != nil:
				t.Errorf("got %v, want %s", err, tt.want)
			case tt.want != "" && c.platform.join(place) != tt.want:
				t.Errorf("got %s, want %s", c.platform.join(place), tt.want)
			}
		})
	}
}

func TestChaseFailsClosed(t *testing.T) {
	root, _ := testRoot(posixPlatform())
	at := func(name string) []string { return slices.Concat(root, []string{name}) }
	table := newLinkTable(posixPlatform(), root,
		"empty => ", "loop => loop", "ping => pong", "pong => ping", "f", "below => f/x", "slash => f/", "dot => f/.",
		"long => "+strings.Repeat("d/", 2100), "turns => "+strings.Repeat("d/../", 2049), "d/", "ok => d",
		"most => "+strings.Repeat("d/../", 2047)+"d")
	table.fail(deniedError{}, at("private")...)
	table.fail(errors.New("EIO"), at("unreadable")...)
	tests := []struct {
		name, arg string
		kind      error
		text      string
	}{
		{"an empty target", "empty", ErrBlocked, "resolve /srv/root/empty: path cannot be resolved: empty path"},
		{"a link to itself", "loop", ErrTooManyLinks, "resolve /srv/root/loop: too many symbolic links"},
		{"links to each other", "ping/x", ErrTooManyLinks, "resolve /srv/root/ping: too many symbolic links"},
		{"a target below a file", "below", ErrNotDirectory, "resolve /srv/root/f: not a directory"},
		{"a target that says a file is a directory", "slash", ErrNotDirectory, "resolve /srv/root/f: not a directory"},
		{"the same with a dot", "dot", ErrNotDirectory, "resolve /srv/root/f: not a directory"},
		{"what may not be looked at", "private/x", ErrPermission, "resolve /srv/root/private: permission denied: EACCES"},
		{"a link that cannot be read", "unreadable", ErrBlocked, "resolve /srv/root/unreadable: path cannot be resolved: EIO"},
		{"a path that has grown too long", "long", ErrBlocked, ""},
		{"a path that turns without end", "turns", ErrBlocked, "resolve /srv/root/d: path cannot be resolved: path too long"},
	}
	for _, tt := range tests {
		t.Run("it refuses "+tt.name, func(t *testing.T) {
			place, _, err := table.chaser().chase(root, strings.Split(tt.arg, "/"), true)
			if !errors.Is(err, tt.kind) || tt.text != "" && err.Error() != tt.text {
				t.Errorf("got %v, %v, want %q", place, err, tt.text)
			}
		})
	}
	for _, arg := range []string{"ok", "most"} {
		t.Run("it follows the link beside them that is called "+arg, func(t *testing.T) {
			place, linked, err := table.chaser().chase(root, []string{arg}, true)
			if want := at("d"); err != nil || !linked || !slices.Equal(place, want) {
				t.Errorf("got %v, %v, %v, want %v", place, linked, err, want)
			}
		})
	}
}

// deniedError is what the system says to who may not search a directory.
type deniedError struct{}

func (deniedError) Error() string        { return "EACCES" }
func (deniedError) Is(target error) bool { return target == fs.ErrPermission }

func TestChaseCountsLinks(t *testing.T) {
	root, _ := testRoot(posixPlatform())
	var entries []string
	for n := range 41 {
		entries = append(entries, fmt.Sprintf("l%d => l%d", n+1, n))
	}
	c := newLinkTable(posixPlatform(), root, append(entries, "l0", "d => .")...).chaser()
	tests := []struct {
		name string
		hops int
		rest []string
		want error
	}{
		{"follows a chain of 40", 40, []string{"l40"}, nil},
		{"refuses a chain of 41", 40, []string{"l41"}, ErrTooManyLinks},
		{"counts over the whole path", 40, []string{"d", "l40"}, ErrTooManyLinks},
		{"does not count one that is kept", 0, []string{"l0"}, nil},
		{"takes another limit", 3, []string{"l3"}, nil},
		{"holds another limit", 3, []string{"l4"}, ErrTooManyLinks},
		{"follows none below zero", -1, []string{"l1"}, ErrTooManyLinks},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			c.maxHops = tt.hops
			if place, _, err := c.chase(root, tt.rest, true); !errors.Is(err, tt.want) {
				t.Errorf("got %v, %v, want %v", place, err, tt.want)
			}
		})
	}
}

func TestChaseKeepsTheLastLink(t *testing.T) {
	type result struct {
		Place  string
		Linked bool
	}
	tests := []struct {
		name, arg    string
		follow, keep result
	}{
		{"a file", "d/f", result{"d/f", false}, result{"d/f", false}},
		{"nothing", "d/gone", result{"d/gone", false}, result{"d/gone", false}},
		{"a link", "l", result{"d/f", true}, result{"l", true}},
		{"a link to a link", "ll", result{"d/f", true}, result{"ll", true}},
		{"a link to nothing", "lost", result{"gone/too", true}, result{"lost", true}},
		{"a link that leaves", "out", result{"outside", true}, result{"out", true}},
		{"a link to itself", "loop", result{"too many links", true}, result{"loop", true}},
		{"a file below a link", "dir/f", result{"d/f", false}, result{"d/f", false}},
		{"a link below a link", "dir/l", result{"d/f", true}, result{"d/l", true}},
		{"a link below a link to a link", "dir2/l", result{"d/f", true}, result{"d/l", true}},
		{"the root", "", result{"", false}, result{"", false}},
	}
	for _, tt := range tests {
		for _, p := range []platform{posixPlatform(), windowsPlatform()} {
			root, text := testRoot(p)
			c := newLinkTable(p, root, "d/f", "d/l => f", "l => d/f", "ll => d/l", "dir => d", "dir2 => "+text+"/dir",
				"lost => gone/too", "out => ../other", "loop => loop").chaser()
			for follow, want := range map[bool]result{true: tt.follow, false: tt.keep} {
				t.Run(fmt.Sprintf("it ends at %s, follow=%v, windows=%v", tt.name, follow, p.windows), func(t *testing.T) {
					rest := strings.FieldsFunc(tt.arg, p.isSeparator)
					place, linked, err := c.chase(root, rest, follow)
					got := result{"outside", linked}
					if rel, inside := within(p, root, place); inside {
						got.Place = strings.Join(rel, "/")
					} else if errors.Is(err, ErrTooManyLinks) {
						got.Place = "too many links"
					} else if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
}

func TestChaseLeavesItsArgumentsAlone(t *testing.T) {
	root, _ := testRoot(posixPlatform())
	start := append(make([]string, 0, 10), root...)
	rest := []string{"l", "x"}
	c := newLinkTable(posixPlatform(), root, "l => ../other/d", "d/").chaser()
	if _, _, err := c.chase(start, rest, true); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(start, root) || !slices.Equal(rest, []string{"l", "x"}) || start[:3][2] != "" {
		t.Errorf("start is %q, rest is %q", start[:3], rest)
	}
}

func TestWithin(t *testing.T) {
	tests := []struct {
		name        string
		p           platform
		root, place string
		want        []string
		inside      bool
	}{
		{"holds the root itself", posixPlatform(), "/srv/root", "/srv/root", []string{}, true},
		{"holds what is below", posixPlatform(), "/srv/root", "/srv/root/a/b", []string{"a", "b"}, true},
		{"leaves out a sibling whose name begins alike", posixPlatform(), "/srv/root", "/srv/root2/a", nil, false},
		{"leaves out a shorter sibling", posixPlatform(), "/srv/root", "/srv/roo", nil, false},
		{"leaves out the parent", posixPlatform(), "/srv/root", "/srv", nil, false},
		{"compares with regard to case", posixPlatform(), "/srv/root", "/srv/Root/a", nil, false},
		{"holds everything below /", posixPlatform(), "/", "/srv", []string{"srv"}, true},
		{"folds the letter of a drive", windowsPlatform(), `C:\root`, `c:/root/a`, []string{"a"}, true},
		{"folds nothing else", windowsPlatform(), `C:\root`, `C:\ROOT\a`, nil, false},
		{"keeps drives apart", windowsPlatform(), `C:\root`, `D:\root\a`, nil, false},
		{"keeps shares apart", windowsPlatform(), `\\srv\one`, `\\srv\two\a`, nil, false},
		{"keeps a share and a drive apart", windowsPlatform(), `C:\`, `\\srv\C\a`, nil, false},
		{"holds what is below a share", windowsPlatform(), `\\srv\one`, `//srv/one/a`, []string{"a"}, true},
		{"holds what is below a drive", windowsPlatform(), `C:\`, `C:\a`, []string{"a"}, true},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			got, inside := within(tt.p, mustPlace(t, tt.p, tt.root), mustPlace(t, tt.p, tt.place))
			if diff := cmp.Diff(tt.want, got); diff != "" || inside != tt.inside {
				t.Errorf("got %v, %v, want %v, %v", got, inside, tt.want, tt.inside)
			}
		})
	}
	t.Run("it folds a drive that locate did not spell, and only at the front", func(t *testing.T) {
		if _, inside := within(windowsPlatform(), []string{"c:", "a"}, []string{"C:", "a"}); !inside {
			t.Error("got it outside")
		}
		if _, inside := within(windowsPlatform(), []string{"C:", "a:"}, []string{"C:", "A:"}); inside {
			t.Error("got it inside")
		}
	})
	t.Run("it holds nothing in a Windows root without a volume", func(t *testing.T) {
		if _, inside := within(windowsPlatform(), nil, []string{"C:", "a"}); inside {
			t.Error("got it inside")
		}
	})
}

func mustPlace(t *testing.T, p platform, path string) []string {
	t.Helper()
	base, names, err := p.locate(nil, path)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(base, names)
}

// FuzzChase walks a path in a table of links, which is given as newLinkTable takes its entries, one a line. Where the chase
// succeeds, the answer has to be that of a simpler one, which rewrites the whole path and starts again.
func FuzzChase(f *testing.F) {
	f.Add("one/L => ../deep/a/b\ndeep/a/b/", "one/L/../x.txt", false)
	f.Add("one/L => ../deep/a/b\none/K => L/../../x", "one/K", true)
	f.Add("loop => loop/x", "loop", false)
	f.Add("a => ../..\nb => a/a/", "b/b/c", false)
	f.Add("a => C:/root/b\nb => \\\\srv\\share\\x", "a/x", true)
	f.Add("a => /srv/root/b/.\nb => .\nf", "a/a/f", false)
	f.Add("a => f/\nf", "a", false)
	f.Fuzz(func(t *testing.T, entries, path string, windows bool) {
		if len(entries)+len(path) > 1000 {
			return
		}
		p := platform{windows: windows}
		root, text := testRoot(p)
		table := newLinkTable(p, root, strings.Split(entries, "\n")...)
		c := table.chaser()
		place, err := c.physical("", text+"/"+path)
		if *table.asked > maxSteps {
			t.Fatalf("looked at %d places, more than %d", *table.asked, maxSteps)
		}
		if err != nil {
			if !errors.As(err, new(*chaseError)) {
				t.Fatalf("got %T: %v", err, err)
			}
			return
		}
		checkPlace(t, c, place)
		if want, ok := rewritten(c, text+"/"+path); ok && p.join(place) != want {
			t.Errorf("got %s, want %s", p.join(place), want)
		}
	})
}

// checkPlace holds what a chase returned to being a place: no links, nothing to resolve, and its own physical form.
func checkPlace(t *testing.T, c chaser, place []string) {
	t.Helper()
	for n := len(c.platform.top(place)); n < len(place); n++ {
		name := place[n]
		if isDots(name) || strings.ContainsFunc(name, c.platform.isSeparator) {
			t.Fatalf("%q is in the place %q", name, place)
		}
		_, kind, _ := c.links.readlink(c.platform.join(place[:n+1]))
		if kind == chaseLink {
			t.Fatalf("%q is a link in the place %q", name, place)
		}
		if kind != chaseDirectory {
			break
		}
	}
	again, err := c.physical("", c.platform.join(place))
	if err != nil || !slices.Equal(again, place) {
		t.Fatalf("the place %q leads on to %q, %v", place, again, err)
	}
}

// rewritten resolves a path as a person would: find its first link, write the target in its place, begin again. On POSIX
// ".." is taken away together with the directory before it once no link stands before that; on Windows before all else.
// It answers only where that leads somewhere within the budget.
func rewritten(c chaser, path string) (string, bool) {
	for range defaultHops + 1 {
		next, again := rewriteOnce(c, path)
		if !again {
			return next, next != ""
		}
		path = next
	}
	return "", false
}

func rewriteOnce(c chaser, path string) (next string, again bool) {
	base, names, err := c.platform.locate(nil, path)
	if err != nil {
		return "", false
	}
	place := slices.Clone(base)
	for i, name := range names {
		switch {
		case name == ".":
			continue
		case name == "..":
			place = place[:max(len(c.platform.top(place)), len(place)-1)]
			continue
		}
		here := c.platform.join(append(place, name))
		target, kind, _ := c.links.readlink(here)
		if kind != chaseLink {
			place = append(place, name)
			continue
		}
		rest := strings.Join(names[i+1:], "/")
		if c.platform.windows {
			// The target goes into the text; what it takes away by ".." is taken away by the next reading.
			base, into, err := c.platform.locate(place, target)
			if err != nil {
				return "", false
			}
			return c.platform.join(slices.Concat(base, into)) + "/" + rest, true
		}
		if strings.HasPrefix(target, "/") {
			return target + "/" + rest, true
		}
		return c.platform.join(place) + "/" + target + "/" + rest, true
	}
	return c.platform.join(place), false
}
