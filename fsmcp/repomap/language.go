package repomap

import (
	"bytes"
	"path"
)

// Language is one way in which a file is read.
type Language uint8

// The languages of the map. None is any other.
const (
	None Language = iota
	C
	CPP
	Go
	Java
	JavaScript
	Python
	Raku
	Rust
	TSX
	TypeScript

	languages = iota
)

// String is the language's name.
func (l Language) String() string {
	return [languages]string{
		"none", "C", "C++", "Go", "Java", "JavaScript", "Python", "Raku", "Rust", "TSX", "TypeScript",
	}[l]
}

// languageOf tells the language from a file's name. A ".h" file is C until its text is known (see [headerLanguage]).
func languageOf(name string) Language {
	switch path.Ext(name) {
	case ".c", ".h":
		return C
	case ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx":
		return CPP
	case ".go":
		return Go
	case ".java":
		return Java
	case ".js", ".mjs", ".cjs", ".jsx":
		return JavaScript
	case ".py", ".pyi":
		return Python
	case ".raku", ".rakumod", ".rakutest", ".pm6", ".p6", ".pl6":
		return Raku
	case ".rs":
		return Rust
	case ".ts", ".mts", ".cts":
		return TypeScript
	case ".tsx":
		return TSX
	}
	return None
}

// canRead says whether this build can read a language. Without cgo it has but the two readers that are written in Go.
func canRead(l Language) bool { return hasGrammars || l == Go || l == Raku }

// headerLanguage tells a C++ header from a C one by its own text alone, so that what is known of a file does not depend
// on other files. Read as C, most C++ headers are errors from end to end.
func headerLanguage(text []byte) Language {
	for comment := false; len(text) > 0; {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		line, comment = withoutComments(line, comment)
		line = bytes.TrimSpace(line)
		if bytes.Contains(line, []byte("::")) {
			return CPP
		}
		for _, start := range []string{"class ", "namespace ", "template", "using ", "public:", "private:", "protected:"} {
			if bytes.HasPrefix(line, []byte(start)) {
				return CPP
			}
		}
	}
	return C
}

// withoutComments is a line of C without its comments. inside says that a comment is open where it begins, and then
// where it ends.
func withoutComments(line []byte, inside bool) (code []byte, open bool) {
	for {
		if inside {
			_, rest, ended := bytes.Cut(line, []byte("*/"))
			if !ended {
				return code, true
			}
			line, inside = rest, false
		}
		at := bytes.IndexByte(line, '/')
		for at >= 0 && !bytes.HasPrefix(line[at:], []byte("//")) && !bytes.HasPrefix(line[at:], []byte("/*")) {
			code = append(code, line[:at+1]...)
			line = line[at+1:]
			at = bytes.IndexByte(line, '/')
		}
		if at < 0 {
			return append(code, line...), false
		}
		code = append(code, line[:at]...)
		if line[at+1] == '/' {
			return code, false
		}
		line, inside = line[at+2:], true
	}
}

// isHeader says whether a file is there to be included, so that what it defines as static others can refer to.
func isHeader(name string) bool {
	switch path.Ext(name) {
	case ".h", ".hh", ".hpp", ".hxx":
		return true
	}
	return false
}
