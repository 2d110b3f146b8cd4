package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// How soon a cancelled search ends is a matter of how often it looks at its context, and of what it does after a look that
// says so. Both are counted here, in bytes and looks, and not taken by a clock.

// lookedAt is a context that counts the looks at it, and ends with one of them.
type lookedAt struct {
	context.Context
	cancel context.CancelFunc
	looks  atomic.Int64
	last   int64 // the look that ends it; 0 for none
}

func newLookedAt(t testing.TB, last int64) *lookedAt {
	ctx, cancel := context.WithCancel(t.Context())
	return &lookedAt{Context: ctx, cancel: cancel, last: last}
}

func (l *lookedAt) Err() error {
	if l.looks.Add(1) == l.last {
		l.cancel()
	}
	return l.Context.Err()
}

// coins is a text of as and bs as they fall.
func coins(n int) []byte {
	b := make([]byte, n)
	seed := uint32(1)
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = "ab"[seed>>31]
	}
	return b
}

func TestAutomatonLooksAtItsContext(t *testing.T) {
	text := coins(1 << 20)
	cases := []struct {
		name, pattern string
		most          int // bytes between two looks
	}{
		{"it looks while it makes new states", `(a|b)*a(a|b){20}c`, 600},
		{"it looks more often when they are large", `(a|b)*a(a|b){900}c`, 60},
		{"it looks more often when many threads begin everywhere", `(a|b)*a(a|b){20}c|(x?y?){999}z`, 10},
		{"it looks more often when its characters are wide", `(\pL|\pS)*a(\pL|\pS){900}\d`, 60},
	}
	const looks = 50
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx := newLookedAt(t, looks)
			a := newAutomaton(mustProgram(t, c.pattern), &watch{ctx: ctx})
			s, at := a.run(a.begin, text, 0)
			if s != stopped || at > looks*c.most {
				t.Errorf("ended in state %#x after %d bytes, want stopped within %d", s, at, looks*c.most)
			}
			for line := range 100 { // It has nothing more to do with the lines that follow.
				if s, _ := a.run(a.begin, text[line:], 0); s != stopped {
					t.Fatalf("line %d ends in state %#x, want stopped", line, s)
				}
			}
			if n := ctx.looks.Load(); n != looks {
				t.Errorf("looked %d times, want %d", n, looks)
			}
		})
	}
	t.Run("it does not work out where threads begin once cancelled", func(t *testing.T) {
		w := &watch{ctx: newLookedAt(t, 1)}
		w.look()
		if a := newAutomaton(mustProgram(t, `\pL`), w); len(a.states) > 2 {
			t.Errorf("made %d states, want only those in which it begins and idles", len(a.states))
		}
	})
}

func TestSeekerLooksAtItsContext(t *testing.T) {
	almost := []byte(strings.Repeat(strings.Repeat("a", 3999)+"e", 50))
	folded := []literal{}
	for i := range 8 {
		folded = append(folded, literal{text: strings.Repeat("a", 62-i) + "ee" + strings.Repeat("a", i), fold: true})
	}
	cases := []struct {
		name string
		set  []literal
		most int // bytes between two looks
	}{
		{"it looks while it compares a long literal", []literal{{text: strings.Repeat("a", 4000)}}, 200},
		{"it looks while it compares several", folded, 2000},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx := newLookedAt(t, 0)
			if newSeeker(strands(c.set), &watch{ctx: ctx}).in(almost) {
				t.Error("found what is not there")
			}
			if n := int(ctx.looks.Load()); n < len(almost)/c.most {
				t.Errorf("looked %d times, want at least %d", n, len(almost)/c.most)
			}
			ctx = newLookedAt(t, 3)
			k := newSeeker(strands(c.set), &watch{ctx: ctx})
			k.reset()
			if at, _ := k.find(almost, 0); at >= 0 || ctx.looks.Load() != 3 {
				t.Errorf("found %d after %d looks, want nothing after 3", at, ctx.looks.Load())
			}
		})
	}
}

