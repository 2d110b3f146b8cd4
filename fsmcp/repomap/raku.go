package repomap

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Raku has no tree-sitter grammar: its declarations change how what follows is read. The scanner looks for declarations
// line by line, past everything that is no code: Pod, comments, quotes, heredocs. It is a heuristic, and misses on
// purpose what would take a parser: plain quotes over several lines are code from their second line on, the bodies of
// rx/…/ and m/…/ are code, and a # in a character class of a regex ends its line.

// maxRescans bounds how often the rest of a file is read again because a quote in it has no end. After that every quote
// ends with its line, or a file of nothing else would take its length squared.
const maxRescans = 16

// rakuScanner reads one file.
type rakuScanner struct {
	lines   []string
	at      int    // the current line
	pod     string // the name of the Pod block that is open
	inPod   bool   // a Pod paragraph is open, which ends at an empty line
	heredoc []string
	quote   quote
	rescans int

	tags    Tags
	uses    []string // names referred to, in order, repeated
	resume  int      // the line after that of the open quote's beginning
	defined int      // how many definitions, names and modules there were at the end of that line
	named   int
	modules int
}

func scanRaku(text string) *Tags {
	s := &rakuScanner{lines: strings.Split(text, "\n")}
	for s.at = 0; s.at < len(s.lines); s.at++ {
		if !s.line(strings.TrimSuffix(s.lines[s.at], "\r")) {
			break
		}
		if s.at == len(s.lines)-1 && s.quote.open && !s.quote.comment {
			s.rescan()
		}
	}
	s.tags.References = counted(s.uses)
	return &s.tags
}

// line takes in one line, and says whether the file goes on.
func (s *rakuScanner) line(line string) bool {
	trimmed := strings.TrimSpace(line)
	switch {
	case s.pod != "":
		if word, name := podDirective(trimmed); word == "end" && name == s.pod {
			s.pod = ""
		}
		return true
	case s.quote.open:
	case len(s.heredoc) > 0:
		if trimmed == s.heredoc[0] {
			s.heredoc = s.heredoc[1:]
		}
		return true
	default:
		if word, name := podDirective(trimmed); word != "" || s.inPod {
			return s.podLine(word, name, trimmed)
		}
	}
	was := s.quote.open
	code := s.blank(line)
	s.declarations(line, code)
	if s.quote.open && !was {
		s.resume, s.defined, s.named, s.modules = s.at, len(s.tags.Definitions), len(s.uses), len(s.tags.Modules)
	}
	return true
}

// podDirective is the word after the = with which a line of Pod begins, and the name after it.
func podDirective(line string) (word, name string) {
	rest, ok := strings.CutPrefix(line, "=")
	if !ok || rest == "" || !unicode.IsLetter(rune(rest[0])) {
		return "", ""
	}
	fields := strings.Fields(rest)
	if len(fields) > 1 {
		name = fields[1]
	}
	return fields[0], name
}

// podLine takes in a line of Pod that is outside a block, and says whether the file goes on.
func (s *rakuScanner) podLine(word, name, line string) bool {
	switch {
	case word == "finish":
		return false
	case word == "begin":
		s.pod, s.inPod = name, false
	case line == "":
		s.inPod = false
	default:
		s.inPod = true
	}
	return true
}

// rescan goes back to the line after the one on which the quote was opened that has no end, as if it had ended there.
func (s *rakuScanner) rescan() {
	s.rescans++
	s.quote = quote{}
	s.heredoc, s.pod, s.inPod = nil, "", false
	s.tags.Definitions = s.tags.Definitions[:s.defined]
	s.uses = s.uses[:s.named]
	s.tags.Modules = s.tags.Modules[:s.modules]
	s.at = s.resume
}

// counted turns names in the order of their appearance into references.
func counted(names []string) []Reference {
	at := make(map[string]int, len(names)/4)
	var refs []Reference
	for _, n := range names {
		i, ok := at[n]
		if !ok {
			i = len(refs)
			at[n] = i
			refs = append(refs, Reference{Name: n})
		}
		refs[i].Count++
	}
	return refs
}

// declarations finds what a line declares and refers to. The code is the line with everything else blanked.
func (s *rakuScanner) declarations(line, code string) {
	declared := -1 // where the name begins that was declared last
	start := true  // a statement may begin here
	for i := 0; i < len(code); {
		r, size := utf8.DecodeRuneInString(code[i:])
		switch {
		case r == ';' || r == '{' || r == '}':
			start = true
			i += size
		case unicode.IsSpace(r):
			i += size
		case isWordStart(r):
			if start {
				if at := s.declaration(line, code, i); at >= 0 {
					declared = at
				}
			}
			start = false
			end := i + len(qualified(code[i:]))
			if i != declared {
				s.reference(code, i, end)
			}
			i = end
		default:
			start = false
			i += size
		}
	}
}

// reference notes a name that is called, sent, qualified or capitalised.
func (s *rakuScanner) reference(code string, start, end int) {
	n := code[start:end]
	before, _ := utf8.DecodeLastRuneInString(code[:start])
	if strings.ContainsRune("$@%&:*?^<", before) && start > 0 || isBuiltIn(Raku, n) {
		return
	}
	if before == '.' || strings.HasPrefix(code[end:], "(") || strings.Contains(n, "::") || beginsWithCapital(n) {
		s.uses = append(s.uses, n)
	}
}

// declaration notes the declaration or the use of a module that begins at i, and gives the place of its name, or -1.
func (s *rakuScanner) declaration(line, code string, i int) int {
	word, next := wordAt(code, i)
	if word == "use" || word == "need" || word == "require" {
		return s.module(code, next)
	}
	for isScope(word) {
		word, next = wordAt(code, next)
	}
	routine := false
	if word == "multi" || word == "proto" || word == "only" {
		routine = true
		at := next
		if word, next = wordAt(code, at); !isDeclarator(word) {
			word, next = "sub", at
		}
	}
	if !isDeclarator(word) || routine && !isRoutine(word) || next >= len(code) {
		return -1
	}
	at, name := declaredName(line, code, word, next)
	if name == "" {
		return -1
	}
	s.tags.Definitions = append(s.tags.Definitions, Definition{
		Name: name, Line: s.at + 1, Kind: rakuKind(word), Text: s.shown(line),
	})
	return at
}

// shown is the current line as a map prints it, made once a line.
func (s *rakuScanner) shown(line string) string {
	if last := len(s.tags.Definitions) - 1; last >= 0 && s.tags.Definitions[last].Line == s.at+1 {
		return s.tags.Definitions[last].Text
	}
	return shown(line)
}

func (s *rakuScanner) module(code string, i int) int {
	if i >= len(code) {
		return -1
	}
	n := qualified(code[i:])
	if n == "" || n[0] == 'v' && len(n) > 1 && n[1] >= '0' && n[1] <= '9' {
		return -1
	}
	if !slices.Contains(s.tags.Modules, n) {
		s.tags.Modules = append(s.tags.Modules, n)
	}
	return i
}
