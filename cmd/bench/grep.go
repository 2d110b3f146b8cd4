package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/search"
)

// Our side is a call in this process, as in a running server, with the user and system time that the process takes for it.
// The peer is a process that is started anew for every round and prints its answer into a file, as a server would start
// it in the place of a scan of its own. Both find the tree in the page cache, and take turns within a round. "wall" is the
// median of the rounds' ratios, "CPU" the ratio of the medians of CPU times, which a busy machine disturbs less.

// grepCase is one search, with the peer that it is compared with.
type grepCase struct {
	name    string
	query   search.Query
	peer    []string // arguments for ripgrep, before the pattern
	lines   int      // if not 0, both sides stop after so many
	goal    float64  // the ratio of wall times that is wanted
	goalCPU float64  // and of CPU times; 0 where none is set
}

// unlimited is more matching lines than a tree of these cases has.
const unlimited = 1 << 20

func grepCases() []grepCase {
	sorted := []string{"--sort", "path"}
	literal := append(sorted, "-F")
	ascii := []string{"--no-unicode"}
	asciiSorted := append(sorted, "--no-unicode")
	text := func(p string) search.Query { return search.Query{Pattern: p, Max: unlimited} }
	regex := func(p string) search.Query { return search.Query{Pattern: p, Regex: true, Max: unlimited} }
	return []grepCase{
		{name: "absent literal", query: text("zq_absent_needle"), peer: literal, goal: 0.9, goalCPU: 1},
		{name: "absent literal, frequent first byte", query: text("spin_lock_irqsave_nested"), peer: literal, goal: 0.9, goalCPU: 1},
		{name: "rare literal", query: text("runtimeInitTime"), peer: literal, goal: 0.9, goalCPU: 1},
		{name: "non-ASCII literal", query: text("naïve"), peer: literal, goal: 1},
		{name: "common literal, 50 results", query: search.Query{Pattern: "return", Max: 50}, peer: literal, lines: 50, goal: 1},
		{name: "common literal, 1000 results", query: search.Query{Pattern: "return", Max: 1000}, peer: literal, lines: 1000, goal: 1},
		{name: `regex \bdeprecatedAPI\b`, query: regex(`\bdeprecatedAPI\b`), peer: asciiSorted, goal: 1},
		{name: `regex func \w+Pipe\(`, query: regex(`func \w+Pipe\(`), peer: asciiSorted, goal: 1},
		{name: `regex (?i)needle_absent|zq_gone`, query: regex(`(?i)needle_absent|zq_gone`), peer: asciiSorted, goal: 1},
		{name: `regex TODO\(\w+\)|FIXME|XXXX`, query: regex(`TODO\(\w+\)|FIXME|XXXX`), peer: asciiSorted, goal: 1},
		{name: `regex [A-Z]{5,}_[0-9]{4,}`, query: regex(`[A-Z]{5,}_[0-9]{4,}`), peer: ascii, goal: 1.5},
		{name: `regex \w+\s*=\s*\w+\(\)\(\)$`, query: regex(`\w+\s*=\s*\w+\(\)\(\)$`), peer: ascii, goal: 1.5},
		{name: `regex [a-z]+[0-9]{7,}[a-z]+$`, query: regex(`[a-z]+[0-9]{7,}[a-z]+$`), peer: ascii, goal: 1.5},
		{name: `regex (\w+\s+){4}\d+`, query: regex(`(\w+\s+){4}\d+`), peer: ascii, goal: 1.5},
	}
}

