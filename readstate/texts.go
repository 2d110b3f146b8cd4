package readstate

// The sentences are those of the tools for which the compat package answers, and the same from every tool that asks a
// tracker: whichever a model writes with, it has learned what to do next.
const (
	// ErrUnread means that the session has not seen the file.
	ErrUnread refusal = "File has not been read yet. Read it first before writing to it."
	// ErrChanged means that the file is another than the session has seen.
	ErrChanged refusal = "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it."
	// ErrNoSession means that the call belongs to no session, so that nobody can know what its caller has seen.
	ErrNoSession refusal = "This request belongs to no session, so it is not known whether the file was read. " +
		"Send '_expected-revisions' with the token of 'path' from the answer to your read of it."
)

// refusal is a sentence that a model may be shown, and is itself what errors.Is looks for.
type refusal string

// Error returns the sentence.
func (r refusal) Error() string { return string(r) }

// Refusal returns the sentence.
func (r refusal) Refusal() string { return string(r) }
