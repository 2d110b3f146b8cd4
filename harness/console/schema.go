package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lookfirst/harness"
)

// tool is a tool with what its schema says of its parameters.
type tool struct {
	harness.Tool
	params []param // in the schema's order
}

// param is a parameter.
type param struct {
	name, description string
	kind              string // as JSON Schema calls it: string, integer, number, boolean, array, object
	required          bool
}

// newTool reads a tool's schema. What it does not understand of it is left to JSON arguments: the parameter is not there,
// or counts as a text.
func newTool(t harness.Tool) tool {
	var schema struct {
		Properties ordered  `json:"properties"`
		Required   []string `json:"required"`
	}
	_ = json.Unmarshal(t.Schema, &schema) // Without it the tool still has a name.
	result := tool{Tool: t}
	for _, p := range schema.Properties {
		var about struct {
			Type        any    `json:"type"`
			Description string `json:"description"`
		}
		_ = json.Unmarshal(p.value, &about)
		result.params = append(result.params, param{p.name, about.Description, kindOf(about.Type), slices.Contains(schema.Required, p.name)})
	}
	return result
}

// kindOf reads a type that may also be a list of types, as one that is a text or null.
func kindOf(of any) string {
	list, ok := of.([]any)
	if !ok {
		list = []any{of}
	}
	for _, one := range list {
		if kind, ok := one.(string); ok && kind != "null" {
			return kind
		}
	}
	return "string"
}

// ordered are the members of a JSON object in their order, which says what a word without a name is.
type ordered []member

type member struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON implements [json.Unmarshaler].
func (o *ordered) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("no JSON object: %w", err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		m := member{name: fmt.Sprint(name)}
		if err := d.Decode(&m.value); err != nil {
			return err
		}
		*o = append(*o, m)
	}
	return nil
}

// positional are the parameters that a word without a name can be, in the order in which words are given to them: what is
// required comes first. Booleans are none of them, so that no word turns a deletion into a recursive one.
func (t *tool) positional() []param {
	var first, then []param
	for _, p := range t.params {
		switch {
		case p.kind == "boolean" || p.kind == "array" || p.kind == "object":
		case p.required:
			first = append(first, p)
		default:
			then = append(then, p)
		}
	}
	return append(first, then...)
}

// find finds a parameter by its name, in which '-' and '_' count as the same where no other is meant.
func (t *tool) find(name string) (param, bool) {
	flat := strings.NewReplacer("-", "_")
	for _, same := range []func(string) string{func(s string) string { return s }, flat.Replace} {
		for _, p := range t.params {
			if same(p.name) == same(name) {
				return p, true
			}
		}
	}
	return param{}, false
}

// usage is how a call is written, as "read PATH [OFFSET] [LIMIT]".
func (t *tool) usage(name string) string {
	words := []string{name}
	for _, p := range t.positional() {
		if word := strings.ToUpper(p.name); p.required {
			words = append(words, word)
		} else {
			words = append(words, "["+word+"]")
		}
	}
	for _, p := range t.params {
		switch p.kind {
		case "boolean":
			words = append(words, "[--"+p.name+"]")
		case "array", "object":
			words = append(words, "--"+p.name+"=JSON")
		}
	}
	return strings.Join(words, " ")
}
