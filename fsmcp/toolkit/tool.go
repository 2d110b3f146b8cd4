// Package toolkit turns the outcome of a handler into a result: whatever goes wrong in a call, the model gets one
// sentence to act on, and never a protocol error.
//
// A [Tool] is a name, a table of parameters and a handler. [Tool.Call] reads the arguments strictly against the table,
// runs the handler and makes a [Result] of its [Answer] or its error:
//
//	arguments ──decode──► Args ──Handle──► Answer ─────────► Result (text, revisions)
//	    │                            └───► refusal ────────► Result (its sentence, IsError)
//	    │                            └───► error or panic ─► Result (a plain sentence, IsError), details to Report
//	    └── a fault in them ───────────────────────────────► Result (a sentence naming the argument, IsError)
//
// Invariant: an argument means the same to everyone who reads the call. Names are compared byte for byte, a name given
// twice is refused, and so is text that decoders repair in different ways (lone surrogates, bytes that are not UTF-8),
// so that a guard in front of the server judges the very file that a handler opens.
//
// Not promised: that a string is a usable path. Strings may hold NUL and "..": what a path may be is the business of
// package confine.
//
// A Tool is not changed by use, so one Tool may serve any number of calls at once if its Handle can.
package toolkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
)

// Tool is one thing a model can ask for.
type Tool struct {
	// Name is the tool's name without a prefix, as "read".
	Name string
	// Description tells a model in one paragraph what the tool does and when to use it.
	Description string
	// Params are the parameters in the order in which the schema lists them.
	Params []Param
	// ReadOnly says that calls change nothing, may run side by side, and may be answered once for several identical
	// ones. It is a claim about Handle, which hosts rely on.
	ReadOnly bool
	// Handle does the work. Its error is a refusal (see [Refuse]), or else a fault of ours or of the machine, of which
	// the model learns only that there was one. Exactly one of its results is nil.
	Handle func(ctx context.Context, a *Args) (*Answer, error)
	// Faults words what is wrong with the arguments of a call, given at least one fault, in the order in which they were
	// found. If nil, the answer is the sentence of the one that matters most.
	Faults func([]Fault) string
	// Report is told every error that is not a refusal, and of a panic with its stack, before Call returns. If nil,
	// they go to standard error. Tests set it to t.Error, so that a panic behind a plain answer fails them.
	Report func(error)
}

// Param describes one parameter of a tool.
type Param struct {
	// Name is compared byte for byte.
	Name string
	// Type is "string", "integer", "boolean" or "array".
	Type string
	// Items are the parameters of each object in a list, which an argument of type array is.
	Items []Param
	// Description tells a model what to send.
	Description string
	// Required parameters are refused when missing or null.
	Required bool
	// Default is what [Args] gives for an optional parameter that was not sent: a string, an int or int64, or a bool
	// after Type. If nil, the zero value, and the schema names no default.
	Default any
	// Min and Max bound an integer, both ends included. If nil, the bounds are those of an int64.
	Min, Max *int64
}

// Call runs the tool with the arguments of one tool call, as they stood in the message: a JSON object, or nothing or
// null, which count as {}. It never panics and never returns nil; what went wrong is in the result (D3).
func (t *Tool) Call(ctx context.Context, raw json.RawMessage) *Result {
	args, err := decode(t, raw)
	if err != nil {
		return t.failed(ctx, err)
	}
	answer, err := t.handle(ctx, args)
	if err != nil {
		return t.failed(ctx, err)
	}
	if answer.Blocks != nil {
		return &Result{Text: textOf(answer.Blocks), Blocks: answer.Blocks, Revisions: answer.Revisions, Done: answer.Done}
	}
	return &Result{Text: answer.Text, Revisions: answer.Revisions, Done: answer.Done}
}

// handle runs the handler and is the one place where a panic of ours ends: one call fails, the session goes on.
func (t *Tool) handle(ctx context.Context, args *Args) (answer *Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	answer, err = t.Handle(ctx, args)
	if err == nil && answer == nil {
		err = errors.New("the handler returned neither an answer nor an error")
	}
	return answer, err
}

// failed makes the result of a call that did not work. Only a refusal's own sentence reaches the model: any other error
// may hold host paths, and names nothing that a model could change.
func (t *Tool) failed(ctx context.Context, err error) *Result {
	var refusal interface {
		error
		Refusal() string
	}
	if errors.As(err, &refusal) {
		return &Result{Text: refusal.Refusal(), IsError: true}
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return &Result{Text: fmt.Sprintf("the %s call was cancelled before it was done", t.Name), IsError: true}
	}
	t.report(fmt.Errorf("tool %s: %w", t.Name, err))
	text := fmt.Sprintf("the %s tool failed inside the server; nothing more is known here, the server's log has the details", t.Name)
	return &Result{Text: text, IsError: true}
}

func (t *Tool) report(err error) {
	if t.Report != nil {
		t.Report(err)
		return
	}
	fmt.Fprintln(os.Stderr, err)
}
