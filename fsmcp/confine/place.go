package confine

import (
	"errors"
	"fmt"
	"strings"
)

// A place is an absolute path as a list of components. On POSIX the empty list is '/'. On Windows the first component is
// the volume: a drive as 'C:', its letter in upper case, or a share as '\\server\share'.

// top is the part of a place above which nothing is.
func (p platform) top(place []string) []string {
	if p.windows {
		return place[:1]
	}
	return place[:0]
}

// join spells a place as the platform's own functions take it.
func (p platform) join(place []string) string {
	switch {
	case !p.windows:
		return "/" + strings.Join(place, "/")
	case len(place) == 1:
		return place[0] + `\`
	}
	return strings.Join(place, `\`)
}

// within says whether place is root or below it, and gives the components from there. Whole components are compared:
// /srv/root2 is not within /srv/root. On Windows the letter of a drive is compared without regard to case, and nothing is
// within a root without a volume; all else is compared exactly, even where the file system is case-blind: that can only
// deny.
func within(p platform, root, place []string) (rel []string, ok bool) {
	if len(place) < len(root) || p.windows && len(root) == 0 {
		return nil, false
	}
	for i, name := range root {
		if name != place[i] && !(p.windows && i == 0 && isSameDrive(name, place[i])) {
			return nil, false
		}
	}
	return place[len(root):], true
}

func isSameDrive(a, b string) bool {
	return len(a) == 2 && len(b) == 2 && hasDrive(a) && hasDrive(b) && a[0]|0x20 == b[0]|0x20
}

// locate reads a path, or the target of a link, that stands in the place dir. What it names begins at base and goes on
// with names, in which nothing has been followed yet. It fails for a text that names no place that could be judged.
func (p platform) locate(dir []string, text string) (base, names []string, err error) {
	switch {
	case text == "":
		return nil, nil, errors.New("empty path")
	case strings.Contains(text, "\x00"):
		return nil, nil, errors.New("NUL byte in a path")
	case p.windows:
		return locateWindows(dir, text)
	}
	names = strings.FieldsFunc(text, p.isSeparator)
	if len(names) > 0 && strings.HasSuffix(text, "/") {
		names = append(names, ".") // A slash at the end asks for a directory, as "." does.
	}
	if text[0] == '/' {
		return nil, names, nil
	}
	return dir, names, nil
}

// locateWindows takes ".." away by name, as Win32 does with a path and the file system with a link's target: in 'L\..\x',
// L is never looked at.
func locateWindows(dir []string, text string) (base, names []string, err error) {
	text = strings.ReplaceAll(text, "/", `\`)
	volume, rest, err := cutVolume(text)
	switch {
	case err != nil:
		return nil, nil, err
	case volume != "":
		base = []string{volume}
	case len(dir) == 0:
		return nil, nil, errors.New("relative path without a directory")
	case text[0] == '\\':
		base = dir[:1]
	default:
		base = dir
	}
	for name := range strings.SplitSeq(rest, `\`) {
		switch {
		case name == "" || name == ".":
		case name == ".." && len(names) > 0:
			names = names[:len(names)-1]
		case name == "..":
			base = base[:max(1, len(base)-1)]
		case isRenamed(name):
			return nil, nil, fmt.Errorf("segment %s names something else", Quote(name))
		default:
			names = append(names, name)
		}
	}
	return base, names, nil
}

// isRenamed says whether Win32, by which the chase looks, and the file system, by which a target is followed, could
// disagree about what a segment names: dots and spaces at its end, a stream, a device.
func isRenamed(name string) bool {
	return endsInDotOrSpace(name) || strings.Contains(name, ":") || isDevice(name)
}

// cutVolume takes the volume off a path with backslashes only. It is empty for a path that names none.
func cutVolume(path string) (volume, rest string, err error) {
	switch {
	case strings.HasPrefix(path, `\??`):
		return "", "", errors.New("device path")
	case strings.HasPrefix(path, `\\`):
		return cutShare(path)
	case !hasDrive(path):
		return "", path, nil
	case len(path) == 2 || path[2] != '\\':
		return "", "", errors.New("path relative to the working directory of a drive")
	}
	return strings.ToUpper(path[:2]), path[2:], nil
}

// cutShare is cutVolume for '\\server\share\rest'. A device path looks like a share of the server '?' or '.'.
func cutShare(path string) (volume, rest string, err error) {
	server, rest, _ := strings.Cut(path[2:], `\`)
	share, rest, _ := strings.Cut(rest, `\`)
	switch {
	case server == "?" || server == ".":
		return "", "", errors.New("device path")
	case server == "" || share == "" || isRenamed(server) || isRenamed(share):
		return "", "", errors.New("no server and share")
	}
	return `\\` + server + `\` + share, rest, nil
}
