package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/confine"
)

func TestRunSearchesOneFile(t *testing.T) {
	dir := t.TempDir()
	for path, content := range map[string]string{"d/f": "x\nneedle\n", "d/other": "needle\n", "d/bin": "needle\x00"} {
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := confine.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	cases := []struct {
		name, path, glob string
		want             Result
	}{
		{"it searches the file alone", "d/f", "", Result{Files: []File{{Lines: []Line{{Number: 2, Text: "needle", Match: true}}}}, Matches: 1}},
		{"it filters by its name", "d/f", "o*", Result{}},
		{"it passes over what is no text", "d/bin", "", Result{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			loc, err := root.Resolve("path", c.path)
			if err != nil {
				t.Fatal(err)
			}
			defer loc.Close()
			got, err := Run(t.Context(), loc, Query{Pattern: "needle", Glob: c.glob, Max: 5})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
	t.Run("it refuses a location where nothing is", func(t *testing.T) {
		loc, err := root.Resolve("path", "d/nothing")
		if err != nil {
			t.Fatal(err)
		}
		defer loc.Close()
		if _, err := Run(t.Context(), loc, Query{Pattern: "x", Max: 1}); !errors.Is(err, confine.ErrNotExist) {
			t.Errorf("got %v, want %v", err, confine.ErrNotExist)
		}
	})
}

func TestRunRefusesPatterns(t *testing.T) {
	loc := plant(t, map[string]string{"f": "x\n"})
	tooLong := strings.Repeat("x", MaxPattern+1)
	cases := []struct {
		name string
		q    Query
		want string
	}{
		{"it refuses an empty one", Query{}, "'pattern' is empty; send the text to look for"},
		{"it refuses a long one", Query{Pattern: tooLong}, "'pattern' has 4097 bytes; send at most 4096"},
		{"it refuses what is not UTF-8", Query{Pattern: "\xff"}, "'pattern' is not UTF-8; send text"},
		{"it refuses a line break", Query{Pattern: "a\nb"}, manyLines().Error()},
		{"it refuses a carriage return", Query{Pattern: "a\r"}, manyLines().Error()},
		{"it refuses a regex that needs a line break", Query{Pattern: `a(\n|\nb)+`, Regex: true}, manyLines().Error()},
		{"it refuses look-around", Query{Pattern: `a(?=b)`, Regex: true}, "Invalid regex pattern 'a(?=b)': invalid or unsupported Perl syntax at '(?=' (the syntax is RE2's, without look-around and back-references)"},
		{"it refuses what grows too large", Query{Pattern: `(a{100}){10}` + strings.Repeat(`\d{1000}`, 12), Regex: true}, "'(a{100}){10}" + strings.Repeat(`\d{1000}`, 12) + "' is too large once its counts are written out; send smaller counts"},
		{"it refuses too large counts", Query{Pattern: `a{1001}`, Regex: true}, "Invalid regex pattern 'a{1001}': invalid repeat count at '{1001}'"},
		{"it refuses a long glob", Query{Pattern: "a", Glob: strings.Repeat("*", MaxPattern+1)}, "'glob' has 4097 bytes; send at most 4096"},
		{"it refuses what grows too large before it is written out", Query{Pattern: strings.Repeat(`a{1000}`, 11), Regex: true}, "'" + strings.Repeat(`a{1000}`, 11) + "' is too large once its counts are written out; send smaller counts"},
		{"it refuses a slash in the glob", Query{Pattern: "a", Glob: "a/b"}, "'glob' is 'a/b', and it filters by file name alone; send it without a slash and choose where to look with 'path'"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Run(t.Context(), loc, c.q)
			var bad *PatternError
			if !errors.As(err, &bad) || bad.Refusal() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	for _, good := range []string{`a\n?`, `(a{1000}){0}b`, `(a{9}){9,}`, `(ab?){1000}`, `a(\n|x)`, `[\n,]`, `\s`, strings.Repeat("x", MaxPattern)} {
		if _, err := Run(t.Context(), loc, Query{Pattern: good, Regex: true, Max: 1}); err != nil {
			t.Errorf("%.20s: %v", good, err)
		}
	}
}

func TestRunStopsWhenTheAnswerIsFull(t *testing.T) {
	long := strings.Repeat(strings.Repeat("x", 1990)+" needle\n", 900)
	loc := plant(t, map[string]string{"a": long, "b": long, "c": long, "d": long, "e": long, "f": long})
	r, err := Run(t.Context(), loc, Query{Pattern: "needle", Context: 2, Max: 1 << 20})
	if err != nil || !r.Full || r.More {
		t.Fatalf("full: %v, more: %v, error: %v; want a full answer", r.Full, r.More, err)
	}
	size := 0
	for _, f := range r.Files {
		for _, l := range f.Lines {
			size += len(f.Path) + len(l.Text)
		}
	}
	if size > maxAnswer || size < maxAnswer-4000 {
		t.Errorf("the answer has %d bytes, want just below %d", size, maxAnswer)
	}
}

func TestRunLooksAcrossTheEdgesOfBuffers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	loc := open(t, dir)
	with := defaults()
	with.sizes = sizes{64, 64}
	q := Query{Pattern: "needle", Max: 5}
	for n := range 200 {
		for _, content := range []string{
			strings.Repeat(".\n", n/2) + strings.Repeat(".", n%2) + "needle",
			strings.Repeat(".", n) + "needle\n",
			"needle" + strings.Repeat("x", 1990+n) + "\r\n",
			strings.Repeat("x", 2010) + "needle" + strings.Repeat("x", 990+n) + "\n",
			strings.Repeat("é", n) + "needle" + strings.Repeat("é", 990+n/2) + "\r\nx\n",
		} {
			if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
			r, err := runWith(t.Context(), loc, q, with)
			if diff := differ(text(newReference(t, q).tree(t, dir)), text(r)); diff != "" || err != nil {
				t.Fatalf("%d: %v %s", n, err, diff)
			}
		}
	}
}

func TestResultsShowNoContextOfWhatTheyDoNotShow(t *testing.T) {
	r := results{query: Query{Context: 3, Max: 1}}
	match := func(n int) Line { return Line{Number: n, Text: "needle", Match: true} }
	r.take("a", []Line{match(1), {Number: 2, Text: "after"}, {Number: 7, Text: "before the next"}, match(8)})
	if !r.More {
		t.Error("a second match in the file is not noted")
	}
	r.More = false
	r.take("b", []Line{{Number: 1, Text: "before"}, match(2)})
	want := Result{Files: []File{{Path: "a", Lines: []Line{match(1), {Number: 2, Text: "after"}}}}, Matches: 1, More: true}
	if diff := cmp.Diff(want, r.Result); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestRunShowsNoContextOfWhatItDoesNotShow(t *testing.T) {
	loc := plant(t, map[string]string{"a": "needle\n", "b": "before\nneedle\n"})
	r, err := Run(t.Context(), loc, Query{Pattern: "needle", Context: 3, Max: 1})
	want := Result{Files: []File{{Path: "a", Lines: []Line{{Number: 1, Text: "needle", Match: true}}}}, Matches: 1, More: true}
	if diff := cmp.Diff(want, r); diff != "" || err != nil {
		t.Errorf("error %v; want -, got +:\n%s", err, diff)
	}
}

// linked makes a tree of one file with many names, in directories of their own so that all workers have some.
func linked(t *testing.T, names int, content string) *confine.Location {
	t.Helper()
	dir := t.TempDir()
	first := filepath.Join(dir, "0", "f")
	err := errors.Join(os.Mkdir(filepath.Dir(first), 0o777), os.WriteFile(first, []byte(content), 0o666))
	for i := 1; i < names && err == nil; i++ {
		name := filepath.Join(dir, fmt.Sprint(i), "f")
		err = errors.Join(os.Mkdir(filepath.Dir(name), 0o777), os.Link(first, name))
	}
	if err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

// heldBy is the most memory that is in use while something is done, in bytes.
func heldBy(do func()) uint64 {
	runtime.GC()
	stop := make(chan struct{})
	var peak uint64
	var watch sync.WaitGroup
	watch.Go(func() {
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	do()
	close(stop)
	watch.Wait()
	return peak
}

// TestRunBoundsMemory searches with all the workers that there may be.
func TestRunBoundsMemory(t *testing.T) {
	const most = 64 << 20
	text := func() string {
		return strings.Repeat("é is a letter, and e\u0301 is too; "+strings.Repeat("words ", 200), 3<<9)
	}
	cases := []struct {
		name    string
		content func() string
		q       Query
		matches int
	}{
		{"it holds little of a long line", func() string { return text() + "needle" }, Query{Pattern: "needle", Max: 50}, 50},
		{"it holds little of one without a match", text, Query{Pattern: "[xy]z", Regex: true, Max: 50}, 0},
		{
			"it holds little of many long matches with context",
			func() string { return strings.Repeat(strings.Repeat("😀", 1990)+"needle\nother\n", 700) },
			Query{Pattern: "ne*dle", Regex: true, Context: 20, Max: 1000},
			1000,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			loc := linked(t, 64, c.content())
			var r Result
			var err error
			held := heldBy(func() { r, err = runWith(t.Context(), loc, c.q, usual(maxWorkers)) })
			if err != nil || r.Matches != c.matches {
				t.Errorf("%d matches, error %v; want %d", r.Matches, err, c.matches)
			}
			if held > most {
				t.Errorf("the heap grew to %d bytes, want at most %d", held, most)
			}
		})
	}
}

// askedDone is a context that tells when somebody waits for its end, and then lets him go on.
type askedDone struct {
	context.Context
	asked func()
}

func (a askedDone) Done() <-chan struct{} {
	a.asked()
	closed := make(chan struct{})
	close(closed)
	return closed
}

func TestWorkerWaitsForItsTurn(t *testing.T) {
	const lines = 900
	loc := plant(t, map[string]string{"f": strings.Repeat(strings.Repeat("x", 1990)+" needle\n", lines)})
	q := Query{Pattern: "needle", Max: 1000}
	p, err := compile(q)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := loc.OpenDir()
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var c *scanner
	var held []int
	ctx := askedDone{t.Context(), func() { held = append(held, c.found.size) }}
	c = newScanner(ctx, &search{Query: q, pattern: p, loc: loc, settings: defaults()})
	c.turn = make(chan struct{}) // Nobody asks for its batch.
	if found := c.scanSeen(dir, "f"); len(found) != lines {
		t.Errorf("found %d lines, want %d", len(found), lines)
	}
	if len(held) != 1 || held[0] < holdBack || held[0] > holdBack+2000 {
		t.Errorf("it waited with %v bytes, want once with just above %d", held, holdBack)
	}
}

func TestRunGivesBackWhatItOpens(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc to count descriptors in")
	}
	loc := plant(t, oddTree())
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := count()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range 1000 {
		ctx := t.Context()
		if i%10 == 0 {
			ctx = cancelled
		}
		if _, err := Run(ctx, loc, Query{Pattern: "TODO", Max: 1 + i%40}); err != nil && i%10 != 0 {
			t.Fatal(err)
		}
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors are open, want %d", after, before)
	}
}

func TestRunSideBySide(t *testing.T) {
	loc := plant(t, oddTree())
	dir, _ := loc.HostPath()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for _, q := range queries()[i*5 : i*5+5] {
				r, err := Run(t.Context(), loc, q)
				if diff := differ(text(newReference(t, q).tree(t, dir)), text(r)); diff != "" || err != nil {
					t.Errorf("%+v: %v %s", q, err, diff)
				}
				ResetSearchers()
			}
		})
	}
	all.Wait()
}

func TestCrewPassesOnAPanic(t *testing.T) {
	defer func() {
		if p := recover(); p != "broken" {
			t.Errorf("recovered %v, want the panic of the goroutine", p)
		}
	}()
	var c crew
	done := make(chan struct{})
	c.run(func() { close(done) }, func() { panic("broken") })
	<-done
	c.wait()
}

func BenchmarkGrep(b *testing.B) {
	// A tree of a few thousand files, in the page cache; nothing of it is in the answer but for the last row.
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	dir := b.TempDir()
	source := strings.Repeat("\tif err := walk(ctx, dir); err != nil {\n\t\treturn fmt.Errorf(\"walk %s: %w\", dir, err)\n\t}\n", 100)
	for i := range 2000 {
		path := filepath.Join(dir, fmt.Sprintf("d%d", i/20), fmt.Sprintf("f%d.go", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(source), 0o666)); err != nil {
			b.Fatal(err)
		}
	}
	loc := open(b, dir)
	for _, c := range []struct {
		name string
		q    Query
	}{
		{"absent literal", Query{Pattern: "zq_absent", Max: 50}},
		{"regex with a literal", Query{Pattern: `\bzq_absent\b`, Regex: true, Max: 50}},
		{"regex without", Query{Pattern: `[A-Z]{3,}_[0-9]{2,}`, Regex: true, Max: 50}},
		{"common literal", Query{Pattern: "return", Max: 50}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(2000 * len(source)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Run(b.Context(), loc, c.q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
