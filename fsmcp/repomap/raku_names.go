package repomap

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func isScope(word string) bool {
	switch word {
	case "my", "our", "unit", "augment", "supersede", "state", "anon":
		return true
	}
	return false
}

func isRoutine(word string) bool {
	switch word {
	case "sub", "method", "submethod", "token", "rule", "regex":
		return true
	}
	return false
}

func isDeclarator(word string) bool {
	switch word {
	case "class", "role", "grammar", "module", "package", "constant", "enum":
		return true
	}
	return isRoutine(word)
}

func rakuKind(declarator string) Kind {
	switch declarator {
	case "sub":
		return FunctionKind
	case "method", "submethod", "token", "rule", "regex":
		return MethodKind
	case "constant":
		return ValueKind
	}
	return TypeKind
}

// declaredName is the name that follows a declarator, and where it stands. Of the sigil of a constant, the ! of a private
// method and the ^ of a meta-method it is free; an operator keeps what it is called, as infix:<plus>. The extension is
// taken from the line itself, since quotes may stand in it.
func declaredName(line, code, declarator string, i int) (int, string) {
	switch declarator {
	case "method", "submethod":
		if code[i] == '!' || code[i] == '^' {
			i++
		}
	case "constant":
		if strings.IndexByte(`$@%&\`, code[i]) >= 0 {
			i++
		}
	}
	n := qualified(code[i:])
	if n == "" || strings.HasPrefix(strings.TrimLeft(code[i+len(n):], " \t"), "=>") {
		return -1, ""
	}
	if isRoutine(declarator) {
		n += extension(line[i+len(n):])
	}
	return i, n
}

// maxExtension is how long the name of an operator may be, in bytes: what has no end is not looked for to the file's.
const maxExtension = 64

// extension is what makes an operator or a variant of a token out of a name: ":<+>", ":sym<+>".
func extension(s string) string {
	rest, ok := strings.CutPrefix(s, ":")
	if !ok {
		return ""
	}
	inner := rest[len(qualified(rest)):]
	for _, pair := range []struct{ open, close string }{{"<", ">"}, {"«", "»"}, {"[", "]"}} {
		if !strings.HasPrefix(inner, pair.open) {
			continue
		}
		end := strings.Index(inner[:min(len(inner), maxExtension)], pair.close)
		if end < 0 {
			return ""
		}
		// infix:«>» and infix:<>> name operators that hold their own closing mark.
		for strings.HasPrefix(inner[end+len(pair.close):], pair.close) {
			end += len(pair.close)
		}
		return s[:len(s)-len(inner)+end+len(pair.close)]
	}
	return ""
}

// wordAt is the word at i and where the next one begins, past white space.
func wordAt(code string, i int) (word string, next int) {
	if i >= len(code) {
		return "", i
	}
	word = identifier(code[i:])
	next = i + len(word)
	rest := strings.TrimLeftFunc(code[next:], unicode.IsSpace)
	if len(rest) == len(code[next:]) {
		return word, len(code) // nothing that a declarator could declare
	}
	return word, len(code) - len(rest)
}

// qualified is the name with which s begins, with its packages: Foo::Bar.
func qualified(s string) string {
	n := len(identifier(s))
	for n > 0 && strings.HasPrefix(s[n:], "::") {
		part := identifier(s[n+2:])
		if part == "" {
			break
		}
		n += 2 + len(part)
	}
	return s[:n]
}

// identifier is the simple name with which s begins. Apostrophes and hyphens belong to it where a letter follows.
func identifier(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if !isWordStart(first) {
		return ""
	}
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if r == '\'' || r == '-' {
			if next, _ := utf8.DecodeRuneInString(s[n+size:]); !isWordStart(next) {
				break
			}
		} else if !isWordStart(r) && !unicode.IsDigit(r) {
			break
		}
		n += size
	}
	return s[:n]
}

func isWordStart(r rune) bool { return r == '_' || r != utf8.RuneError && unicode.IsLetter(r) }
