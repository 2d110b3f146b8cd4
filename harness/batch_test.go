package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/toolkit"
)

// callsOf writes a batch as "name arguments", with the ids "0", "1" and so on.
func callsOf(lines ...string) []Call {
	calls := make([]Call, len(lines))
	for i, line := range lines {
		name, arguments, _ := strings.Cut(line, " ")
		calls[i] = Call{ID: fmt.Sprint(i), Name: name, Arguments: json.RawMessage(arguments)}
	}
	return calls
}

// outcome writes results as "id content", with an "!" before an error's.
func outcome(results []Result) []string {
	all := make([]string, len(results))
	for i, r := range results {
		mark := ""
		if r.IsError {
			mark = "!"
		}
		all[i] = r.ToolCallID + " " + mark + r.Content
	}
	return all
}

// counter is a register whose get and peek read it and whose add changes it.
type counter struct {
	value, reads int64
	hold         time.Duration // how long a reading takes
	now, most    atomic.Int64  // readings under way
}

func (c *counter) tools() []*toolkit.Tool {
	tools := named("get", "peek", "add")
	for _, t := range tools[:2] {
		t.ReadOnly, t.Handle = true, c.get
		t.Params = []toolkit.Param{{Name: "n", Type: "integer"}}
	}
	tools[2].Handle = func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
		if c.now.Load() > 0 {
			return nil, toolkit.Refuse("a reading is under way")
		}
		c.value++
		return &toolkit.Answer{Text: fmt.Sprint(c.value)}, nil
	}
	return tools
}

func (c *counter) get(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
	now := c.now.Add(1)
	defer c.now.Add(-1)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
	}
	atomic.AddInt64(&c.reads, 1)
	time.Sleep(c.hold)
	return &toolkit.Answer{Text: fmt.Sprint(c.value)}, nil
}

func TestBatchKeepsTheOrder(t *testing.T) {
	c := &counter{}
	got := outcome(mustHost(t, c.tools()...).ExecuteToolCalls(t.Context(),
		callsOf("get {}", "add {}", "get {}", "peek", "add", "add", "get", "nothing", "get")))
	want := []string{"0 0", "1 1", "2 1", "3 1", "4 2", "5 3", "6 3", "7 !there is no tool 'nothing'; choose one of the tools in the list", "8 3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBatchSideBySide(t *testing.T) {
	distinct := []string{`get {"n":0}`, `peek {"n":1}`, `get {"n":2}`, `get {"n":3}`, `get {"n":4}`, `get {"n":5}`, `get {"n":6}`, `get {"n":7}`}
	tests := []struct {
		name        string
		parallel    int
		calls       []string
		most, reads int64
		took        time.Duration
	}{
		{"runs four at most unless told otherwise", 0, distinct, 4, 8, 2 * time.Second},
		{"runs as many as it is told", 8, distinct, 8, 8, time.Second},
		{"always runs one", -3, distinct, 1, 8, 8 * time.Second},
		{"makes identical calls once", 0, []string{`get {"n":1}`, `get { "n" : 1 }`, `get "{\"n\":1}"`, `get {"n":2}`}, 2, 2, time.Second},
		{"tells no arguments from none", 0, []string{"get", "get {}", `get ""`, "get null", `get " "`}, 1, 1, time.Second},
		{"tells the tools apart", 0, []string{"get", "peek"}, 2, 2, time.Second},
		{"makes them again after a change", 0, []string{"get", "add", "get"}, 1, 2, 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &counter{hold: time.Second}
				h, err := NewHost(HostOptions{Toolkits: []Toolkit{{Tools: c.tools()}}, Parallel: tt.parallel})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				results := h.ExecuteToolCalls(t.Context(), callsOf(tt.calls...))
				took := time.Since(start)
				for i, r := range results {
					if r.IsError || r.ToolCallID != fmt.Sprint(i) || r.Role != "tool" {
						t.Errorf("%d: %+v", i, r)
					}
				}
				if len(results) != len(tt.calls) || c.most.Load() != tt.most || c.reads != tt.reads || took != tt.took {
					t.Errorf("%d results, %d at a time, %d made, %v; want %d, %d, %d, %v", len(results), c.most.Load(), c.reads, took, len(tt.calls), tt.most, tt.reads, tt.took)
				}
			})
		})
	}
}

