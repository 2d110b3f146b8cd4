package toolkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/revision"
)

// tool returns a tool that does what handle does and fails the test when something is reported.
func tool(t *testing.T, handle func(context.Context, *Args) (*Answer, error)) *Tool {
	t.Helper()
	return &Tool{Name: "touch", Handle: handle, Report: func(err error) { t.Errorf("reported: %v", err) }}
}

// foreign is a refusal of another package.
type foreign struct{}

func (foreign) Error() string   { return "at /host/secret: no" }
func (foreign) Refusal() string { return "'a' says no" }

func TestCallAnswers(t *testing.T) {
	set := revision.Set{"path": {State: revision.File, Token: "sha256-v1:file:00"}}
	cases := []struct {
		name   string
		answer *Answer
		err    error
		want   *Result
	}{
		{
			name:   "it gives the text and the revisions of an answer",
			answer: &Answer{Text: "done", Revisions: set},
			want:   &Result{Text: "done", Revisions: set},
		},
		{
			name:   "it gives an empty text as it is",
			answer: &Answer{},
			want:   &Result{},
		},
		{
			name: "it gives a refusal's sentence",
			err:  Refuse("'%s' is missing", "a"),
			want: &Result{Text: "'a' is missing", IsError: true},
		},
		{
			name: "it gives the sentence alone when the refusal is wrapped",
			err:  fmt.Errorf("open /host/secret: %w", Refuse("'a' is missing")),
			want: &Result{Text: "'a' is missing", IsError: true},
		},
		{
			name: "it gives the sentence of another package's refusal",
			err:  fmt.Errorf("open: %w", foreign{}),
			want: &Result{Text: "'a' says no", IsError: true},
		},
		{
			name:   "it drops the answer behind a refusal",
			answer: &Answer{Text: "half", Revisions: set},
			err:    Refuse("no"),
			want:   &Result{Text: "no", IsError: true},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			touch := tool(t, func(context.Context, *Args) (*Answer, error) { return c.answer, c.err })
			got := touch.Call(t.Context(), nil)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestCallHidesFaults(t *testing.T) {
	const plain = "the touch tool failed inside the server; nothing more is known here, the server's log has the details"
	cases := []struct {
		name   string
		handle func(context.Context, *Args) (*Answer, error)
		report string // must be part of what is reported
	}{
		{
			name:   "it reports an error that is no refusal and answers plainly",
			handle: func(context.Context, *Args) (*Answer, error) { return nil, errors.New("open /host/secret") },
			report: "tool touch: open /host/secret",
		},
		{
			name:   "it survives a panic and reports its stack",
			handle: func(context.Context, *Args) (*Answer, error) { panic("index out of range") },
			report: "tool_test.go",
		},
		{
			name:   "it survives a panic with nil",
			handle: func(context.Context, *Args) (*Answer, error) { panic(nil) },
			report: "panic",
		},
		{
			name:   "it survives a handler that gives nothing",
			handle: func(context.Context, *Args) (*Answer, error) { return nil, nil },
			report: "neither an answer nor an error",
		},
		{
			name: "it survives a handler that asks for a parameter which the tool does not declare",
			handle: func(_ context.Context, a *Args) (*Answer, error) {
				return &Answer{Text: a.String("path")}, nil
			},
			report: "no string parameter 'path'",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var reported []string
			touch := tool(t, c.handle)
			touch.Report = func(err error) { reported = append(reported, err.Error()) }
			got := touch.Call(t.Context(), nil)
			if diff := cmp.Diff(&Result{Text: plain, IsError: true}, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			if len(reported) != 1 || !strings.Contains(reported[0], c.report) {
				t.Errorf("reported %q, want one report with %q", reported, c.report)
			}
		})
	}
}

func TestCallTellsACancelledCallFromAFault(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	touch := tool(t, func(ctx context.Context, _ *Args) (*Answer, error) {
		cancel()
		return nil, fmt.Errorf("walk: %w", ctx.Err())
	})
	want := &Result{Text: "the touch call was cancelled before it was done", IsError: true}
	if diff := cmp.Diff(want, touch.Call(ctx, nil)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestRefuseWraps(t *testing.T) {
	cause := errors.New("the cause")
	if err := Refuse("no: %w", cause); !errors.Is(err, cause) {
		t.Errorf("%v does not wrap its cause", err)
	}
}

func TestStructured(t *testing.T) {
	cases := []struct {
		name   string
		result Result
		want   string
	}{
		{
			name:   "it is null without revisions",
			result: Result{Text: "x"},
			want:   `null`,
		},
		{
			name:   "it is null for an empty set",
			result: Result{Revisions: revision.Set{}},
			want:   `null`,
		},
		{
			name: "it holds the scheme and a state and token for each location",
			result: Result{Revisions: revision.Set{
				"to":   {State: revision.File, Token: "sha256-v1:file:00"},
				"from": {State: revision.Absent, Token: revision.AbsentToken},
			}},
			want: `{"revisionScheme":"sha256-v1","revisions":{` +
				`"from":{"state":"absent","token":"sha256-v1:absent"},` +
				`"to":{"state":"file","token":"sha256-v1:file:00"}}}`,
		},
		{
			name:   "it leaves the token of an unknown state out",
			result: Result{Revisions: revision.Set{"path": {State: revision.Unknown}}},
			want:   `{"revisionScheme":"sha256-v1","revisions":{"path":{"state":"unknown"}}}`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(c.result.Structured())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestSchema(t *testing.T) {
	cases := []struct {
		name   string
		params []Param
		want   string
	}{
		{
			name: "it is an empty object without parameters",
			want: `{"type":"object","properties":{},"additionalProperties":false}`,
		},
		{
			name: "it keeps the order, the defaults and the bounds of the parameters",
			params: []Param{
				{Name: "pattern", Type: "string", Description: "text <b> & \"more\"", Required: true},
				{Name: "path", Type: "string", Default: "."},
				{Name: "all", Type: "boolean", Default: false},
				{Name: "context", Type: "integer", Default: 0, Min: new(int64(0)), Max: new(int64(9))},
				{Name: "glob", Type: "string"},
			},
			want: `{"type":"object","properties":{` +
				`"pattern":{"type":"string","description":"text <b> & \"more\""},` +
				`"path":{"type":"string","default":"."},` +
				`"all":{"type":"boolean","default":false},` +
				`"context":{"type":"integer","default":0,"minimum":0,"maximum":9},` +
				`"glob":{"type":"string"}},` +
				`"required":["pattern"],"additionalProperties":false}`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			grep := &Tool{Name: "grep", Params: c.params}
			if diff := cmp.Diff(c.want, string(grep.Schema())); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}
