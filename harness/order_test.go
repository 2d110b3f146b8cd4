package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lookfirst/fsmcp/toolkit"
)

// store is a file of sorts: set changes what get gives. It fails the test when a call that changes something runs beside
// another one.
type store struct {
	t       *testing.T
	value   atomic.Int64
	readers atomic.Int64
	writers atomic.Int64
}

func (s *store) tools() []*toolkit.Tool {
	get := &toolkit.Tool{Name: "get", Description: "Gives the value.", ReadOnly: true, Handle: s.get}
	set := &toolkit.Tool{Name: "set", Description: "Sets the value.", Params: []toolkit.Param{{Name: "value", Type: "integer"}}, Handle: s.set}
	return []*toolkit.Tool{get, set}
}

func (s *store) get(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
	s.readers.Add(1)
	defer s.readers.Add(-1)
	if s.writers.Load() > 0 {
		s.t.Error("a reading call ran beside a changing one")
	}
	return &toolkit.Answer{Text: strconv.FormatInt(s.value.Load(), 10)}, nil
}

func (s *store) set(_ context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	if s.writers.Add(1) > 1 || s.readers.Load() > 0 {
		s.t.Error("a changing call did not run alone")
	}
	defer s.writers.Add(-1)
	s.value.Store(a.Int("value"))
	return &toolkit.Answer{Text: "set"}, nil
}

// answers returns the text of each answer by its id.
func answers(t *testing.T, lines []string) map[int]string {
	t.Helper()
	texts := map[int]string{}
	for _, line := range lines {
		var a struct {
			ID     int
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil || len(a.Result.Content) != 1 {
			t.Fatalf("%v in %s", err, line)
		}
		texts[a.ID] = a.Result.Content[0].Text
	}
	return texts
}

func getCall(id int) string { return modern(strconv.Itoa(id), "tools/call", `"name":"get",`) }

func setCall(id, value int) string {
	return modern(strconv.Itoa(id), "tools/call", fmt.Sprintf(`"name":"set","arguments":{"value":%d},`, value))
}

// Twenty bursts of a hundred calls, sent without waiting, are answered as if one were made after the other.
func TestServeKeepsTheOrder(t *testing.T) {
	for burst := range 20 {
		random := rand.New(rand.NewPCG(7, uint64(burst)))
		s := &store{t: t}
		var lines []string
		want := map[int]string{}
		value := 0
		for id := range 100 {
			if random.IntN(3) > 0 {
				lines = append(lines, getCall(id))
				want[id] = strconv.Itoa(value)
				continue
			}
			value = id
			lines = append(lines, setCall(id, id))
			want[id] = "set"
		}
		got := answers(t, ask(t, options(t, s.tools()...), lines...))
		for id := range 100 {
			if got[id] != want[id] {
				t.Errorf("burst %d: call %d gave %q, want %q", burst, id, got[id], want[id])
			}
		}
	}
}

func TestServeReadsWhatItWrote(t *testing.T) {
	s := &store{t: t}
	var lines []string
	for i := range 200 {
		lines = append(lines, setCall(2*i, i), getCall(2*i+1))
	}
	got := answers(t, ask(t, options(t, s.tools()...), lines...))
	for i := range 200 {
		if got[2*i+1] != strconv.Itoa(i) {
			t.Errorf("pair %d read %q", i, got[2*i+1])
		}
	}
}

func TestServeReadsSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int64
		release := make(chan struct{})
		tool := named("wait")[0]
		tool.ReadOnly = true
		tool.Handle = func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
			running.Add(1)
			<-release
			return &toolkit.Answer{}, nil
		}
		p := dial(t, options(t, tool))
		const calls = 2*maxSideBySide + 1
		for id := range calls {
			p.send("%s", modern(strconv.Itoa(id), "tools/call", `"name":"wait",`))
		}
		synctest.Wait()
		if got := running.Load(); got != maxSideBySide {
			t.Errorf("%d run at once, want %d", got, maxSideBySide)
		}
		close(release)
		for range calls {
			p.read()
		}
	})
}

func TestServeGoesOnAfterABadHandler(t *testing.T) {
	panicking := named("panicking")[0]
	panicking.Handle = func(context.Context, *toolkit.Args) (*toolkit.Answer, error) { panic("at the disco") }
	s := &store{t: t}
	o := options(t, append(s.tools(), panicking)...)
	panicking.Report = func(error) {} // It is meant to panic.
	got := ask(t, o, modern("0", "tools/call", `"name":"panicking",`), setCall(1, 5), getCall(2))
	all := strings.Join(got, "\n")
	if !strings.Contains(all, "the panicking tool failed inside the server") || !strings.Contains(all, `"text":"5"`) {
		t.Errorf("got %s", all)
	}
}

// A flood of lines is not taken in at once: when what waits is as large as it may be, no more is read until there is room.
func TestServeTakesInOnlySoMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, release := make(chan struct{}), make(chan struct{})
		p := dial(t, options(t, gated(started, release), (&echoTool{}).tool()))
		p.send("%s", modern("0", "tools/call", `"name":"hold",`))
		<-started
		const lines, size = 64, 1 << 20
		text := strings.Repeat("x", size)
		var sent atomic.Int64
		go func() {
			for id := range lines {
				p.send("%s", modern(strconv.Itoa(id+1), "tools/call", `"name":"echo","arguments":{"text":"`+text+`"},`))
				sent.Add(1)
			}
		}()
		time.Sleep(handOver) // The call that holds up the rest keeps the reader for as long.
		synctest.Wait()
		if got := sent.Load(); got < maxHeld/size || got > maxHeld/size+1 {
			t.Errorf("%d lines of 1 MiB were taken in, want %d or one more", got, maxHeld/size)
		}
		close(release)
		for range lines + 1 {
			p.read()
		}
	})
}
