// Package revision names the state of a location by a token: equal tokens mean equal bytes.
//
// A token is opaque to clients; its layout is fixed by the scheme:
//
//	sha256-v1:absent                 nothing is there
//	sha256-v1:file:<64 hex>          SHA-256 of the file's exact bytes
//	sha256-v1:directory:<64 hex>     SHA-256 of a listing of every descendant (see tree.go)
//	sha256-v1:symlink:<64 hex>       SHA-256 of the link's target text, NUL, and the token of what it finally names (see hash.go)
//
// Invariant: a token that [Hasher.Fresh] returns was computed from bytes read during that call. [Hasher.Observe] may
// reuse a digest whose file the operating system reports as unchanged (see memo.go).
//
// Not promised: that a location still has the state that a token names when the token arrives anywhere. Only a
// comparison made under the mutation lock decides that.
//
// Everything exported may be used from several goroutines, except that a [Set] is an ordinary map.
package revision

// Scheme is the name of the token scheme; every token starts with it.
const Scheme = "sha256-v1"

// Token is an opaque name of a location's state. The zero value means that there is none.
type Token string

// AbsentToken is the token of a location where nothing is.
const AbsentToken Token = Scheme + ":absent"

// State says what is at a location.
type State string

// The states of a location.
const (
	Absent    State = "absent"
	File      State = "file"
	Directory State = "directory"
	Symlink   State = "symlink"
	// Unknown carries no token: the revision could not be computed, and a client must forget what it had.
	Unknown State = "unknown"
)

// Revision is the state of one location.
type Revision struct {
	State State `json:"state"`
	Token Token `json:"token,omitempty"`
}

// Set holds the revisions of a call's locations, keyed "path", or "from" and "to".
type Set map[string]Revision
