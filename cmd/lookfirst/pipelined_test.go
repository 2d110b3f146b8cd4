package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pipelined is a call among many.
type pipelined struct {
	line    string
	changes bool
}

// mixedCalls makes calls that get in each other's way: they work on a few names, and what each finds there depends on
// those before it. Some are of the modern era, and some are refused.
func mixedCalls(t testing.TB, random *rand.Rand, n int) []pipelined {
	t.Helper()
	files := []string{"a", "b", "c", "d/a", "d/b"}
	name := func() string { return files[random.IntN(len(files))] }
	var calls []pipelined
	for id := range n {
		var c pipelined
		tool, arguments := "", map[string]any{}
		switch k := random.IntN(12); {
		case k < 3:
			tool, arguments["path"] = "fs_read", name()
		case k < 4:
			tool, arguments["path"] = "fs_stat", name()
		case k < 5:
			tool, arguments["pattern"] = "fs_glob", "*"
		case k < 6:
			tool, arguments["path"] = "fs_list", []string{".", "d"}[random.IntN(2)]
		case k < 8:
			tool, arguments["path"], arguments["content"] = "fs_write", name(), fmt.Sprintf("written by %d\n", id)
		case k < 9:
			tool, arguments["path"], arguments["old-string"], arguments["new-string"] = "fs_edit", name(), "by", fmt.Sprintf("and changed at %d by", id)
		case k < 10:
			tool, arguments["from"], arguments["to"] = "fs_move", name(), name()
		case k < 11:
			tool, arguments["path"] = "fs_delete", name()
		default:
			tool, arguments["path"] = "fs_mkdir", "d"
		}
		c.changes = slices.Contains([]string{"fs_write", "fs_edit", "fs_move", "fs_delete", "fs_mkdir"}, tool)
		c.line = toolCall(t, id, tool, arguments)
		if random.IntN(2) == 0 {
			c.line = modern(c.line)
		}
		calls = append(calls, c)
	}
	return calls
}

// A client that sends 200 calls without waiting is answered what it would have been, had it waited for each answer: the
// same lines, and in an order that a server which makes one call after the other could have given.
func TestPipelinedCalls(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			calls := mixedCalls(t, rand.New(rand.NewPCG(seed, 1)), 200)

			serial := launch(t, newSite(t).command(t))
			serial.ask(hello)
			want := map[string]string{}
			for i, c := range calls {
				want[strconv.Itoa(i)] = timeless(serial.ask(c.line))
			}

			p := launch(t, newSite(t).command(t))
			p.ask(hello)
			var all []string
			for _, c := range calls {
				all = append(all, c.line)
			}
			go func() {
				_, _ = io.WriteString(p.in, strings.Join(all, "\n")+"\n")
				p.in.Close()
			}()
			got := map[string]string{}
			var order []int
			for _, line := range p.rest() {
				id := answerID(t, line)
				got[id] = timeless(strings.TrimSuffix(line, "\n"))
				n, err := strconv.Atoi(id)
				if err != nil {
					t.Fatalf("got %s", line)
				}
				order = append(order, n)
			}
			p.exits()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("one after the other -, all at once +:\n%s", diff)
			}
			keepsItsPlace(t, calls, order)
		})
	}
}

// keepsItsPlace checks that no answer has passed that of a changing call: those of neighbouring reading calls may be in any
// order, because nobody can tell.
func keepsItsPlace(t *testing.T, calls []pipelined, order []int) {
	t.Helper()
	for place, i := range order {
		if !calls[i].changes {
			continue
		}
		for _, earlier := range order[:place] {
			if earlier > i {
				t.Errorf("the answer to %d, which came later, is in front of that to %d: %s", earlier, i, calls[i].line)
			}
		}
		for _, later := range order[place+1:] {
			if later < i {
				t.Errorf("the answer to %d, which came earlier, is behind that to %d: %s", later, i, calls[i].line)
			}
		}
	}
}

var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// timeless makes the times in an answer equal.
func timeless(line string) string { return moment.ReplaceAllString(line, "TIME") }

// Two programs serve one directory, as when a client starts a second one to find out what it speaks: neither is in the
// other's way, and none of their changes is lost.
func TestTwoAtOnce(t *testing.T) {
	s := newSite(t)
	s.put(t, "count", "0\n")
	const each = 20
	both := []*process{launch(t, s.command(t)), launch(t, s.command(t))}
	done := make(chan error, len(both))
	for _, p := range both {
		go func() { done <- p.count(each) }()
	}
	for range both {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got, want := s.get(t, "count"), fmt.Sprintf("%d\n", each*len(both)); got != want {
		t.Errorf("the file holds %q, want %q", got, want)
	}

	// One that only asks, and is gone, leaves the other alone.
	probe, session := launch(t, s.command(t)), launch(t, s.command(t))
	probe.ask(request("0", "server/discover", modernMeta))
	session.ask(request("0", "server/discover", modernMeta))
	probe.gone()
	if got := answerText(t, session.ask(modern(toolCall(t, 1, "fs_write", map[string]any{"path": "new", "content": "x"})))); got != "Wrote 1 bytes to 'new'" {
		t.Errorf("got %q", got)
	}
	session.in.Close()
	session.rest()
	session.exits()
	if diff := cmp.Diff([]string{"count", "new"}, names(t, s.root)); diff != "" {
		t.Errorf("in the root: want -, got +:\n%s", diff)
	}
}

// count adds one to the number in a file, so many times, each time on what it has read, and again where that is refused
// because somebody was faster.
func (p *process) count(times int) error {
	for done := 0; done < times; {
		read := p.ask(modern(toolCall(p.t, 1, "fs_read", map[string]any{"path": "count"})))
		var r called
		if err := decode(read, &r); err != nil {
			return err
		}
		old := r.Result.Content[0].Text
		n, err := strconv.Atoi(strings.TrimSpace(old))
		if err != nil {
			return err
		}
		if worked(p.ask(modern(toolCall(p.t, 2, "fs_write", map[string]any{
			"path": "count", "content": fmt.Sprintf("%d\n", n+1),
			"_expected-revisions": map[string]any{"path": r.Result.Structured.Revisions["path"].Token},
		})))) {
			done++
		}
	}
	return nil
}
