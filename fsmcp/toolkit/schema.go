package toolkit

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Schema returns the JSON Schema of the tool's arguments. Properties stand in the order of Params: a model reads them in
// that order, and what is required should come first. The reserved argument for expected revisions is left out on
// purpose (D6): it is for layers in front of the server, not for models.
func (t *Tool) Schema() json.RawMessage {
	return encode(schemaOf(t.Params))
}

func schemaOf(params []Param) *objectSchema {
	s := &objectSchema{Type: "object", Properties: params}
	for _, p := range params {
		if p.Required {
			s.Required = append(s.Required, p.Name)
		}
	}
	return s
}

type objectSchema struct {
	Type                 string     `json:"type"`
	Properties           properties `json:"properties"`
	Required             []string   `json:"required,omitempty"`
	AdditionalProperties bool       `json:"additionalProperties"`
}

type propertySchema struct {
	Type        string        `json:"type"`
	Description string        `json:"description,omitempty"`
	Default     any           `json:"default,omitempty"` // omits nil alone, and keeps false, 0 and ""
	Minimum     *int64        `json:"minimum,omitempty"`
	Maximum     *int64        `json:"maximum,omitempty"`
	Items       *objectSchema `json:"items,omitempty"`
}

// properties encodes as an object whose keys keep their order, which a Go map would sort.
type properties []Param

// MarshalJSON implements [json.Marshaler].
func (ps properties) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, p := range ps {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, encode(p.Name)...), ':')
		property := propertySchema{Type: p.Type, Description: p.Description, Default: p.Default, Minimum: p.Min, Maximum: p.Max}
		if p.Type == "array" {
			property.Items = schemaOf(p.Items)
		}
		out = append(out, encode(property)...)
	}
	return append(out, '}'), nil
}

// encode is [json.Marshal] without the escapes for HTML, which make descriptions hard to read. It panics on what JSON
// cannot say, which in a table of parameters can only be a default of an impossible type.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("toolkit: a schema cannot be encoded: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