// grepCommand measures searches of the named trees and prints a table.
func grepCommand(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("grep", flag.ContinueOnError)
	rounds := flags.Int("rounds", 9, "timed rounds of each case")
	rg := flags.String("rg", "rg", "the ripgrep to compare with")
	only := flags.String("case", "", "only the cases whose names hold this text")
	cancels := flags.Bool("cancel", false, "only how soon searches end that are cancelled; no tree is needed")
	once := flags.String("once", "", "answer one query, given as JSON, and nothing else")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *cancels {
		return (&grepBench{rounds: *rounds, out: stdout}).cancellation(*only)
	}
	if flags.NArg() == 0 {
		return errors.New("name one or more directories to search")
	}
	if *once != "" {
		return grepOnce(*once, flags.Arg(0), stdout)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b := grepBench{self: self, rg: *rg, rounds: *rounds, out: stdout}
	for _, tree := range flags.Args() {
		if err := b.tree(tree, *only); err != nil {
			return err
		}
	}
	return errors.Join(b.hostile(), b.cancellation(*only))
}

// grepOnce is our side: it answers as the tool does.
func grepOnce(query, tree string, stdout io.Writer) error {
	var q search.Query
	if err := json.Unmarshal([]byte(query), &q); err != nil {
		return err
	}
	root, err := confine.OpenRoot(tree)
	if err != nil {
		return err
	}
	defer root.Close()
	loc, err := root.Resolve("path", ".")
	if err != nil {
		return err
	}
	defer loc.Close()
	r, err := search.Run(context.Background(), loc, q)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, f := range r.Files {
		for _, l := range f.Lines {
			fmt.Fprintf(&b, "%s:%d:%s\n", f.Path, l.Number, l.Text)
		}
	}
	_, err = stdout.Write(b.Bytes())
	return err
}

// grepBench measures on this machine.
type grepBench struct {
	self, rg string
	rounds   int
	out      io.Writer
}

// cost is what a process took.
type cost struct{ wall, cpu time.Duration }

func (b *grepBench) tree(tree, only string) error {
	tree, err := filepath.Abs(tree)
	if err != nil {
		return err
	}
	version, err := exec.Command(b.rg, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s: %w", b.rg, err)
	}
	first, _, _ := strings.Cut(string(version), "\n")
	fmt.Fprintf(b.out, "%s, against %s, medians of %d\n\n", tree, first, b.rounds)
	fmt.Fprintln(b.out, "| case | lines ours / rg | wall x | CPU x | goal | |\n|---|---|---|---|---|---|")
	for _, c := range grepCases() {
		if strings.Contains(c.name, only) {
			if err := b.measure(tree, c); err != nil {
				return err
			}
		}
	}
	fmt.Fprintln(b.out)
	if only == "" {
		if err := b.tiers(tree); err != nil {
			return err
		}
		return b.systemCalls(tree)
	}
	return nil
}

// measure prints one row.
func (b *grepBench) measure(tree string, c grepCase) error {
	sides := []func() (cost, int, error){
		func() (cost, int, error) { return searchHere(tree, c.query) },
		func() (cost, int, error) { return b.theirs(tree, c) },
	}
	costs, lines, err := b.takeTurns(sides)
	if err != nil {
		return err
	}
	wall, cpu := ratios(costs[0], costs[1])
	verdict := "met"
	if wall > c.goal || c.goalCPU > 0 && cpu > c.goalCPU {
		verdict = "MISSED"
	}
	goal := fmt.Sprintf("%.1f", c.goal)
	if c.goalCPU > 0 {
		goal += fmt.Sprintf(", CPU %.1f", c.goalCPU)
	}
	fmt.Fprintf(b.out, "| %s | %d / %d | %.2f | %.2f | %s | %s |\n", strings.ReplaceAll(c.name, "|", `\|`), lines[0], lines[1], wall, cpu, goal, verdict)
	return nil
}

// takeTurns runs every side once to warm up, and then in turn for the timed rounds.
func (b *grepBench) takeTurns(sides []func() (cost, int, error)) (costs [][]cost, lines []int, err error) {
	costs, lines = make([][]cost, len(sides)), make([]int, len(sides))
	for round := range b.rounds + 1 {
		for i, side := range sides {
			c, n, err := side()
			if err != nil {
				return nil, nil, err
			}
			if lines[i] = n; round > 0 {
				costs[i] = append(costs[i], c)
			}
		}
	}
	return costs, lines, nil
}

// ratios compares two sides' rounds.
func ratios(ours, theirs []cost) (wall, cpu float64) {
	var each []float64
	var a, b []time.Duration
	for i := range ours {
		each = append(each, float64(ours[i].wall)/float64(theirs[i].wall))
		a, b = append(a, ours[i].cpu), append(b, theirs[i].cpu)
	}
	return median(each), float64(median(a)) / float64(median(b))
}

func median[T float64 | time.Duration](list []T) T {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
