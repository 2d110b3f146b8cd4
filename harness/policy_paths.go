package harness

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// places returns the locations that a call names, each as "argument=location", and with no location where one is unclear.
func (p *Policy) places(arguments json.RawMessage) []string {
	var places []string
	seen := map[string]bool{}
	s := &scanner{src: arguments}
	err := s.object(0, func(key []byte) error {
		value, err := s.value(1)
		// Decoders that do not mind the case of a key are common, so that "Path" may well be a path, and may not.
		name := strings.ToLower(string(key))
		if err != nil || !slices.Contains([]string{"path", "from", "to"}, name) {
			return err
		}
		places = append(places, name+"="+p.location(value))
		if seen[name] || name != string(key) {
			places = append(places, name+"=")
		}
		seen[name] = true
		return nil
	})
	if err != nil {
		places = append(places, "=") // Nobody knows what follows.
	}
	slices.Sort(places)
	return places
}

// isSure says whether there are locations and each of them is clear.
func isSure(places []string) bool {
	return len(places) > 0 && !slices.ContainsFunc(places, func(at string) bool { return locationOf(at) == "" })
}

func locationOf(place string) string {
	_, location, _ := strings.Cut(place, "=")
	return location
}

// location returns the one spelling of a location by which it is compared, or nothing where it is unclear.
func (p *Policy) location(value []byte) string {
	if !isString(value) {
		return ""
	}
	arg, err := p.resolve(string(text(value)))
	if err != nil || !isClear(arg) {
		return ""
	}
	return p.absolute(arg)
}

// resolve asks the setting. One that panics has given no path, and that is unclear too.
func (p *Policy) resolve(arg string) (physical string, err error) {
	if p.opt.Resolve == nil {
		return arg, nil
	}
	defer func() { reportPanic("resolve", recover()) }()
	return p.opt.Resolve(arg)
}

// absolute is the path from the base on, cleaned.
func (p *Policy) absolute(name string) string {
	if p.opt.Base != "" && !path.IsAbs(name) {
		name = p.opt.Base + "/" + name
	}
	return path.Clean(name)
}

// isClear says whether a path can mean only one place on every system. Where ".." leads depends on links; "\\" and ":"
// separate on Windows, "~" stands in short names there, and it drops dots and spaces at the end of a name.
func isClear(name string) bool {
	if name == "" || !utf8.ValidString(name) || strings.ContainsAny(name, "\\:~\uFFFD") || strings.ContainsFunc(name, unicode.IsControl) {
		return false
	}
	for _, part := range strings.Split(name, "/") {
		if part != "." && strings.TrimRight(part, ". ") != part {
			return false
		}
	}
	return true
}

// under says whether a location is the directory or below it. It is unclear of a location above the directory, for a part
// of what is there is below it.
func under(dir, location string) verdict {
	switch {
	case location == "", path.IsAbs(dir) != path.IsAbs(location):
		return perhaps
	case isBelow(dir, location):
		return yes
	case isBelow(folded(dir), folded(location)), isBelow(folded(location), folded(dir)):
		return perhaps
	}
	return no
}

// isBelow says whether a clean path is a directory's or one below it.
func isBelow(dir, name string) bool {
	return dir == name || dir == "." || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// folded makes paths alike that some file system takes for the same: it ignores case, normal form and characters that do
// not show.
func folded(name string) string {
	shown := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(name))
	return strings.ToLower(strings.ToUpper(shown))
}
