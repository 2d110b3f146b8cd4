package toolkit

import (
	"fmt"

	"lookfirst/fsmcp/revision"
)

// Answer is what a handler gives back when its call worked.
type Answer struct {
	// Text is the answer in words. It must be valid UTF-8 and may be empty.
	Text string
	// Blocks are the answer where it is more than one text; then Text is not used.
	Blocks []Block
	// Revisions are the states of the call's locations after it. If nil, the tool reports none.
	Revisions revision.Set
	// Done, if not nil, takes back the memory that Text lies in.
	Done func()
}

// Result is what a caller gets back, whatever happened.
type Result struct {
	// Text is the answer, or the sentence that says why there is none. Beside Blocks it is what there is of text in them.
	Text string
	// Blocks are the answer's content where it is more than one text, else nil. An error has none.
	Blocks []Block
	// IsError says that the call did not do what it was asked.
	IsError bool
	// Revisions are those of the [Answer]. An error carries none.
	Revisions revision.Set
	// Done is that of the [Answer]. A caller who knows that nobody looks at Text or a part of it any more, as when it has
	// been encoded, may call it, once. It never must: what is not taken back is garbage like all else.
	Done func()
}

// Structured returns the structured content that goes with the text, ready to be encoded as JSON, or nil where there
// are no revisions (D5).
func (r *Result) Structured() any {
	if len(r.Revisions) == 0 {
		return nil
	}
	return struct {
		Scheme    string       `json:"revisionScheme"`
		Revisions revision.Set `json:"revisions"`
	}{revision.Scheme, r.Revisions}
}

// Refusal is an error that a model may act on: one sentence saying what is wrong and what to send instead. Errors of
// other packages count as refusals too when they have the method Refusal.
type Refusal struct {
	err error
}

// Refuse makes a [Refusal]. The sentence starts in lower case unless it starts with a name, has no full stop, and names
// an argument as the caller wrote it, in single quotes. With %w it wraps as [fmt.Errorf] does.
func Refuse(format string, args ...any) error {
	return &Refusal{fmt.Errorf(format, args...)}
}

// Error returns the sentence.
func (r *Refusal) Error() string { return r.err.Error() }

// Refusal returns the sentence.
func (r *Refusal) Refusal() string { return r.err.Error() }

// Unwrap lets [errors.Is] see what %w wrapped.
func (r *Refusal) Unwrap() error { return r.err }
