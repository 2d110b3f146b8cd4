package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lookfirst/fsmcp/toolkit"
)

// Provider is a set of tools and somebody who makes calls of them: a [Host], a [Remote], or a layer over another provider,
// as [Fence] and [Policy] are (D20). Both methods may be called from several goroutines.
type Provider interface {
	// Tools lists the tools, sorted by name. The caller owns the slice.
	Tools(ctx context.Context) ([]Tool, error)
	// ExecuteToolCalls makes the calls and returns one result for each, in their order. It never fails as a whole: what
	// goes wrong with a call is in its result. It returns when all that it started is over.
	ExecuteToolCalls(ctx context.Context, calls []Call) []Result
}

// Tool is what a model is told of a tool, and what a host may rely on in making calls.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`     // of the arguments, a JSON object
	ReadOnly    bool            `json:"read_only"`  // calls change nothing
	Idempotent  bool            `json:"idempotent"` // the second of two identical calls does nothing more
}

// mayShare says whether neighbouring calls may run side by side, and identical ones once.
func (t Tool) mayShare() bool { return t.ReadOnly && t.Idempotent }

// Call is one call of a tool, as a model asked for it.
type Call struct {
	// ID is repeated in the result and has no other meaning here.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments are a JSON object, or a JSON string that holds one, as some models send it. Nothing, null and an empty
	// string count as {}.
	Arguments json.RawMessage `json:"arguments"`
}

// Result is the outcome of one call. Those of identical calls may share memory: change none in place.
type Result struct {
	Role       string `json:"role"` // always "tool"
	ToolCallID string `json:"tool_call_id"`
	// Content is the answer, or the sentence that says why there is none.
	Content string `json:"content"`
	// Blocks are the content where it is more than one text, as an image is. JSON leaves them out, because each model's
	// interface wants its own form of them; Content then has what there is of text.
	Blocks  []toolkit.Block `json:"-"`
	IsError bool            `json:"is_error"`
	// StructuredContent is a JSON object, or nil (D5).
	StructuredContent json.RawMessage `json:"structured_content,omitempty"`
}

// refused is the result of a call that was not made, or went wrong.
func refused(format string, args ...any) Result {
	return Result{Content: fmt.Sprintf(format, args...), IsError: true}
}

// answering returns the result as that of a call.
func (r Result) answering(c Call) Result {
	r.Role, r.ToolCallID = "tool", c.ID
	return r
}

// Form is how an interface to a model wants to be told of a tool.
type Form func(Tool) any

// OpenAI is the form of a function among the tools of a chat.
func OpenAI(t Tool) any {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	return struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{"function", function{t.Name, t.Description, t.Schema}}
}

// Anthropic is the form of a tool in a request for a message.
func Anthropic(t Tool) any {
	return struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	}{t.Name, t.Description, t.Schema}
}

// ToolsForLLM lists the provider's tools in a form, ready to be encoded as JSON. They are sorted by name, whatever the
// provider's order, so that a model's cache of its prompt holds from one process to the next.
func ToolsForLLM(ctx context.Context, p Provider, form Form) ([]any, error) {
	tools, err := p.Tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	sortTools(tools)
	all := make([]any, len(tools))
	for i, t := range tools {
		all[i] = form(t)
	}
	return all, nil
}

func sortTools(tools []Tool) {
	slices.SortStableFunc(tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
}

// execute has a layer's provider make calls, and holds it to its promise: whatever it does, there is one result a call,
// each under its own id.
func execute(ctx context.Context, p Provider, calls []Call) []Result {
	if len(calls) == 0 {
		return nil
	}
	results := make([]Result, len(calls))
	for i, r := range attempt(ctx, p, calls) {
		results[i] = r.answering(calls[i])
	}
	return results
}

// attempt returns as many results as there are calls. Without that many nobody can tell which is whose, so that none is
// passed on: half of an answer under the wrong call would be taken for the truth.
func attempt(ctx context.Context, p Provider, calls []Call) (results []Result) {
	defer func() {
		reportPanic("provider", recover())
		if len(results) != len(calls) {
			failed := refused("the provider of the tools failed; it is not known whether the call was made")
			results = slices.Repeat([]Result{failed}, len(calls))
		}
	}()
	return p.ExecuteToolCalls(ctx, slices.Clone(calls))
}

// quoted shows a name that a model sent within a sentence.
func quoted(name string) string {
	cut := ""
	if runes := []rune(name); len(runes) > maxToolName {
		name, cut = string(runes[:maxToolName]), "…"
	}
	q := strconv.Quote(name)
	return "'" + strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`) + cut + "'"
}
