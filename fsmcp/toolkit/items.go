package toolkit

import (
	"fmt"
	"slices"
)

// maxItems bounds the items of a list argument: enough for any batch, and few enough that each may cost something.
const maxItems = 1000

// items reads the argument for a parameter of type array: a list of objects, each with the parameter's Items. Models
// also send the list as a string that holds its JSON; that can mean only one thing, and is taken when it is exactly such a
// list.
func (d *decoder) items(i int) error {
	p := &d.tool.Params[i]
	switch d.peek() {
	case '[':
		v := value{kind: kindArray}
		if err := d.list(2, '[', ']', func() error { return d.item(p, &v) }); err != nil {
			return err
		}
		d.args.values[i] = v
	case '"':
		v, err := d.value(2, true)
		if err != nil {
			return err
		}
		d.args.values[i] = v
		inner := &decoder{scanner: scanner{src: []byte(v.text)}, tool: d.tool, args: &Args{values: make([]value, len(d.args.values))}}
		if inner.peek() != '[' || inner.items(i) != nil || inner.peek() != 0 || inner.pos < len(inner.src) || len(inner.faults) > 0 {
			d.faults = append(d.faults, fault{reason: mistyped, name: p.Name, param: p, came: v})
			return nil
		}
		d.args.values[i] = inner.args.values[i]
	default:
		v, err := d.value(2, true)
		if err != nil {
			return err
		}
		if v.kind != kindNull {
			d.faults = append(d.faults, fault{reason: mistyped, name: p.Name, param: p, came: v})
			d.args.values[i] = v
		}
	}
	return nil
}

// item reads one object of the list.
func (d *decoder) item(p *Param, list *value) error {
	place := fmt.Sprintf("%s[%d]", p.Name, len(list.items))
	if len(list.items) == maxItems {
		return d.fault("there are more than %d items; send fewer at a time", maxItems)
	}
	args := &Args{params: p.Items, values: make([]value, len(p.Items))}
	list.items = append(list.items, args)
	if d.peek() != '{' {
		v, err := d.value(3, true)
		if err == nil {
			d.faults = append(d.faults, fault{reason: mistyped, name: place, param: &Param{Name: place, Type: "object"}, came: v})
		}
		return err
	}
	var seen []string
	err := d.object(3, func(key string) error {
		if slices.Contains(seen, key) {
			return Refuse("the argument '%s.%s' is given twice; send it once", place, printable(key))
		}
		seen = append(seen, key)
		return d.member(args, place, key)
	})
	if err != nil {
		return err
	}
	for i := range p.Items {
		if m := &p.Items[i]; m.Required && args.values[i].kind == kindNone {
			d.faults = append(d.faults, fault{reason: missing, name: place + "." + m.Name, param: m})
		}
	}
	return nil
}

// member reads one argument of an item.
func (d *decoder) member(args *Args, place, key string) error {
	i := slices.IndexFunc(args.params, func(p Param) bool { return p.Name == key })
	v, err := d.value(4, i >= 0)
	switch {
	case err != nil:
		return err
	case i < 0:
		d.faults = append(d.faults, fault{reason: unknown, name: place + "." + key})
	case v.kind != kindNull:
		p := &args.params[i]
		if reason := v.suit(p); reason != suitable {
			d.faults = append(d.faults, fault{reason: reason, name: place + "." + key, param: p, came: v})
		}
		args.values[i] = v
	}
	return nil
}
