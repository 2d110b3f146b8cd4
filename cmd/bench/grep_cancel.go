package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/search"
)

// How soon a search ends that is cancelled: every engine is given the worst that is known for it and cancelled at moments
// spread over the time that it would take, and the longest time to its return is printed. On a busy machine most of that is
// waiting for a processor, so the time of processors is printed beside it.

// cancelGoal is the promise.
const cancelGoal = 50 * time.Millisecond

// longestRun bounds the time from which the moments are taken; some of the cases would go on for hours.
const longestRun = 2 * time.Second

// cancelCase is a tree and a query that take long.
type cancelCase struct {
	name    string
	plant   func(dir string) error
	query   search.Query
	backend string // empty for our own scan
}

const hugeText = 64 << 20

func cancelCases() []cancelCase {
	regex := func(p string) search.Query { return search.Query{Pattern: p, Regex: true, Max: 1000} }
	text := func(p string) search.Query { return search.Query{Pattern: p, Max: 1000} }
	almost := strings.Repeat("a", 3999)
	return []cancelCase{
		{name: "one line, absent literal", plant: one(coins), query: text("zq_absent")},
		{name: "one line, a literal that is always nearly there", plant: one(repeated(almost + "b")), query: text(strings.Repeat("a", 4000))},
		{name: "the same in lines", plant: one(repeated(almost + "\n")), query: text(strings.Repeat("a", 4000))},
		{name: "eight such, whose case does not count", plant: one(repeated(strings.Repeat("a", 62) + "e")), query: regex(nearly())},
		{name: "one line, an automaton of too many states", plant: one(coins), query: regex(`(a|b)*a(a|b){20}c`)},
		{name: "the same with many threads", plant: one(coins), query: regex(`(a|b)*a(a|b){900}c`)},
		{name: "the same in lines with a literal", plant: one(coinLines), query: regex(`x(a|b)*a(a|b){900}c`)},
		{name: "an automaton with thousands of beginnings", plant: one(coins), query: regex(`(a|b)*a(a|b){20}c|(x?y?){999}z`)},
		{name: "an automaton of wide characters", plant: one(repeated("aé日😀b")), query: regex(`(\pL|\pS)*日(\pL|\pS){200}\d`)},
		{name: "decomposed text", plant: one(repeated("e\u0301u\u0308 a\u0323\u0302\n")), query: text("éé")},
		{name: "decomposed text in one line", plant: one(repeated("e\u0301u\u0308 a\u0323\u0302")), query: text("éé")},
		{name: "marks alone", plant: one(repeated("\u0323\u0301")), query: text("éé")},
		{name: "a directory of 200,000 entries", plant: entries(200_000), query: text("zq_absent")},
		{name: "a searcher that hangs", plant: searcher("sleep 60"), query: text("zq_absent"), backend: "rg"},
		{name: "a searcher whose child holds the output", plant: searcher("setsid sleep 3"), query: text("zq_absent"), backend: "rg"},
		{name: "a searcher with a long list", plant: searcher(`yes "$dir/one" | head -c 16000000`), query: text("zq_absent"), backend: "rg"},
		{name: "a searcher with a list of odd names", plant: searcher(`echo "$dir/one"; while :; do echo x; echo "$dir/one"; done | head -c 16000000`), query: text("zq_absent"), backend: "rg"},
	}
}

// repeated is a text again and again.
func repeated(s string) func() []byte {
	return func() []byte { return bytes.Repeat([]byte(s), hugeText/len(s)) }
}

// coins is a text of as and bs as they fall.
func coins() []byte {
	b := make([]byte, hugeText)
	seed := uint32(1)
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = "ab"[seed>>31]
	}
	return b
}

// coinLines is the same in lines that begin with an x.
func coinLines() []byte {
	b := coins()
	for i := 0; i < len(b); i += 1000 {
		copy(b[i:], "\nx")
	}
	return b
}

