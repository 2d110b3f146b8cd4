package toolkit

import (
	"bytes"
	"errors"
	"slices"
)

// expectedKey is the reserved argument by which a layer in front of the server makes a change conditional (D6).
const expectedKey = "_expected-revisions"

// decoder reads the arguments of one call in one pass over their bytes.
type decoder struct {
	scanner
	tool   *Tool
	args   *Args
	key    string // the argument being read, for faults in the text
	seen   []string
	faults []fault
}

// decode checks the arguments against the tool's parameters. What cannot be read at all ends it at once; faults in single
// arguments are collected, and the first of them is answered: an unknown name before a missing one, for a misspelt name
// is why the other is missing.
func decode(t *Tool, raw []byte) (*Args, error) {
	d := &decoder{
		scanner: scanner{src: raw},
		tool:    t,
		args:    &Args{params: t.Params, values: make([]value, len(t.Params))},
	}
	if err := d.document(); err != nil {
		d.faults = nil // What cannot be read at all is the one thing to say.
		return nil, d.worded(d.explain(err))
	}
	d.missing()
	if len(d.faults) > 0 {
		first := slices.MinFunc(d.faults, func(a, b fault) int { return int(a.reason) - int(b.reason) })
		return nil, d.worded(Refuse("%s", first.sentence(d)))
	}
	return d.args, nil
}

// worded puts a refusal of the arguments into the tool's own words, if it has any.
func (d *decoder) worded(err error) error {
	if d.tool.Faults == nil {
		return err
	}
	faults := make([]Fault, len(d.faults))
	for i := range d.faults {
		faults[i] = d.faults[i].public(d)
	}
	if len(faults) == 0 {
		faults = []Fault{{Kind: Unreadable, Sentence: err.Error()}}
	}
	return Refuse("%s", d.tool.Faults(faults))
}

// document reads the whole text. Absent arguments and null count as an empty object.
func (d *decoder) document() error {
	if len(bytes.Trim(d.src, " \t\r\n")) == 0 {
		return nil
	}
	if c := d.peek(); c != '{' {
		v, err := d.value(1, true)
		if err != nil {
			return err
		}
		if v.kind != kindNull {
			return Refuse("the arguments are %s; send one JSON object with the arguments by name", v.describe())
		}
	} else if err := d.object(1, d.argument); err != nil {
		return err
	}
	if d.peek(); d.pos < len(d.src) {
		return d.fault("something follows the end of the arguments")
	}
	return nil
}

// explain names the argument in which the text cannot be read.
func (d *decoder) explain(err error) error {
	var bad *malformed
	if !errors.As(err, &bad) {
		return err
	}
	if d.key == "" {
		return Refuse("the arguments are not usable JSON at byte %d: %s", bad.pos, bad.what)
	}
	return Refuse("'%s' is not usable JSON at byte %d of the arguments: %s", printable(d.key), bad.pos, bad.what)
}

// argument reads the value of one key.
func (d *decoder) argument(key string) error {
	if slices.Contains(d.seen, key) {
		return Refuse("the argument '%s' is given twice; send it once", printable(key))
	}
	d.seen = append(d.seen, key)
	d.key = key
	if err := d.argumentValue(key); err != nil {
		return err
	}
	d.key = ""
	return nil
}

func (d *decoder) argumentValue(key string) error {
	if key == expectedKey && !d.tool.ReadOnly {
		return d.expected()
	}
	i := slices.IndexFunc(d.tool.Params, func(p Param) bool { return p.Name == key })
	if i >= 0 && d.tool.Params[i].Type == "array" {
		return d.items(i)
	}
	v, err := d.value(2, i >= 0)
	switch {
	case err != nil:
		return err
	case i < 0:
		d.faults = append(d.faults, fault{reason: unknown, name: key})
	case v.kind != kindNull:
		d.accept(i, v)
	}
	return nil
}

// accept keeps a value that suits its parameter.
func (d *decoder) accept(i int, v value) {
	p := &d.tool.Params[i]
	if reason := v.suit(p); reason != suitable {
		d.faults = append(d.faults, fault{reason: reason, name: p.Name, param: p, came: v})
	}
	d.args.values[i] = v
}

// missing notes the required parameters that were not sent, or were sent as null.
func (d *decoder) missing() {
	for i := range d.tool.Params {
		if p := &d.tool.Params[i]; p.Required && d.args.values[i].kind == kindNone {
			d.faults = append(d.faults, fault{reason: missing, name: p.Name, param: p})
		}
	}
}

// expected reads the reserved argument. Any other shape is refused and not ignored: whoever sent it wants the change
// to depend on it. Whether the keys and the tokens are the right ones is for the comparison to say.
func (d *decoder) expected() error {
	if d.peek() != '{' {
		v, err := d.value(2, true)
		if err != nil {
			return err
		}
		return Refuse("'%s' is %s; send an object with a revision token for each location", expectedKey, v.describe())
	}
	d.args.expected = map[string]string{}
	return d.object(2, func(location string) error {
		v, err := d.value(3, true)
		switch _, twice := d.args.expected[location]; {
		case err != nil:
			return err
		case twice:
			return Refuse("'%s' gives '%s' twice; send it once", expectedKey, printable(location))
		case v.kind != kindString:
			return Refuse("'%s' gives %s for '%s'; send a revision token, which is a string",
				expectedKey, v.describe(), printable(location))
		}
		d.args.expected[location] = v.text
		return nil
	})
}
