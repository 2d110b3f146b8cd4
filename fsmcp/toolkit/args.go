package toolkit

import "fmt"

// Args are the arguments of one call, checked against the tool's parameters. The methods panic when the tool declares no
// parameter of that name and type, because that is a fault of the handler and not of the call.
type Args struct {
	params   []Param
	values   []value // one a parameter, in the same order
	expected map[string]string
}

// String returns the argument, or else the parameter's default.
func (a *Args) String(name string) string {
	param, v := a.lookup(name, "string")
	if v.kind == kindNone && param.Default != nil {
		return param.Default.(string)
	}
	return v.text
}

// Int returns the argument, or else the parameter's default.
func (a *Args) Int(name string) int64 {
	param, v := a.lookup(name, "integer")
	if v.kind != kindNone {
		return v.integer
	}
	switch d := param.Default.(type) {
	case nil:
		return 0
	case int:
		return int64(d)
	default:
		return d.(int64)
	}
}

// Bool returns the argument, or else the parameter's default.
func (a *Args) Bool(name string) bool {
	param, v := a.lookup(name, "boolean")
	if v.kind == kindNone && param.Default != nil {
		return param.Default.(bool)
	}
	return v.kind == kindTrue
}

// Items returns the items of an argument of type array, each with the parameters that [Param.Items] names.
func (a *Args) Items(name string) []*Args {
	_, v := a.lookup(name, "array")
	return v.items
}

// Has reports whether the argument was sent. Null does not count as sent.
func (a *Args) Has(name string) bool {
	_, v := a.lookup(name, "")
	return v.kind != kindNone
}

// Expected returns the tokens that the caller expects its locations to have, keyed as it keyed them, or nil when it sent
// none. The map may be empty: whoever compares decides which keys a call must have. The caller owns it.
func (a *Args) Expected() map[string]string { return a.expected }

func (a *Args) lookup(name, kind string) (*Param, *value) {
	for i := range a.params {
		if p := &a.params[i]; p.Name == name && (kind == "" || p.Type == kind) {
			return p, &a.values[i]
		}
	}
	panic(fmt.Sprintf("toolkit: the tool declares no %s parameter '%s'", kind, name))
}