func TestCleanLooksAtItsContext(t *testing.T) {
	const size = 1 << 20
	for _, part := range []string{"e\u0301", "e\u0301u\u0308 a\u0323\u0302", "ééé é\n", "日本"} {
		text := []byte(strings.Repeat(part, size/len(part)))
		ctx := newLookedAt(t, 0)
		if _, ok := (&cleaner{watch: &watch{ctx: ctx}}).clean(text); !ok || ctx.looks.Load() < size/normalAtOnce {
			t.Errorf("%s: %v after %d looks, want %d", part, ok, ctx.looks.Load(), size/normalAtOnce)
		}
		ctx = newLookedAt(t, 3)
		if _, ok := (&cleaner{watch: &watch{ctx: ctx}}).clean(text); ok || ctx.looks.Load() != 3 {
			t.Errorf("%s: %v after %d looks, want none after 3", part, ok, ctx.looks.Load())
		}
	}
}

func TestScannerLooksAtItsContext(t *testing.T) {
	random := string(coins(8 << 20))
	lines := strings.ReplaceAll(random, "abababab", "\nx")
	cases := []struct {
		name, content string
		q             Query
		most          int // bytes between two looks
	}{
		{"it looks in a line that does not fit", random, Query{Pattern: "absent"}, largestBuffer},
		{"it looks in one that has matched", "needle" + random, Query{Pattern: "needle"}, largestBuffer / 2},
		{"it looks in one that is searched by the automaton", "absent" + random, Query{Pattern: "absent.{900}c", Regex: true}, largestBuffer},
		{"it looks between pieces of lines", lines, Query{Pattern: `[ax]c`, Regex: true}, largestBuffer},
		{"it looks in lines that have a literal in vain", lines, Query{Pattern: `x(a|b)*a(a|b){900}c`, Regex: true}, 60},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.q.Max = 50
			loc := plant(t, map[string]string{"f": c.content})
			file, err := loc.OpenBelow("f")
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			p, err := compile(c.q)
			if err != nil {
				t.Fatal(err)
			}
			// Two thirds of the looks that there must be, so that it ends well before the file does.
			ctx := newLookedAt(t, int64(min(50, len(c.content)*2/3/c.most)))
			_, err = newScanner(ctx, &search{Query: c.q, pattern: p, loc: loc, settings: defaults()}).scanOpen(file)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want %v", err, context.Canceled)
			}
			if n := ctx.looks.Load(); n > ctx.last+2 {
				t.Errorf("looked %d times, want no more than 2 after the %dth", n, ctx.last)
			}
		})
	}
}

func TestSearcherListLooksAtItsContext(t *testing.T) {
	var output strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&output, "/r/%d\n", i)
	}
	cases := []struct{ name, output string }{
		{"it looks in a long list", output.String()},
		{"it looks in one of odd names", strings.Repeat("/r/one\nx\n", 1000)},
	}
	s := &search{loc: plant(t, nil)}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx := newLookedAt(t, 3)
			list, v := s.judge(ctx, ran{started: true, exited: true, output: c.output}, "/r")
			if list != nil || v != noVerdict || ctx.looks.Load() > 5 {
				t.Errorf("list of %d, verdict %v after %d looks, want none soon after 3", len(list), v, ctx.looks.Load())
			}
		})
	}
}

func TestSearcherIsNotWaitedForWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	never := make(chan error)
	defer close(never)
	err := waitFor(ctx, func() error {
		cancel()
		return <-never
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestRunEndsWhenCancelled compares no times: to their ends, these searches would take hours.
func TestRunEndsWhenCancelled(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), coins(8<<20), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	loc := open(t, dir)
	for _, pattern := range []string{`(a|b)*a(a|b){900}c`, `(a|b)*a(a|b){400}c|(x?y?){999}z`} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := Run(ctx, loc, Query{Pattern: pattern, Regex: true, Max: 50}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: error %v, want %v", pattern, err, context.DeadlineExceeded)
		}
		cancel()
	}
}
