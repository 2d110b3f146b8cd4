package toolkit

// FaultKind says what is wrong with an argument.
type FaultKind int

// The kinds of fault.
const (
	Unreadable FaultKind = iota // the arguments are no JSON object that could be read in one way only
	Unexpected                  // the tool has no such parameter
	Missing
	Mistyped
	OutOfRange
)

// Fault is one fault in the arguments of a call, for tools that have wordings of their own.
type Fault struct {
	Kind FaultKind
	// Name is the parameter's, with its place in a list, as edits[0].old_string. Empty when Kind is Unreadable.
	Name string
	// Want is the JSON type of the parameter: "string", "number", "boolean" or "array"; of an item of a list, "object".
	Want string
	// Came is the JSON type of what was sent.
	Came string
	// Sentence says it in this package's words.
	Sentence string
}

// public makes the fault that a tool's own wording is given.
func (f *fault) public(d *decoder) Fault {
	p := Fault{Name: f.name, Sentence: f.sentence(d)}
	if f.param != nil {
		p.Want = f.param.jsonType()
	}
	if f.came.kind != kindNone {
		p.Came = f.came.kind.jsonType()
	}
	switch f.reason {
	case unknown:
		p.Kind = Unexpected
	case missing:
		p.Kind = Missing
	case mistyped:
		p.Kind = Mistyped
		if p.Want == p.Came { // a number, but no whole one
			p.Kind = OutOfRange
		}
	default:
		p.Kind = OutOfRange
	}
	return p
}

func (p *Param) jsonType() string {
	if p.Type == "integer" {
		return "number"
	}
	return p.Type
}

func (k kind) jsonType() string {
	switch k {
	case kindTrue, kindFalse:
		return "boolean"
	case kindNumber:
		return "number"
	case kindString:
		return "string"
	case kindArray:
		return "array"
	case kindObject:
		return "object"
	}
	return "null"
}
