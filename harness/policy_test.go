package harness

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustPolicy(t testing.TB, p Provider, o PolicyOptions) *Policy {
	t.Helper()
	policy, err := NewPolicy(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

// answered says in a word what became of a call, and whether a question of it was one that the rules left unclear.
func answered(t *testing.T, o PolicyOptions, name, arguments string) string {
	t.Helper()
	what := ""
	o.Ask = func(_ context.Context, q Question) Reply {
		if what = "ask"; q.Unclear {
			what = "unclear"
		}
		return Reply{}
	}
	r := &recorder{}
	if result := made(t, mustPolicy(t, r, o), name, arguments); !result.IsError {
		return "allow"
	} else if len(r.batches) > 0 {
		t.Errorf("a call that was refused with %q was made", result.Content)
	}
	if what == "" {
		return "deny"
	}
	return what
}

func TestPolicyRules(t *testing.T) {
	secrets := Rule{Under: "secrets", Decision: Deny}
	everything := Rule{Decision: Allow}
	srcOnly := []Rule{{Under: "src", Decision: Allow}}
	notSecrets := []Rule{secrets, everything}
	tests := []struct {
		name       string
		rules      []Rule
		tool, args string
		want       string
	}{
		{"asks where there is no rule", nil, "x", `{}`, "ask"},
		{"asks where a rule says so", []Rule{{}, everything}, "x", `{}`, "ask"},
		{"allows everything", []Rule{everything}, "x", `{"path":"../a"}`, "allow"},
		{"goes by the first rule", []Rule{{Decision: Deny}, everything}, "x", `{}`, "deny"},
		{"goes by patterns of names", []Rule{{Tool: "fs_*", Decision: Allow}, {Decision: Deny}}, "fs_read", `{}`, "allow"},
		{"minds the whole name", []Rule{{Tool: "fs_*", Decision: Allow}, {Decision: Deny}}, "xfs_read", `{}`, "deny"},

		{"allows below a directory", srcOnly, "x", `{"path":"src/a"}`, "allow"},
		{"allows the directory", srcOnly, "x", `{"path":"./src/"}`, "allow"},
		{"asks outside it", srcOnly, "x", `{"path":"lib/a"}`, "ask"},
		{"tells a name that begins alike", srcOnly, "x", `{"path":"srcs/a"}`, "ask"},
		{"does not follow '..'", srcOnly, "x", `{"path":"src/../a"}`, "unclear"},
		{"does not know where an absolute path is", srcOnly, "x", `{"path":"/src/a"}`, "unclear"},
		{"needs all locations of a move", srcOnly, "x", `{"from":"src/a","to":"lib/a"}`, "ask"},
		{"knows that one outside is enough for that", srcOnly, "x", `{"from":"lib/a","to":".."}`, "ask"},
		{"allows a move within", srcOnly, "x", `{"from":"src/a","to":"src/b"}`, "allow"},
		{"is not sure where one of them is unclear", srcOnly, "x", `{"from":"src/a","to":"src\\b"}`, "unclear"},

		{"denies below a directory", notSecrets, "x", `{"path":"secrets/a"}`, "deny"},
		{"allows elsewhere", notSecrets, "x", `{"path":"secretss/a"}`, "allow"},
		{"denies what an escape spells", notSecrets, "x", `{"pa\u0074h":"se\u0063rets"}`, "deny"},
		{"denies what a string holds", notSecrets, "x", `"{\"path\":\"secrets\"}"`, "deny"},
		{"denies a move out of it", notSecrets, "x", `{"from":"secrets/a","to":"b"}`, "deny"},
		{"denies a move into it from somewhere unclear", notSecrets, "x", `{"from":"..","to":"secrets/b"}`, "deny"},
		{"is not sure of a directory above", notSecrets, "x", `{"path":"."}`, "unclear"},
		{"is not sure of no location", notSecrets, "x", `{}`, "unclear"},
		{"is not sure of a location that is null", notSecrets, "x", `{"path":null}`, "unclear"},
		{"is not sure of a location that is a list", notSecrets, "x", `{"path":["secrets"]}`, "unclear"},
		{"denies one given twice if one is below", notSecrets, "x", `{"path":"secrets","path":"b"}`, "deny"},
		{"is not sure of one given twice", srcOnly, "x", `{"path":"src/a","path":"src/b"}`, "unclear"},
		{"denies one in another case", notSecrets, "x", `{"path":"b","Path":"secrets"}`, "deny"},
		{"is not sure that one in another case counts", srcOnly, "x", `{"Path":"src/a"}`, "unclear"},
		{"takes no other argument for a location", srcOnly, "x", `{"path":"src/a","pattern":"lib/a"}`, "allow"},
		{"is not sure of a directory in another case", notSecrets, "x", `{"path":"Secrets/a"}`, "unclear"},
		{"is not sure of letters that fold alike", notSecrets, "x", `{"path":"ſecrets/a"}`, "unclear"},
		{"is not sure of characters that do not show", notSecrets, "x", `{"path":"sec\u200drets/a"}`, "unclear"},
		{"is not sure of a name that Windows shortens", notSecrets, "x", `{"path":"SECRET~1/a"}`, "unclear"},
		{"is not sure of a dot at the end", notSecrets, "x", `{"path":"secrets./a"}`, "unclear"},
		{"is not sure of a stream", notSecrets, "x", `{"path":"secrets::$INDEX_ALLOCATION/a"}`, "unclear"},
		{"is not sure of half a character", notSecrets, "x", `{"path":"secrets\ud800"}`, "unclear"},
		{"is not sure of an empty path", notSecrets, "x", `{"path":""}`, "unclear"},
		{"denies all the same where no rule would allow", []Rule{secrets, {Decision: Deny}}, "x", `{"path":".."}`, "deny"},
		{"allows all the same where no rule would deny", []Rule{{Under: "src", Decision: Allow}, everything}, "x", `{"path":".."}`, "allow"},
		{"refuses arguments that are no object", []Rule{everything}, "x", `[]`, "deny"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			if got := answered(t, PolicyOptions{Rules: tt.rules}, tt.tool, tt.args); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestPolicyPaths(t *testing.T) {
	rules := []Rule{{Under: "/srv/me/files", Decision: Allow}, {Decision: Deny}}
	links := func(arg string) (string, error) {
		switch {
		case arg == "panic":
			panic("no")
		case strings.HasPrefix(arg, "link"):
			return path.Clean("/etc/" + strings.TrimPrefix(arg, "link")), nil
		case strings.HasPrefix(arg, "new"):
			return "", os.ErrNotExist
		}
		return path.Join("/srv/me/files", arg), nil
	}
	tests := []struct {
		name, base string
		resolve    func(string) (string, error)
		path, want string
	}{
		{"takes an absolute path", "", nil, "/srv/me/files/a", "allow"},
		{"denies another", "", nil, "/srv/me/a", "deny"},
		{"is not sure of one above", "", nil, "/", "unclear"},
		{"is not sure of a relative one without a base", "", nil, "a", "unclear"},
		{"knows where one starts", "/srv/me", nil, "files/a", "allow"},
		{"knows that one starts elsewhere", "/srv/you", nil, "files/a", "deny"},
		{"goes by the text of a link", "/srv/me/files", nil, "link/a", "allow"},
		{"follows a link where it can", "", links, "link/a", "deny"},
		{"follows '..' where it can", "", links, "a/../b", "allow"},
		{"is not sure of what cannot be resolved", "", links, "new", "unclear"},
		{"is not sure of what panics", "", links, "panic", "unclear"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			o := PolicyOptions{Rules: rules, Base: tt.base, Resolve: tt.resolve}
			if got := answered(t, o, "x", `{"path":"`+tt.path+`"}`); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestPolicyRemembers(t *testing.T) {
	const a, ab = `{"path":"a"}`, `{"from":"a","to":"b"}`
	tests := []struct {
		name         string
		first, again Call
		reply        Reply
		asked        int
	}{
		{"asks again unless told otherwise", Call{Name: "x", Arguments: []byte(a)}, Call{Name: "x", Arguments: []byte(a)}, Reply{Allow: true}, 2},
		{"asks once for a location", Call{Name: "x", Arguments: []byte(a)}, Call{Name: "x", Arguments: []byte(`{"path":"./a","content":1}`)}, Reply{Allow: true, Remember: true}, 1},
		{"remembers a no", Call{Name: "x", Arguments: []byte(a)}, Call{Name: "x", Arguments: []byte(a)}, Reply{Remember: true}, 1},
		{"asks for another tool", Call{Name: "x", Arguments: []byte(a)}, Call{Name: "y", Arguments: []byte(a)}, Reply{Allow: true, Remember: true}, 2},
		{"asks for another location", Call{Name: "x", Arguments: []byte(a)}, Call{Name: "x", Arguments: []byte(`{"path":"a/b"}`)}, Reply{Allow: true, Remember: true}, 2},
		{"knows a pair in any order", Call{Name: "x", Arguments: []byte(ab)}, Call{Name: "x", Arguments: []byte(`{"to":"b","from":"a"}`)}, Reply{Allow: true, Remember: true}, 1},
		{"asks for a part of what was granted", Call{Name: "x", Arguments: []byte(ab)}, Call{Name: "x", Arguments: []byte(`{"from":"a"}`)}, Reply{Allow: true, Remember: true}, 2},
		{"asks for the way back", Call{Name: "x", Arguments: []byte(ab)}, Call{Name: "x", Arguments: []byte(`{"from":"b","to":"a"}`)}, Reply{Allow: true, Remember: true}, 2},
		{"goes by all arguments where there is no location", Call{Name: "x", Arguments: []byte(`{"command":"ls"}`)}, Call{Name: "x", Arguments: []byte(`{"command":"rm"}`)}, Reply{Allow: true, Remember: true}, 2},
		{"goes by all arguments where one is unclear", Call{Name: "x", Arguments: []byte(`{"path":"../a"}`)}, Call{Name: "x", Arguments: []byte(`{"path":"../b"}`)}, Reply{Allow: true, Remember: true}, 2},
		{"knows the same arguments again", Call{Name: "x", Arguments: []byte(`{"command":"ls"}`)}, Call{Name: "x", Arguments: []byte(`{ "command": "ls" }`)}, Reply{Allow: true, Remember: true}, 1},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			asked := 0
			p := mustPolicy(t, &recorder{}, PolicyOptions{Ask: func(context.Context, Question) Reply { asked++; return tt.reply }})
			for _, r := range p.ExecuteToolCalls(t.Context(), []Call{tt.first, tt.again}) {
				if r.IsError == tt.reply.Allow {
					t.Errorf("got %+v", r)
				}
			}
			if asked != tt.asked {
				t.Errorf("asked %d times, want %d", asked, tt.asked)
			}
		})
	}
}

// What is allowed stays together and in order, and each refusal stands in its place.
func TestPolicyBatch(t *testing.T) {
	r := &recorder{result: Result{Content: "done"}}
	var questions []Question
	p := mustPolicy(t, r, PolicyOptions{
		Rules: []Rule{{Tool: "read", Decision: Allow}, {Tool: "delete", Decision: Deny}},
		Ask: func(_ context.Context, q Question) Reply {
			if len(r.batches) > 0 {
				t.Error("a call was made before all were judged")
			}
			questions = append(questions, q)
			return Reply{Allow: q.Call.Name == "write"}
		},
	})
	got := outcome(p.ExecuteToolCalls(t.Context(), callsOf("read", "delete", `write "{\"path\": \"a\"}"`, "mkdir", "read", "read 7")))
	want := []string{
		"0 done", "1 !the rules of this host do not allow this call of 'delete'; do without it", "2 done",
		"3 !the person did not allow this call of 'mkdir'; do without it, or ask what to do instead", "4 done",
		"5 !the arguments of 'read' are no object; send one JSON object",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	object := func(s string) json.RawMessage { return json.RawMessage(s) }
	write := Call{ID: "2", Name: "write", Arguments: object(`{"path":"a"}`)}
	wantCalls := [][]Call{{{ID: "0", Name: "read", Arguments: object("{}")}, write, {ID: "4", Name: "read", Arguments: object("{}")}}}
	if diff := cmp.Diff(wantCalls, r.batches); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Question{{Call: write}, {Call: Call{ID: "3", Name: "mkdir", Arguments: object("{}")}}}, questions); diff != "" {
		t.Error(diff)
	}
}

func TestPolicyFailsClosed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tests := []struct {
		name string
		ask  func(context.Context, Question) Reply
		want string
	}{
		{"denies where nobody can be asked", nil, "0 !this call of 'x' needs a person's permission, and there is nobody to ask; do without it"},
		{"takes a panic for a no", func(context.Context, Question) Reply { panic("no") }, "0 !the person did not allow this call of 'x'; do without it, or ask what to do instead"},
		{"takes no reply that comes too late", func(context.Context, Question) Reply { cancel(); return Reply{true, true} }, "0 !this call of 'x' was cancelled before somebody had allowed it"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			r := &recorder{}
			p := mustPolicy(t, r, PolicyOptions{Ask: tt.ask})
			if diff := cmp.Diff([]string{tt.want}, outcome(p.ExecuteToolCalls(ctx, callsOf("x")))); diff != "" || len(r.batches) > 0 {
				t.Errorf("%d calls were made; %s", len(r.batches), diff)
			}
			if tt.ask != nil && len(p.replies) > 0 {
				t.Errorf("remembered %v", p.replies)
			}
		})
	}
}

// One person is asked one question at a time; another batch waits, but not longer than it wants to.
func TestPolicyAsksOneAtATime(t *testing.T) {
	asked, reply := make(chan struct{}), make(chan Reply)
	done := unruly{answer: func(calls []Call) []Result { return make([]Result, len(calls)) }}
	p := mustPolicy(t, done, PolicyOptions{Ask: func(context.Context, Question) Reply { close(asked); return <-reply }})
	first := make(chan []Result, 1)
	go func() { first <- p.ExecuteToolCalls(context.Background(), callsOf("x")) }()
	<-asked
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if got := outcome(p.ExecuteToolCalls(impatient, callsOf("y"))); !strings.Contains(got[0], "was cancelled") {
		t.Errorf("got %q", got)
	}
	second := make(chan []Result, 1)
	go func() { second <- p.ExecuteToolCalls(context.Background(), callsOf("x")) }()
	reply <- Reply{Allow: true, Remember: true}
	if got := append(outcome(<-first), outcome(<-second)...); !cmp.Equal(got, []string{"0 ", "0 "}) {
		t.Errorf("got %q", got)
	}
}

func TestPolicyRefusesRules(t *testing.T) {
	for name, o := range map[string]PolicyOptions{
		"tool '['":               {Rules: []Rule{{Tool: "["}}},
		"under 'a/../b'":         {Rules: []Rule{{}, {Under: "a/../b"}}},
		"there is no decision 3": {Rules: []Rule{{Decision: 3}}},
		"base 'a'":               {Base: "a"},
	} {
		if _, err := NewPolicy(&recorder{}, o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	p := mustPolicy(t, &recorder{}, PolicyOptions{Rules: []Rule{{Under: "./a/", Decision: Allow}}})
	if _, err := p.Tools(t.Context()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("tools: %v", err)
	}
	works(t, p, "x", `{"path":"a/b"}`)
}

// The layers stack: a rule is judged before the fence adds its argument.
func TestPolicyOverAFence(t *testing.T) {
	h, dir := filesHost(t)
	p := mustPolicy(t, mustFence(t, h, "fs"), PolicyOptions{Rules: []Rule{{Under: "d", Decision: Allow}}})
	fails(t, p, "fs_read", `{"path":"a.txt"}`, "nobody to ask")
	fails(t, p, "fs_write", `{"path":"d/b.txt","content":"x"}`, "was expected to be absent")
	works(t, p, "fs_read", `{"path":"d/b.txt"}`)
	works(t, p, "fs_write", `{"path":"d/b.txt","content":"x"}`)
	if got := contentOf(t, dir, "d/b.txt"); got != "x" {
		t.Errorf("the file holds %q", got)
	}
}