func TestBatchMakesChangesEachTime(t *testing.T) {
	c := &counter{}
	got := outcome(mustHost(t, c.tools()...).ExecuteToolCalls(t.Context(), callsOf("add {}", "add {}")))
	if diff := cmp.Diff([]string{"0 1", "1 2"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBatchBadInput(t *testing.T) {
	tests := []struct{ name, call, want string }{
		{"takes an object", `get {"n":1}`, "0 0"},
		{"refuses a list", "get []", "0 !the arguments of 'get' are no object; send one JSON object"},
		{"refuses a number", "get 7", "0 !the arguments of 'get' are no object; send one JSON object"},
		{"refuses a string in a string", `get "\"{}\""`, "0 !the arguments of 'get' are no object; send one JSON object"},
		{"refuses what is cut off", `get {"n":1`, "0 !the arguments of 'get' are not valid JSON; send one JSON object"},
		{"refuses what is cut off in a string", `get "{"`, "0 !the arguments of 'get' are not valid JSON; send one JSON object"},
		{"refuses two objects", `get {}{}`, "0 !the arguments of 'get' are not valid JSON; send one JSON object"},
		{"refuses a string that does not end", `get "{}`, "0 !the arguments of 'get' are not valid JSON; send one JSON object"},
		{"refuses bytes that are no text", "get {\"\xff\":1}", "0 !the arguments of 'get' are not valid UTF-8; send one JSON object"},
		{"refuses bytes that are no text in a string", "get \"{\xff}\"", "0 !the arguments of 'get' are not valid UTF-8; send one JSON object"},
		{"leaves a wrong argument to the tool", `get {"n":"x"}`, "0 !'n' is the string 'x'; send an integer"},
		{"leaves one given twice to the tool", `get {"n":1,"n":2}`, "0 !the argument 'n' is given twice"},
		{"answers a call of no name", "", "0 !the call names no tool; send the name of a tool in the list"},
		{"says first that there is no such tool", "gte []", "0 !there is no tool 'gte'; choose one of the tools in the list"},
		{"shows a strange name on one line", "a\nb'\x00", `0 !there is no tool 'a\nb'\x00'; choose one of the tools in the list`},
		{"cuts a long name", strings.Repeat("é", 4000), "0 !there is no tool '" + strings.Repeat("é", 128) + "…'; choose one of the tools in the list"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			c := &counter{}
			got := outcome(mustHost(t, c.tools()...).ExecuteToolCalls(t.Context(), append(callsOf(tt.call), Call{ID: "next", Name: "get"})))
			if len(got) != 2 || !strings.HasPrefix(got[0], tt.want) || got[1] != "next 0" {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := mustHost(t).ExecuteToolCalls(t.Context(), nil); len(got) != 0 {
		t.Errorf("no calls have the results %v", got)
	}
}

func TestBatchSurvivesHandlers(t *testing.T) {
	for name, handle := range map[string]func(){
		"panics":             func() { panic("at the disco") },
		"ends its goroutine": runtime.Goexit,
	} {
		t.Run("it goes on when one "+name, func(t *testing.T) {
			bad := named("bad")[0]
			bad.Report = func(error) {}
			bad.Handle = func(context.Context, *toolkit.Args) (*toolkit.Answer, error) { handle(); return nil, nil }
			c := &counter{}
			got := mustHost(t, append(c.tools(), bad)...).ExecuteToolCalls(t.Context(), callsOf("add", "bad", "add"))
			if len(got) != 3 || got[0].Content != "1" || !got[1].IsError || got[1].ToolCallID != "1" || got[1].Content == "" || got[2].Content != "2" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A tool's own handler cannot panic through its Call; what stands between a provider and its tools can.
func TestBatchSurvivesAPanicOfAProvider(t *testing.T) {
	b := batch{tools: map[string]Tool{"x": {Name: "x"}}, parallel: 1, one: func(_ context.Context, c Call) Result {
		if c.ID == "0" {
			panic("no")
		}
		return Result{Content: "done"}
	}}
	want := []string{"0 !the call of 'x' ended without an answer; it is not known whether it did anything", "1 done"}
	if diff := cmp.Diff(want, outcome(b.run(t.Context(), callsOf("x", "x")))); diff != "" {
		t.Error(diff)
	}
}

func TestBatchCancelled(t *testing.T) {
	c := &counter{}
	ctx, cancel := context.WithCancel(t.Context())
	stop := named("stop")[0]
	stop.Handle = func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
		cancel()
		return &toolkit.Answer{Text: "stopped"}, nil
	}
	got := outcome(mustHost(t, append(c.tools(), stop)...).ExecuteToolCalls(ctx, callsOf("add", "stop", "add", "get")))
	want := []string{"0 1", "1 stopped", "2 !the call of 'add' was cancelled before it was made", "3 !the call of 'get' was cancelled before it was made"}
	if diff := cmp.Diff(want, got); diff != "" || c.value != 1 {
		t.Errorf("added %d times: %s", c.value, diff)
	}
}

// A layer's provider may be anybody's.
func TestBatchOfAnUnrulyProvider(t *testing.T) {
	const failed = "!the provider of the tools failed; it is not known whether the call was made"
	tests := []struct {
		name   string
		answer func(calls []Call) []Result
		want   []string
	}{
		{"gives each result its own id", func([]Call) []Result { return []Result{{ToolCallID: "1", Content: "x"}, {Content: "y"}} }, []string{"0 x", "1 y"}},
		{"answers for too few results", func([]Call) []Result { return []Result{{Content: "x"}} }, []string{"0 " + failed, "1 " + failed}},
		{"answers for too many", func([]Call) []Result { return make([]Result, 3) }, []string{"0 " + failed, "1 " + failed}},
		{"answers for a panic", func([]Call) []Result { panic("no") }, []string{"0 " + failed, "1 " + failed}},
		{"keeps its own calls", func(calls []Call) []Result { calls[0].ID = "x"; return make([]Result, 2) }, []string{"0 ", "1 "}},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			got := execute(t.Context(), unruly{answer: tt.answer}, callsOf("a", "b"))
			if diff := cmp.Diff(tt.want, outcome(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
