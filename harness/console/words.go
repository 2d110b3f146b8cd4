package console

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A line is split as by a shell, with no more of it than this:
//
//	'…'       every character stands for itself
//	"…"       \n, \t and \r are the characters they usually are, \" and \\ themselves; any other backslash stays
//	\x        x, whatever it is
//	<<WORD    as a word of its own: the lines behind this one, up to one that is WORD and nothing else
//
// Nothing is expanded.

// unreadable is what is wrong with a line, in a sentence for whoever wrote it.
type unreadable struct{ error }

func unreadablef(format string, args ...any) error {
	return unreadable{fmt.Errorf(format, args...)}
}

// word is one word of a line.
type word struct {
	text    string
	start   int  // where it begins in the line, in bytes
	end     int  // where it ends
	quoted  bool // from its first character on, so that it is no --flag
	heredoc bool // text is the line that ends the lines that are meant
}

// split splits a line into words. With an error come those words that were read, the unfinished one too.
func split(line string) ([]word, error) {
	s := splitter{rest: line, length: len(line)}
	var words []word
	for {
		s.rest = strings.TrimLeft(s.rest, " \t")
		if s.rest == "" {
			return words, nil
		}
		w, err := s.word()
		words = append(words, w)
		if err != nil {
			return words, err
		}
	}
}

// splitter takes words from the front of the rest of a line.
type splitter struct {
	rest   string
	length int // of the whole line
}

// word takes a word. It begins at the rest's first character.
func (s *splitter) word() (word, error) {
	written := s.rest
	w := word{start: s.length - len(s.rest), quoted: strings.ContainsRune(`'"\`, rune(s.rest[0]))}
	if end, ok := strings.CutPrefix(s.rest, "<<"); ok {
		s.rest, w.heredoc = end, true
	}
	var text strings.Builder
	err := s.pieces(&text)
	w.text, w.end = text.String(), s.length-len(s.rest)
	if _, value, ok := strings.Cut(written[:w.end-w.start], "="); err == nil && ok && strings.HasPrefix(written, "--") && strings.HasPrefix(value, "<<") {
		err = unreadablef("a text is for a word without a name; write <<WORD as a word of its own, or '%s' in quotes", value)
	}
	if err == nil && w.heredoc && w.text == "" {
		err = unreadablef("no word stands behind <<; name one that ends the text, as in <<EOF")
	}
	return w, err
}

// pieces takes what stands side by side without white space.
func (s *splitter) pieces(text *strings.Builder) error {
	for s.rest != "" {
		var err error
		switch s.rest[0] {
		case ' ', '\t':
			return nil
		case '\'':
			err = s.single(text)
		case '"':
			err = s.double(text)
		case '\\':
			err = s.escaped(text)
		default:
			s.plain(text, " \t'\"\\")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// plain takes characters that stand for themselves, the first one and all up to one of those that may not.
func (s *splitter) plain(text *strings.Builder, until string) {
	at := strings.IndexAny(s.rest[1:], until) + 1
	if at == 0 {
		at = len(s.rest)
	}
	text.WriteString(s.rest[:at])
	s.rest = s.rest[at:]
}

func (s *splitter) single(text *strings.Builder) error {
	inside, rest, closed := strings.Cut(s.rest[1:], "'")
	text.WriteString(inside)
	s.rest = rest
	if !closed {
		return unreadablef(`a quote ' is not closed; put another ' behind the text, or write \' for the character itself`)
	}
	return nil
}

func (s *splitter) double(text *strings.Builder) error {
	for s.rest = s.rest[1:]; s.rest != ""; {
		switch {
		case s.rest[0] == '"':
			s.rest = s.rest[1:]
			return nil
		case s.rest[0] == '\\' && len(s.rest) > 1 && strings.Contains(`ntr"\`, s.rest[1:2]):
			text.WriteString(strings.NewReplacer("n", "\n", "t", "\t", "r", "\r").Replace(s.rest[1:2]))
			s.rest = s.rest[2:]
		default:
			s.plain(text, `"\`)
		}
	}
	return unreadablef(`a quote " is not closed; put another " behind the text, or write \" for the character itself`)
}

func (s *splitter) escaped(text *strings.Builder) error {
	if s.rest = s.rest[1:]; s.rest == "" {
		return unreadablef(`the line ends with a backslash; write \\ for the character itself`)
	}
	_, size := utf8.DecodeRuneInString(s.rest)
	text.WriteString(s.rest[:size])
	s.rest = s.rest[size:]
	return nil
}

// brief is a text as a message repeats it.
func brief(text string) string {
	const most = 100 // bytes
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// quote writes a text as a word of a line.
func quote(text string) string {
	if text != "" && !strings.ContainsAny(text, " \t'\"\\") && !strings.HasPrefix(text, "<<") && !strings.HasPrefix(text, "-") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
