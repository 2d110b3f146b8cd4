package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"lookfirst/harness"
	"lookfirst/readstate"
)

// agentChanges makes the agents work for as long as one likes. A file takes some ten thousand changes before it is longer
// than read_file shows.
var agentChanges = flag.Int("agents", 25, "how many changes each of the eight agents of TestAgents makes")

// mostTries is how often an agent begins anew before it is said that its change will never land. Somebody always lands one,
// so it takes a fault to come near it.
const mostTries = 10_000

// habit is a way to work: what an agent reads and changes with, and what keeps it from changing what it has not seen.
type habit struct {
	name            string
	guard           guard
	client          string // the name that the server is told
	reads, changes  []string
	carries, linked bool // moves the file that is moved; reaches the linked file by its link
}

// guard is what a changing call relies on.
type guard int

const (
	fenced   guard = iota // a fence adds what was last seen of the file
	expects               // the agent sends the revision that it has read
	trusting              // nothing but that the server knows what was read
)

// habits are those of the eight agents: each guard with each vocabulary, and with both.
func habits() [agentCount]habit {
	return [agentCount]habit{
		{name: "fenced fs_", guard: fenced, linked: true, reads: []string{"fs_read"}, changes: []string{"fs_edit", "fs_write"}},
		{name: "fenced file tools", guard: fenced, reads: []string{"read_file"}, changes: []string{"edit_file", "write_file", "multi_edit"}},
		// This client is given its revisions in another place (D5a).
		{name: "fenced, with both, carrying", guard: fenced, client: "claude-code", carries: true, linked: true, reads: []string{"fs_read", "read_file"}, changes: []string{"fs_edit", "fs_write", "edit_file", "write_file"}},
		{name: "expecting fs_", guard: expects, reads: []string{"fs_read"}, changes: []string{"fs_edit", "fs_write"}},
		{name: "expecting file tools", guard: expects, linked: true, reads: []string{"read_file"}, changes: []string{"edit_file", "write_file", "multi_edit"}},
		{name: "trusting fs_", guard: trusting, reads: []string{"fs_read"}, changes: []string{"fs_edit", "fs_write"}},
		{name: "trusting file tools", guard: trusting, linked: true, reads: []string{"read_file"}, changes: []string{"edit_file", "write_file", "multi_edit"}},
		{name: "trusting, with both", guard: trusting, reads: []string{"fs_read", "read_file"}, changes: []string{"fs_edit", "fs_write", "edit_file", "multi_edit"}},
	}
}

// Eight agents on eight connections change the same twenty files, each on what it has read and again where somebody was
// faster. At the end every change that was reported is in the files, once, and nothing else is.
func TestAgents(t *testing.T) {
	for name, open := range transports() {
		t.Run("it loses no update over "+name, func(t *testing.T) {
			s := newSite(t)
			files := putFiles(t, s)
			connect := open(t, s)
			var agents []*agent
			for i, h := range habits() {
				agents = append(agents, newAgent(t, i, h, connect))
			}
			start := time.Now()
			group, ctx := errgroup.WithContext(t.Context())
			for _, a := range agents {
				group.Go(func() error { return a.work(ctx, files, *agentChanges) })
			}
			if err := group.Wait(); err != nil {
				t.Fatal(err)
			}
			for _, a := range agents {
				t.Logf("%-28s %+v", a.name, a.tally)
			}
			t.Logf("in %v", time.Since(start).Round(time.Millisecond)) // not judged
			checkFiles(t, s, files, agents)
		})
	}
}

// agent is one of those at work. It is used by one goroutine.
type agent struct {
	habit
	number int
	tools  harness.Provider
	random *rand.Rand
	wrote  map[string]ledger // what it has landed, by file
	lines  int               // how many it has thought of
	away   bool              // where it has put the file that it carries
	tally  tally
}

// tally is how an agent has fared, for whoever wants to know whether the agents were in each other's way at all.
type tally struct {
	Landed, Carried int // changes, moves
	Stale           int // refusals because a file had changed
	Missing         int // refusals because it had been moved
	Held            int // refusals because another process held the directory for too long
}

func newAgent(t *testing.T, number int, h habit, connect connector) *agent {
	t.Helper()
	a := &agent{habit: h, number: number, random: rand.New(rand.NewPCG(uint64(number), 7)), wrote: map[string]ledger{}}
	a.tools = connect(t, h.client)
	if h.guard == fenced {
		a.tools = fence(t, a.tools)
	}
	return a
}

