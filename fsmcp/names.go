package fsmcp

import (
	"strconv"
	"unicode/utf8"

	"lookfirst/fsmcp/confine"
)

// printed is a name or path as an answer shows it, with a slash after a directory. One that would not stay on its line,
// or is not UTF-8, is shown quoted and escaped; the latter cannot be sent back, since an argument is UTF-8.
func printed(name string, k confine.Kind) string {
	if k == confine.Directory {
		name += "/"
	}
	if confine.IsPlain(name) {
		return name
	}
	if !utf8.ValidString(name) {
		return strconv.Quote(name) + " (not UTF-8: no argument can name it)"
	}
	return strconv.Quote(name)
}