// nearly is eight literals that a text of as with some es has but for a second e.
func nearly() string {
	var list []string
	for i := range 8 {
		list = append(list, strings.Repeat("a", 62-i)+"ee"+strings.Repeat("a", i))
	}
	return "(?i)" + strings.Join(list, "|")
}

func one(content func() []byte) func(string) error {
	return func(dir string) error { return os.WriteFile(filepath.Join(dir, "one"), content(), 0o600) }
}

func entries(n int) func(string) error {
	return func(dir string) error {
		dir = filepath.Join(dir, "many")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		for i := range n {
			f, err := os.Create(filepath.Join(dir, strconv.Itoa(i*7919%n)))
			if err != nil {
				return err
			}
			f.Close()
		}
		return nil
	}
}

// searcher puts a script in the place of ripgrep.
func searcher(body string) func(string) error {
	return func(dir string) error {
		script := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 1; exit; fi\nfor dir; do :; done\n" + body + "\n"
		path := filepath.Join(dir, "searcher")
		return errors.Join(os.WriteFile(path, []byte(script), 0o700), os.Setenv("MCP_FS_RG", path), one(func() []byte { return []byte("x\n") })(dir))
	}
}

// cancellation prints how long searches go on that were cancelled.
func (b *grepBench) cancellation(only string) error {
	defer os.Unsetenv("MCP_FS_RG")
	defer os.Unsetenv("MCP_FS_GREP_BACKEND")
	fmt.Fprintf(b.out, "| cancelled at %d moments | longest until it returned, ms | most CPU until then, ms | goal | |\n|---|---|---|---|---|\n", b.rounds)
	for _, c := range cancelCases() {
		if !strings.Contains(c.name, only) {
			continue
		}
		worst, err := b.worstCancel(c)
		if err != nil {
			return err
		}
		verdict := "met"
		if worst.wall > cancelGoal {
			verdict = "MISSED"
		}
		fmt.Fprintf(b.out, "| %s | %.1f | %.1f | %d | %s |\n", c.name, worst.wall.Seconds()*1000, worst.cpu.Seconds()*1000, cancelGoal.Milliseconds(), verdict)
	}
	fmt.Fprintln(b.out)
	return nil
}

func (b *grepBench) worstCancel(c cancelCase) (worst cost, err error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return cost{}, err
	}
	defer os.RemoveAll(dir)
	if err := c.plant(dir); err != nil {
		return cost{}, err
	}
	os.Setenv("MCP_FS_GREP_BACKEND", c.backend)
	whole, _, err := cancelledAfter(dir, c.query, longestRun)
	if err != nil {
		return cost{}, err
	}
	for i := range b.rounds {
		_, late, err := cancelledAfter(dir, c.query, whole*time.Duration(2*i+1)/time.Duration(2*b.rounds))
		if err != nil {
			return cost{}, err
		}
		worst.wall, worst.cpu = max(worst.wall, late.wall), max(worst.cpu, late.cpu)
	}
	return worst, nil
}

// cancelledAfter searches and cancels after a time. It returns how long the search took, and how much of that was after it
// was cancelled.
func cancelledAfter(dir string, q search.Query, after time.Duration) (took time.Duration, late cost, err error) {
	root, err := confine.OpenRoot(dir)
	if err != nil {
		return 0, cost{}, err
	}
	defer root.Close()
	loc, err := root.Resolve("path", ".")
	if err != nil {
		return 0, cost{}, err
	}
	defer loc.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type moment struct {
		at  time.Time
		cpu time.Duration
	}
	cancelled := make(chan moment, 1)
	begin := time.Now()
	defer time.AfterFunc(after, func() { cancelled <- moment{time.Now(), ownCPU()}; cancel() }).Stop()
	_, err = search.Run(ctx, loc, q)
	end := moment{time.Now(), ownCPU()}
	if err != nil && ctx.Err() == nil {
		return 0, cost{}, err
	}
	select {
	case then := <-cancelled:
		late = cost{wall: max(end.at.Sub(then.at), 0), cpu: end.cpu - then.cpu}
	default:
	}
	return end.at.Sub(begin), late, nil
}