// fence puts a fence over both vocabularies.
func fence(t *testing.T, p harness.Provider) *harness.Fence {
	t.Helper()
	f, err := harness.NewFence(p, "fs", "")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// work makes so many changes.
func (a *agent) work(ctx context.Context, files []file, changes int) error {
	for range changes {
		f := a.choose(files)
		if err := a.land(ctx, f); err != nil {
			return err
		}
		if a.carries && f.moved && a.random.IntN(2) == 0 {
			if err := a.carry(ctx, f); err != nil {
				return err
			}
		}
	}
	if a.away {
		return a.carry(ctx, files[movedFile])
	}
	return nil
}

// choose prefers a few files, so that the agents meet.
func (a *agent) choose(files []file) file {
	if a.random.IntN(2) == 0 {
		return files[anyOf(a.random, []int{0, linkedFile, movedFile, len(files) - 1})]
	}
	return anyOf(a.random, files)
}

func anyOf[T any](random *rand.Rand, all []T) T { return all[random.IntN(len(all))] }

// land makes one change of a file.
func (a *agent) land(ctx context.Context, f file) error {
	tool := a.tool(f)
	c := a.plan(tool)
	for try := range mostTries {
		path := a.path(f, try)
		text, token, err := a.read(ctx, f, path)
		if err != nil {
			return err
		}
		if token == "" {
			continue // It was not there.
		}
		arguments, err := a.arguments(tool, path, text, c)
		if err != nil {
			return fmt.Errorf("in %s: %w", f.name, err)
		}
		if a.guard == expects {
			arguments["_expected-revisions"] = map[string]string{"path": token}
		}
		landed, err := a.tried(ctx, f, tool, arguments)
		if err != nil {
			return err
		}
		if landed {
			a.tally.Landed++
			a.wrote[f.name] = a.wrote[f.name].and(c)
			return nil
		}
	}
	return fmt.Errorf("agent %d (%s): its %s of %s never lands", a.number, a.name, tool, f.name)
}

// tool chooses one to change the file with. A whole file that is written where nothing is needs no reading (D7), and so
// would come into being a second time when it has just been moved away: without a revision, that file is edited.
func (a *agent) tool(f file) string {
	for {
		tool := anyOf(a.random, a.changes)
		if a.guard != trusting || !f.moved || !strings.Contains(tool, "write") {
			return tool
		}
	}
}

// plan thinks of a change that the tool can make.
func (a *agent) plan(tool string) change {
	c := change{agent: a.number, counts: a.random.IntN(2) == 0}
	both := tool != "fs_edit" && tool != "edit_file" && a.random.IntN(3) == 0
	if !c.counts || both {
		a.lines++
		c.line = a.lines
	}
	return c
}

// path is where the agent looks for a file. The one that is moved may be in two places, and only who carries it knows.
func (a *agent) path(f file, try int) string {
	switch {
	case f.moved && a.carries && a.away, f.moved && !a.carries && try%2 == 1, f.linked && a.linked:
		return f.other
	}
	return f.name
}

// read reads the whole file. Without a token it is not there.
func (a *agent) read(ctx context.Context, f file, path string) (text, token string, err error) {
	tool, arguments := anyOf(a.random, a.reads), map[string]any{"path": path}
	if tool == "read_file" {
		arguments["limit"] = 100_000
	}
	r := ask(ctx, a.tools, tool, arguments)
	if r.IsError {
		return "", "", a.beaten(f, tool, r.Content)
	}
	var revisions structured
	if err := json.Unmarshal(r.StructuredContent, &revisions); err != nil || revisions.Revisions["path"].Token == "" {
		return "", "", fmt.Errorf("%s of %s gives no revision: %s, %w", tool, path, r.StructuredContent, err)
	}
	if text = r.Content; tool == "read_file" {
		text = unnumbered(text)
	}
	return text, revisions.Revisions["path"].Token, nil
}

// ask makes one call, and answers with its result.
func ask(ctx context.Context, p harness.Provider, tool string, arguments map[string]any) harness.Result {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return harness.Result{Content: err.Error(), IsError: true}
	}
	return p.ExecuteToolCalls(ctx, []harness.Call{{ID: "1", Name: tool, Arguments: raw}})[0]
}

// tried makes a changing call. That somebody was faster is no error.
func (a *agent) tried(ctx context.Context, f file, tool string, arguments map[string]any) (landed bool, err error) {
	r := ask(ctx, a.tools, tool, arguments)
	if r.IsError {
		return false, a.beaten(f, tool, r.Content)
	}
	return true, nil
}

// beaten takes a refusal that somebody faster has brought about. Any other is an error: what an agent has read it can
// change, if it is still so.
func (a *agent) beaten(f file, tool, said string) error {
	stale := strings.Contains(said, "has changed since the revision that was expected") || strings.Contains(said, "exists, and was expected to be absent")
	if a.guard == trusting {
		stale = strings.Contains(said, readstate.ErrChanged.Error())
	}
	switch changes := !slices.Contains(a.reads, tool); {
	case f.moved && strings.Contains(said, "does not exist"):
		a.tally.Missing++
	case changes && strings.Contains(said, "another process holds the directory"):
		a.tally.Held++
	case changes && stale:
		a.tally.Stale++
	default:
		return fmt.Errorf("agent %d (%s): %s of %s: %s", a.number, a.name, tool, f.name, said)
	}
	return nil
}

// carry moves the file from where the agent has put it to its other place.
func (a *agent) carry(ctx context.Context, f file) error {
	from, to := f.name, f.other
	if a.away {
		from, to = to, from
	}
	for range mostTries {
		if _, _, err := a.read(ctx, f, from); err != nil {
			return err
		}
		moved, err := a.tried(ctx, f, "fs_move", map[string]any{"from": from, "to": to})
		if err != nil {
			return err
		}
		if moved {
			a.away = !a.away
			a.tally.Carried++
			return nil
		}
	}
	return fmt.Errorf("agent %d (%s): it never gets %s away", a.number, a.name, from)
}
