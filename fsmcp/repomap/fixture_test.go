//go:build cgo

package repomap

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/confine"
)

// harbour is a tree in eight languages whose ranking has one right answer. Three files define start, and six of ten use
// it, so it is set aside; four use light_up, which is not; splice is shared by two files.
func harbour() map[string]string {
	return map[string]string{
		"core/beacon.py": lines("class Beacon:", "    def start(self):", "        return self", "", "", "def light_up(lamp):", "    return lamp"),
		"core/tide.go": lines("package core", "", "type Tide struct{ level int }", "",
			"func start(level int) *Tide { return &Tide{level: level} }", "", "func RaiseTide(t *Tide) { t.level++ }"),
		"core/crane.rs": lines("pub struct Crane {", "    load: u8,", "}", "", "impl Crane {", "    pub fn start(&self) -> u8 {",
			"        self.load", "    }", "", "    pub fn hoist(&self) -> u8 {", "        self.load", "    }", "}"),
		"app/main.py": lines("def main():", "    b = Beacon()", "    b.start()", "    light_up(b)"),
		"app/dock.ts": lines("export class Dock {", "  ready() {", "    const b = new Beacon();", "    b.start();", "    RaiseTide(b);", "  }", "}"),
		"app/yard.js": lines("function yard() {", "  const c = new Crane();", "  c.start();", "  light_up(c);", "}"),
		"app/Pier.java": lines("class Pier {", "    void moor() {", "        Crane c = new Crane();", "        c.hoist();", "        c.start();",
			"        light_up(c);", "    }", "}"),
		"lib/rope.h":   lines("int splice(int n);"),
		"lib/rope.c":   lines(`#include "rope.h"`, "", "int splice(int n) {", "    start(n);", "    return light_up(n);", "}"),
		"app/knot.cpp": lines("int knot(int n) {", "    start(n);", "    return splice(n) + splice(n - 1);", "}"),
	}
}

