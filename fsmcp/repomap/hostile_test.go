//go:build cgo

package repomap

import (
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestHostileFiles maps files that are made to kill a parser. That the test ends is the point: the first of them end the
// process of whoever parses them as they are.
func TestHostileFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	noise := make([]byte, maxFile)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	var minified strings.Builder
	for i := 0; minified.Len() < maxFile-100; i++ {
		n := strconv.Itoa(i)
		minified.WriteString("function a" + n + "(b,c){return b?c(" + n + "):[a" + n + "(c,{d:b})]}")
	}
	hostile := map[string]string{
		"deep.js":     strings.Repeat("{a:", 100_000),
		"deep.ts":     strings.Repeat("{a:", 100_000),
		"deep.tsx":    strings.Repeat("{a:", 100_000),
		"open.c":      strings.Repeat("(", 300_000),
		"open.cpp":    strings.Repeat("(", 300_000),
		"open.go":     strings.Repeat("(", 300_000),
		"open.java":   strings.Repeat("(", 300_000),
		"open.js":     strings.Repeat("(", 300_000),
		"open.py":     strings.Repeat("(", 300_000),
		"open.rs":     strings.Repeat("(", 300_000),
		"close.c":     strings.Repeat(")", 300_000),
		"less.java":   strings.Repeat("a<b<", 75_000),
		"less.ts":     strings.Repeat("a<b<", 75_000),
		"minus.rs":    strings.Repeat("-", 300_000),
		"dots.py":     strings.Repeat("a.", 150_000),
		"noise.go":    string(noise),
		"noise.tsx":   string(noise),
		"comment.js":  strings.Repeat("/* a\n", 1000),
		"large.go":    "package a\n" + strings.Repeat("//\n", maxFile/3),
		"null.py":     "class A:\n\x00",
		"latin.py":    "class Caf\xe9:\n",
		"min.js":      minified.String(),
		"fine/ok.go":  "package a\n\nfunc Fine() {}\n",
		"fine/mod.js": "export function alsoFine() {}\n",
	}
	root, _ := tree(t, hostile)
	text := drawn(t, mapper(t, root), Request{Path: "."})
	for _, want := range []string{"fine/ok.go:\n   3: func Fine() {}", "fine/mod.js:\n   1: export function alsoFine() {}", "min.js:\n   1: function a0("} {
		if !strings.Contains(text, want) {
			t.Errorf("the map does not hold %q:\n%.2000s", want, text)
		}
	}
	if !strings.Contains(text, "[mapped 6 files (18 skipped: unsupported/binary/too-large)") {
		t.Errorf("the summary is not as expected:\n%s", text[strings.LastIndexByte(text, '\n')+1:])
	}
	if peak := peakMemory(t); peak > 1<<30 {
		t.Errorf("the process has had %d bytes of memory", peak)
	}
}

// TestNestingIsWhatGuards shows that the same text at half the depth is read.
func TestNestingIsWhatGuards(t *testing.T) {
	r := &reader{grammars: newGrammars()}
	defer r.close()
	at := func(depth int) error {
		_, err := r.read(JavaScript, []byte("function f() { x("+strings.Repeat("[", depth)+strings.Repeat("]", depth)+") }"))
		return err
	}
	if err := at(maxNesting / 2); err != nil {
		t.Errorf("half the depth: %v", err)
	}
	if err := at(maxNesting); !errors.Is(err, errSkipped) {
		t.Errorf("too deep: %v, want %v", err, errSkipped)
	}
}

// TestOvertime shows that a file which takes too long to read is given up, and not remembered as one to be left out.
func TestOvertime(t *testing.T) {
	r := &reader{grammars: newGrammars(), parsers: parsers{limits: limits{parse: time.Microsecond, query: queryTime}}}
	defer r.close()
	text := []byte(strings.Repeat("function f() { g(1 + 2*3, h(4)) }\n", 10_000))
	if _, err := r.read(JavaScript, text); !errors.Is(err, errOvertime) {
		t.Errorf("with a microsecond to parse: %v, want %v", err, errOvertime)
	}
	r.limits = limits{parse: 100 * time.Millisecond}
	for _, l := range []Language{C, JavaScript, TypeScript} {
		// A comment without an end is read again and again.
		if _, err := r.read(l, []byte(strings.Repeat("/* a\n", maxFile/5))); !errors.Is(err, errOvertime) {
			t.Errorf("%s with a comment of a megabyte: %v, want %v", l, err, errOvertime)
		}
	}
	r.limits = limits{parse: parseTime, query: time.Microsecond}
	if _, err := r.read(JavaScript, text); !errors.Is(err, errOvertime) {
		t.Errorf("with a microsecond to query: %v, want %v", err, errOvertime)
	}
	r.limits = limits{parse: parseTime, query: queryTime}
	tags, err := r.read(JavaScript, text)
	if err != nil || len(tags.Definitions) != 10_000 {
		t.Errorf("with time: %v", err)
	}
}

// TestMemoryIsBounded parses what takes hundreds of megabytes, or as much as there is.
func TestMemoryIsBounded(t *testing.T) {
	r := &reader{grammars: newGrammars()}
	defer r.close()
	for _, tt := range []struct {
		language Language
		size     int
	}{{CPP, maxFile}, {Java, 32 << 10}, {Java, maxFile}, {TSX, maxFile}} {
		if _, err := r.read(tt.language, []byte(strings.Repeat("a<b<", tt.size/4))); !errors.Is(err, errSkipped) {
			t.Errorf("%d bytes of %s: %v, want %v", tt.size, tt.language, err, errSkipped)
		}
		if tags, err := r.read(tt.language, []byte("class A { }")); err != nil || len(tags.Definitions) != 1 {
			t.Errorf("%s after that: %v, %v", tt.language, tags, err)
		}
	}
	if peak := peakMemory(t); peak > 1<<30 {
		t.Errorf("the process has had %d bytes of memory", peak)
	}
}

// TestNothingIsLeftBehind reads a file often, and finds that the memory of C is given back.
func TestNothingIsLeftBehind(t *testing.T) {
	text := []byte(strings.Repeat("function f() { g(1 + 2*3, h(4)) }\n", 2000))
	read := func(n int) {
		for range n {
			r := &reader{grammars: newGrammars()}
			for range 3 {
				if _, err := r.read(JavaScript, text); err != nil {
					t.Fatal(err)
				}
			}
			r.close()
		}
	}
	read(2)
	runtime.GC()
	before := peakMemory(t)
	read(15)
	// One tree of this text takes a megabyte: 45 that were not closed would show.
	if after := peakMemory(t); after > before+20<<20 {
		t.Errorf("45 readings took %d bytes more than 6", after-before)
	}
}

// peakMemory is the most memory that the process has had, in bytes.
func peakMemory(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc to ask for memory")
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmHWM:" {
			n, _ := strconv.Atoi(fields[1])
			return n << 10
		}
	}
	t.Fatal("no peak in /proc/self/status")
	return 0
}
