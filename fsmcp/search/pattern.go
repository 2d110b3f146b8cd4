package search

import (
	"errors"
	"fmt"
	"reflect"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/textfile"
)

// Dialect is the language of regular expressions.
type Dialect string

const (
	// RE2 is the one of package regexp/syntax. The zero Dialect means it too.
	RE2 Dialect = "re2"
	// Raku is the one of the Raku language, as far as it can be said in RE2.
	Raku Dialect = "raku"
)

// PatternError says, in one sentence for a model, what is wrong with a query.
type PatternError struct{ Text string }

func (e *PatternError) Error() string { return e.Text }

// Refusal marks the sentence as one that a model may be shown.
func (e *PatternError) Refusal() string { return e.Text }

func badPattern(format string, a ...any) error { return &PatternError{fmt.Sprintf(format, a...)} }

// pattern is a compiled query. It may be used from several goroutines.
type pattern struct {
	stored  []strand      // of which the bytes of a file that matches hold at least one; nil if none are known
	cleaned []strand      // the same for its text
	same    bool          // both are the same
	shape   func() *shape // what a line that matches holds, to be looked for without literals; nil if that is not known
	exact   bool          // a line matches if it holds what is in cleaned
	beyond  bool          // all that matches holds a character that is not ASCII
	width   int           // the most bytes of a match, or anyWidth
	program *program
}

// compile makes a pattern of a query's text. Its errors are of type [*PatternError].
func compile(q Query) (*pattern, error) {
	text := q.Pattern
	switch {
	case text == "":
		return nil, badPattern("'pattern' is empty; send the text to look for")
	case len(text) > MaxPattern:
		return nil, badPattern("'pattern' has %d bytes; send at most %d", len(text), MaxPattern)
	case !utf8.ValidString(text):
		return nil, badPattern("'pattern' is not UTF-8; send text")
	case strings.ContainsAny(text, "\n\r"):
		return nil, manyLines()
	}
	text = string(textfile.NFC([]byte(text))) // The form in which the text of files is searched.
	if !q.Regex {
		return compileLiteral(text)
	}
	re, err := parse(text, q)
	if err != nil {
		return nil, err
	}
	return compileRegex(re, q)
}

func manyLines() error {
	return badPattern("'pattern' holds a line break, and grep matches one line at a time; search for one of the lines")
}

// parse reads a regular expression of the query's dialect.
func parse(text string, q Query) (*syntax.Regexp, error) {
	re2 := text
	switch q.Dialect {
	case "", RE2:
	case Raku:
		translated, err := translateRaku(text)
		if err != nil {
			return nil, badPattern("Invalid regex pattern %s: %s", confine.Quote(q.Pattern), err)
		}
		re2 = translated
	default:
		return nil, fmt.Errorf("there is no dialect %q of regular expressions", q.Dialect)
	}
	re, err := syntax.Parse(re2, syntax.Perl)
	if err != nil {
		return nil, badPattern("Invalid regex pattern %s: %s", confine.Quote(q.Pattern), syntaxProblem(err))
	}
	if needsLineBreak(re) {
		return nil, manyLines()
	}
	if leastInstructions(re) > maxInstructions {
		return nil, tooLarge(q)
	}
	return re.Simplify(), nil
}

// syntaxProblem words what RE2's parser says. It repeats no more of the pattern than helps to find the place.
func syntaxProblem(err error) string {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	what := string(e.Code)
	if e.Expr != "" {
		what += " at " + confine.Quote(e.Expr)
	}
	if e.Code == syntax.ErrInvalidPerlOp {
		what += " (the syntax is RE2's, without look-around and back-references)"
	}
	return what
}

// needsLineBreak says whether all that an expression matches holds a line break.
func needsLineBreak(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		return slices.Equal(re.Rune, []rune{'\n', '\n'})
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		return slices.ContainsFunc(re.Sub, needsLineBreak)
	case syntax.OpRepeat:
		return re.Min > 0 && needsLineBreak(re.Sub[0])
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !needsLineBreak(sub) })
	}
	return false
}

func compileLiteral(text string) (*pattern, error) {
	// The automaton is for lines that do not fit into a buffer.
	re := &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune(text)}
	automaton, err := newProgram(re)
	if err != nil {
		return nil, fmt.Errorf("compile a literal: %w", err)
	}
	p := &pattern{stored: requiredOf(text, asStored), cleaned: strands([]literal{{text: text}}), exact: true, width: width(re), program: automaton}
	p.beyond = !isASCII([]byte(text))
	p.same = p.stored != nil && reflect.DeepEqual(p.stored, p.cleaned)
	return p, nil
}

func tooLarge(q Query) error {
	return badPattern("%s is too large once its counts are written out; send smaller counts", confine.Quote(q.Pattern))
}

func compileRegex(re *syntax.Regexp, q Query) (*pattern, error) {
	automaton, err := newProgram(re)
	if errors.Is(err, errTooLarge) {
		return nil, tooLarge(q)
	}
	if err != nil {
		return nil, fmt.Errorf("compile a pattern: %w", err)
	}
	p := &pattern{stored: required(re, asStored), cleaned: required(re, asCleaned), shape: sync.OnceValue(func() *shape { return shapeOf(re) }), width: width(re), program: automaton}
	p.same = p.stored != nil && reflect.DeepEqual(p.stored, p.cleaned)
	return p, nil
}
