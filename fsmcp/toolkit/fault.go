package toolkit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// reason says what is wrong with an argument, in the order in which faults are answered.
type reason int

const (
	suitable reason = iota
	unknown
	missing
	mistyped
	outOfRange
	tooLarge // for any integer
)

// fault is one argument that cannot be used.
type fault struct {
	reason reason
	name   string
	param  *Param // nil for an unknown name
	came   value  // zero for an unknown name and a missing argument
}

// sentence says which argument, what came, and what to send (D3).
func (f *fault) sentence(d *decoder) string {
	switch f.reason {
	case unknown:
		return unknownSentence(f.name, d)
	case missing:
		return fmt.Sprintf("the argument '%s' is missing; send %s", f.name, f.param.wanted())
	case tooLarge:
		return fmt.Sprintf("'%s' is %s, which is too large for 64 bits; send %s", f.name, f.came.describe(), f.param.wanted())
	default:
		return fmt.Sprintf("'%s' is %s; send %s", f.name, f.came.describe(), f.param.wanted())
	}
}

func unknownSentence(name string, d *decoder) string {
	shown := printable(name)
	if name == expectedKey {
		return fmt.Sprintf("'%s' is only for tools that change something; call %s without it", shown, d.tool.Name)
	}
	if near := nearest(name, d.tool.Params, d.seen); near != "" {
		return fmt.Sprintf("there is no argument '%s'; send it as '%s'", shown, near)
	}
	return fmt.Sprintf("there is no argument '%s'; %s", shown, d.tool.takes())
}

// takes lists the tool's parameters for someone who sent another one.
func (t *Tool) takes() string {
	if len(t.Params) == 0 {
		return t.Name + " takes no arguments"
	}
	names := make([]string, len(t.Params))
	for i, p := range t.Params {
		names[i] = "'" + p.Name + "'"
	}
	last := len(names) - 1
	if last == 0 {
		return fmt.Sprintf("%s takes %s alone", t.Name, names[0])
	}
	return fmt.Sprintf("%s takes %s and %s", t.Name, strings.Join(names[:last], ", "), names[last])
}

// wanted says what to send for a parameter.
func (p *Param) wanted() string {
	switch {
	case p.Type == "string":
		return "a string"
	case p.Type == "boolean":
		return "true or false"
	case p.Type == "array":
		return "a list of objects"
	case p.Type == "object":
		return "an object"
	case p.Min != nil && p.Max != nil:
		return fmt.Sprintf("an integer from %d to %d", *p.Min, *p.Max)
	case p.Min != nil:
		return fmt.Sprintf("an integer of at least %d", *p.Min)
	case p.Max != nil:
		return fmt.Sprintf("an integer of at most %d", *p.Max)
	default:
		return "an integer"
	}
}

// describe says what came.
func (v *value) describe() string {
	switch v.kind {
	case kindTrue:
		return "true"
	case kindFalse:
		return "false"
	case kindNumber:
		return "the number " + printable(v.text)
	case kindString:
		return "the string '" + printable(v.text) + "'"
	case kindArray:
		return "an array"
	case kindObject:
		return "an object"
	default:
		return "null"
	}
}

// maxShown is how many characters of something that a caller sent a sentence repeats.
const maxShown = 80

// printable keeps a caller's text on the one line of a sentence: characters that do not print are escaped, and what is
// long is cut.
func printable(s string) string {
	var b strings.Builder
	shown := 0
	for _, r := range s {
		if shown++; shown > maxShown {
			b.WriteString("…")
			break
		}
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return b.String()
}
