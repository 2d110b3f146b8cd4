package repomap

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// quote is a comment or a quote that may go on over several lines.
type quote struct {
	open       bool
	comment    bool // it is one, so that nothing is taken up again when it has no end
	begin, end rune // the same where it does not nest
	depth      int
	escapes    bool // a backslash takes the next character along
}

// skip gives the length of what of s belongs to the quote. The quote is then closed, unless s has ended before it.
func (q *quote) skip(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case r == '\\' && q.escapes:
			_, size = utf8.DecodeRuneInString(s[i:])
			i += size
		case r == q.end:
			if q.depth--; q.depth == 0 {
				q.open = false
				return i
			}
		case r == q.begin:
			q.depth++
		}
	}
	return len(s)
}

// closing is the other of a pair of brackets, or 0.
func closing(r rune) rune {
	switch r {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	case '<':
		return '>'
	case '«':
		return '»'
	}
	return 0
}

// blank gives the line with spaces, byte for byte, in place of comments and quotes, so that places in it are places in
// the line.
func (s *rakuScanner) blank(line string) string {
	out := []byte(line)
	for i := 0; i < len(line); {
		n := 0
		switch {
		case s.quote.open:
			n = s.quote.skip(line[i:])
		case line[i] == '#':
			n = s.comment(line[i:])
		case line[i] == '\'' || line[i] == '"':
			q := quote{open: true, end: rune(line[i]), depth: 1, escapes: true}
			n = 1 + q.skip(line[i+1:])
		}
		if n > 0 {
			for j := i; j < i+n; j++ {
				out[j] = ' '
			}
			i += n
			continue
		}
		i += s.word(line, i, out)
	}
	if s.rescans >= maxRescans && !s.quote.comment {
		s.quote = quote{}
	}
	return string(out)
}

// comment gives the length of the comment with which text begins, on this line.
func (s *rakuScanner) comment(text string) int {
	if len(text) > 1 && strings.IndexByte("`|=", text[1]) >= 0 {
		r, size := utf8.DecodeRuneInString(text[2:])
		if end := closing(r); end != 0 {
			s.quote = quote{open: true, comment: true, begin: r, end: end, depth: 1}
			return 2 + size + s.quote.skip(text[2+size:])
		}
	}
	return len(text)
}

// word passes over what stands at i: a quote that begins with a word, as q[…], which it blanks; any other word; or one
// character. It gives the length.
func (s *rakuScanner) word(line string, i int, out []byte) int {
	w := identifier(line[i:])
	if w == "" {
		_, size := utf8.DecodeRuneInString(line[i:])
		return size
	}
	before, _ := utf8.DecodeLastRuneInString(line[:i])
	if !isQuoteWord(w) || i > 0 && strings.ContainsRune("$@%&.:!-", before) {
		return len(w)
	}
	n := len(w) + s.quoted(w, line[i+len(w):])
	for j := i; n > len(w) && j < i+n; j++ {
		out[j] = ' '
	}
	return n
}

func isQuoteWord(w string) bool {
	switch w {
	case "q", "qq", "Q", "qw", "qqw", "qx", "qqx", "Qw":
		return true
	}
	return false
}

// quoted reads the adverbs and the delimiter that follow a quote word, and what is quoted, as far as it is on this line.
// It gives the length; 0 where this is no quote. The delimiter of a heredoc holds the word that ends it, on a line
// further down.
func (s *rakuScanner) quoted(word, text string) int {
	n, heredoc := adverbs(text)
	spaces := len(text[n:]) - len(strings.TrimLeft(text[n:], " \t"))
	r, size := utf8.DecodeRuneInString(text[n+spaces:])
	switch {
	case r == utf8.RuneError || unicode.IsSpace(r) || isWordStart(r) || unicode.IsDigit(r):
		return 0
	case r == '(' && n == 0, strings.ContainsRune(",;)=.:]}>-+*~?&$@%#\\", r):
		return 0 // a call, or a word that is no quote
	case spaces > 0 && !strings.ContainsRune("[{/", r):
		return 0
	}
	q := quote{open: true, begin: r, end: closing(r), depth: 1, escapes: word[0] != 'Q'}
	if q.end == 0 {
		q.begin, q.end = 0, r
	}
	from := n + spaces + size
	end := from + q.skip(text[from:])
	if heredoc && !q.open {
		s.heredoc = append(s.heredoc, strings.TrimSpace(text[from:end-utf8.RuneLen(q.end)]))
	}
	if !heredoc {
		s.quote = q
	}
	return end
}

// adverbs gives the length of the adverbs with which text begins, as ":to" or ":c", and whether one announces a heredoc.
func adverbs(text string) (n int, heredoc bool) {
	for strings.HasPrefix(text[n:], ":") {
		rest := text[n+1:]
		w := identifier(strings.TrimPrefix(rest, "!"))
		if w == "" {
			return n, heredoc
		}
		heredoc = heredoc || w == "to" || w == "heredoc"
		n += 1 + len(rest) - len(strings.TrimPrefix(rest, "!")) + len(w)
	}
	return n, heredoc
}
