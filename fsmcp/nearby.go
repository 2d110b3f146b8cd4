package fsmcp

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/toolkit"
)

// maxNearby bounds the names that are compared with one that does not exist.
const maxNearby = 20_000

// missing adds to the refusal of a path where nothing is what the caller may have meant: which directory of the path
// is missing, that a link leads nowhere, or the one name beside it that differs in white space, case or normal form
// alone (file systems and screenshots have such names; a model types plain ones). Any other error passes.
func (f *FileSystem) missing(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	loc, locErr := f.tree.Root.Resolve("path", path)
	if locErr != nil || loc.Missing() == 0 {
		return err
	}
	defer loc.Close()
	q := confine.Quote(path)
	if loc.Linked {
		return toolkit.Refuse("%s does not exist: it is a symbolic link to something that is missing%w", q, silent{err})
	}
	near := nearby(loc)
	switch {
	case near != "":
		return toolkit.Refuse("%s does not exist; did you mean %s?%w", q, near, silent{err})
	case loc.Missing() > 1:
		names := strings.Split(loc.Rel(), "/")
		there := strings.Join(names[:len(names)-loc.Missing()+1], "/")
		return toolkit.Refuse("%s does not exist: there is no directory %s%w", q, confine.Quote(there), silent{err})
	}
	return err
}

// silent keeps an error for errors.Is and out of the sentence.
type silent struct{ error }

func (silent) Error() string { return "" }

func (s silent) Unwrap() error { return s.error }

// nearby is the path with the one name that could be meant in place of its first missing one, quoted, and escaped where
// it would look like what was sent; empty when there is none or more than one.
func nearby(loc *confine.Location) string {
	entries, err := loc.Parent().Entries()
	if err != nil || len(entries) > maxNearby {
		return ""
	}
	want, found := folded(loc.Name()), ""
	for _, e := range entries {
		if folded(e.Name) != want {
			continue
		}
		if found != "" {
			return ""
		}
		found = e.Name
	}
	if found == "" {
		return ""
	}
	names := strings.Split(loc.Rel(), "/")
	names[len(names)-loc.Missing()] = found
	path := strings.Join(names, "/")
	if escaped := strconv.QuoteToASCII(path); escaped != `"`+path+`"` {
		return confine.Quote(path) + " (" + escaped + ")"
	}
	return confine.Quote(path)
}

// folded is a name without its case, its compatibility forms and the kinds of its white space.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(name))
}
