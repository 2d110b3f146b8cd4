package repomap

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
)

// errSkipped means that a file has been left out for what it is: its bytes will not do better next time.
var errSkipped = errors.New("left out")

var errPanicked = errors.New("the reader panicked")

// reader reads files, one at a time. Each worker has its own; close it.
type reader struct {
	grammars *grammars
	parsers
}

// read is what a file of a language says. The text is the file's bytes. A panic of ours costs the map that one file, for
// the goroutine is none that anybody else would save; the operator is told, and nothing is remembered.
func (r *reader) read(l Language, text []byte) (tags *Tags, err error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "map: a file is left out: panic: %v\n%s", p, debug.Stack())
			tags, err = nil, errPanicked
		}
	}()
	if len(text) > maxFile || !isText(text) {
		return nil, errSkipped
	}
	// One byte order mark does not count as text: read does not show it either (D14).
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if l == Raku {
		return scanRaku(string(text)), nil
	}
	if isTooNested(text) {
		return nil, errSkipped
	}
	if l == Go {
		if t, ok := readGo(string(text)); ok {
			return t, nil
		}
	}
	return r.parse(l, string(text))
}