// drawingOf is the map of a request before it is rendered.
func drawingOf(t *testing.T, m *Mapper, req Request) *drawing {
	t.Helper()
	if req.Path == "" {
		req.Path = "."
	}
	drawn(t, m, req)
	focus, err := m.resolveFocus(req.Focus)
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.survey(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	files, err := m.load(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	return draw(files, m.cache.names, newGraph(files, m.cache.names), steering{words: words(strings.ToLower(req.Query)), focus: focus})
}

func TestFixtureRanks(t *testing.T) {
	root, _ := tree(t, harbour())
	m := mapper(t, root)
	// The ranks solve the linear system exactly, from references read by hand.
	tests := []struct {
		name string
		req  Request
		want map[string]float64
	}{
		{"it ranks what others lean on first", Request{}, map[string]float64{
			"core/beacon.py": .269073279, "core/crane.rs": .131039907, "core/tide.go": .092165899, "lib/rope.c": .092165899, "lib/rope.h": .092165899,
			"app/Pier.java": .064677824, "app/dock.ts": .064677824, "app/knot.cpp": .064677824, "app/main.py": .064677824, "app/yard.js": .064677824,
		}},
		{"it lifts what a query names by path", Request{Query: "rope"}, map[string]float64{
			"core/beacon.py": .287274389, "lib/rope.c": .253580224, "lib/rope.h": .253580224, "core/crane.rs": .049281906, "core/tide.go": .034662045,
			"app/Pier.java": .024324242, "app/dock.ts": .024324242, "app/knot.cpp": .024324242, "app/main.py": .024324242, "app/yard.js": .024324242,
		}},
		{"it lifts what a query names by definition", Request{Query: "HOIST"}, map[string]float64{
			"core/crane.rs": .450755410, "core/beacon.py": .170073452, "core/tide.go": .058255404, "lib/rope.c": .058255404, "lib/rope.h": .058255404,
			"app/Pier.java": .040880985, "app/dock.ts": .040880985, "app/knot.cpp": .040880985, "app/main.py": .040880985, "app/yard.js": .040880985,
		}},
		{"it maps what is around a file", Request{Focus: "app/dock.ts"}, map[string]float64{
			"app/dock.ts": .471203572, "core/beacon.py": .235462397, "core/tide.go": .209685589, "core/crane.rs": .019093553, "lib/rope.c": .013429302,
			"lib/rope.h": .013429302, "app/Pier.java": .009424071, "app/knot.cpp": .009424071, "app/main.py": .009424071, "app/yard.js": .009424071,
		}},
		{"it maps what is around a directory", Request{Focus: "lib/"}, map[string]float64{
			"lib/rope.c": .325089250, "lib/rope.h": .325089250, "core/beacon.py": .295337761, "core/crane.rs": .013061856, "core/tide.go": .009186955,
			"app/Pier.java": .006446986, "app/dock.ts": .006446986, "app/knot.cpp": .006446986, "app/main.py": .006446986, "app/yard.js": .006446986,
		}},
		{"it does both at once", Request{Query: "rope", Focus: "app/dock.ts"}, map[string]float64{
			"app/dock.ts": .379474239, "core/beacon.py": .247684423, "core/tide.go": .168866036, "lib/rope.c": .079120379, "lib/rope.h": .079120379,
			"core/crane.rs": .015376606, "app/Pier.java": .007589485, "app/knot.cpp": .007589485, "app/main.py": .007589485, "app/yard.js": .007589485,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := drawingOf(t, m, tt.req)
			if len(d.files) != len(tt.want) {
				t.Fatalf("%d files are mapped, want %d", len(d.files), len(tt.want))
			}
			for i, f := range d.files {
				if got, want := d.ranks[i], tt.want[f.path]; math.Abs(got-want) > 1e-9 {
					t.Errorf("%s has rank %.9f, want %.9f", f.path, got, want)
				}
			}
		})
	}
}

func TestFixtureMap(t *testing.T) {
	root, _ := tree(t, harbour())
	m := mapper(t, root)
	two := lines(
		"core/beacon.py:", "   1: class Beacon:", "⋮", "   6: def light_up(lamp):", "",
		"core/crane.rs:", "   1: pub struct Crane {", "⋮", "  10: pub fn hoist(&self) -> u8 {", "",
		"core/tide.go:", "   3: type Tide struct{ level int }", "⋮", "   7: func RaiseTide(t *Tide) { t.level++ }", "",
		"lib/rope.c:", "   3: int splice(int n) {", "",
		"lib/rope.h:", "   1: int splice(int n);", "",
		"app/Pier.java:", "   1: class Pier {", "   2: void moor() {", "",
		"app/dock.ts:", "   1: export class Dock {", "   2: ready() {", "",
		"app/knot.cpp:", "   1: int knot(int n) {", "",
		"app/main.py:", "   1: def main():", "",
		"app/yard.js:", "   1: function yard() {", "",
	) + "[mapped 10 files, 15 of 18 definitions; ranked by references]"
	if diff := cmp.Diff(two, drawn(t, m, Request{Path: ".", MaxChars: 597})); diff != "" {
		t.Errorf("map in 597 characters (-want +got):\n%s", diff)
	}
	tests := []struct {
		name           string
		limit, length  int
		blocks         int
		first, summary string
	}{
		{"it prints one definition a file when two are too many", 512, 465, 10, "core/beacon.py:\n   6: def light_up(lamp):\n\ncore/crane.rs:", "10 of 18 definitions"},
		{"it does so up to the last character", 596, 465, 10, "core/beacon.py:\n   6: def light_up(lamp):\n", "10 of 18 definitions"},
		{"it prints two as soon as they fit", 597, 597, 10, "core/beacon.py:\n   1: class Beacon:\n⋮\n", "15 of 18 definitions"},
		{"it does not fill up unevenly", 716, 597, 10, "core/beacon.py:\n   1: class Beacon:\n⋮\n", "15 of 18 definitions"},
		{"it prints everything as soon as it fits", 717, 717, 10, "core/beacon.py:\n   1: class Beacon:\n   2: def start(self):\n⋮\n", ", 18 definitions"},
		{"it prints everything when there is room", 8192, 717, 10, "core/beacon.py:\n   1: class Beacon:\n   2: def start(self):\n⋮\n", ", 18 definitions"},
		{"it drops the lowest files when one each is too much", 300, 282, 4, "core/beacon.py:\n   6: def light_up(lamp):\n", "4 of 18 definitions; 6 files left out to fit 300 characters"},
		{"it prints the summary when nothing else fits", 10, 100, 0, "[mapped 10 files, 0 of 18", "10 files left out to fit 10 characters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := drawn(t, m, Request{Path: ".", MaxChars: tt.limit})
			if n := utf8.RuneCountInString(got); n != tt.length {
				t.Errorf("it is %d characters long, want %d", n, tt.length)
			}
			if n := strings.Count(got, ":\n"); n < tt.blocks {
				t.Errorf("it has %d lines that end in a colon, want at least %d", n, tt.blocks)
			}
			_, last, _ := lastCut(got, "\n")
			if !strings.HasPrefix(got, tt.first) || !strings.Contains(last, tt.summary) {
				t.Errorf("got:\n%s\nwant it to begin with:\n%s\nand its summary to contain: %s", got, tt.first, tt.summary)
			}
		})
	}
}

func TestFixtureDefinitions(t *testing.T) {
	root, _ := tree(t, harbour())
	d := drawingOf(t, mapper(t, root), Request{})
	got := map[string]string{}
	choose := &chooser{drawing: d, inner: make([]uint32, len(d.names.of))}
	for f := range d.files {
		list := choose.candidates(f)
		slices.SortFunc(list, better)
		for _, c := range list {
			got[d.files[f].path] += fmt.Sprintf("%s %.9g, ", d.names.of[c.name], c.score/1e9)
		}
	}
	want := map[string]string{
		"core/beacon.py": "light_up 4, Beacon 2, start 0, ",
		"core/crane.rs":  "Crane 2.41421356, hoist 1, start 0, ",
		"core/tide.go":   "RaiseTide 1, Tide 0, start 0, ",
		"lib/rope.c":     "splice 0.707106781, ",
		"lib/rope.h":     "splice 0.707106781, ",
		"app/Pier.java":  "Pier 0, moor 0, ",
		"app/dock.ts":    "Dock 0, ready 0, ",
		"app/knot.cpp":   "knot 0, ",
		"app/main.py":    "main 0, ",
		"app/yard.js":    "yard 0, ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("definitions and scores, best first (-want +got):\n%s", diff)
	}
}

// TestMapDependsOnTheTreeAlone draws one tree in many ways: files made in other orders, other numbers of workers, and
// what is in the cache must not show.
func TestMapDependsOnTheTreeAlone(t *testing.T) {
	requests := []Request{{Path: "."}, {Path: ".", MaxChars: 597}, {Path: ".", Query: "rope"}, {Path: ".", Focus: "lib app/dock.ts", MaxChars: 512}}
	var want []string
	random := rand.New(rand.NewPCG(1, 2))
	for run := range 6 {
		dir := t.TempDir()
		names := slices.Sorted(maps.Keys(harbour()))
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			writeFile(t, filepath.Join(dir, name), harbour()[name])
		}
		root, err := confine.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		m := New(Options{Root: root, Workers: 1 + run%3})
		var got []string
		for range 2 {
			for _, req := range requests {
				got = append(got, drawn(t, m, req))
			}
		}
		root.Close()
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("run %d differs from the first (-first +this):\n%s", run, diff)
		}
	}
	if diff := cmp.Diff(want[:len(requests)], want[len(requests):]); diff != "" {
		t.Errorf("a second map differs from the first (-first +second):\n%s", diff)
	}
}

// TestMapsOfOneMapper draws maps one after the other, of which each may use what those before it have found out.
func TestMapsOfOneMapper(t *testing.T) {
	root, dir := tree(t, harbour())
	m := mapper(t, root)
	same := func(req Request) {
		t.Helper()
		req.Path = "."
		want := drawn(t, New(Options{Root: root}), req)
		if diff := cmp.Diff(want, drawn(t, m, req)); diff != "" {
			t.Errorf("%+v (-first +after others):\n%s", req, diff)
		}
	}
	for _, few := range []int{300, 512, 8192} { // some blocks with a line, all with a line, everything
		same(Request{MaxChars: few, Query: "hoist"})
		same(Request{MaxChars: few})
		same(Request{MaxChars: few, Query: "hoist"})
		same(Request{MaxChars: few, Focus: "lib"})
		same(Request{MaxChars: few})
	}
	writeFile(t, filepath.Join(dir, "app", "buoy.py"), lines("def buoy():", "    light_up(Beacon())", "    splice(3)"))
	same(Request{MaxChars: 300})
	same(Request{})
}
