package toolkit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// batch is a tool that takes a list of objects and answers with what it has read.
func batch(t *testing.T) *Tool {
	return &Tool{
		Name: "batch",
		Params: []Param{{
			Name: "items", Type: "array", Description: "What to do.", Required: true,
			Items: []Param{{Name: "name", Type: "string", Required: true}, {Name: "times", Type: "integer"}, {Name: "all", Type: "boolean", Default: true}},
		}},
		Handle: func(_ context.Context, a *Args) (*Answer, error) {
			var b strings.Builder
			for _, item := range a.Items("items") {
				fmt.Fprintf(&b, "%s %d %v;", item.String("name"), item.Int("times"), item.Bool("all"))
			}
			return &Answer{Text: b.String()}, nil
		},
		Report: func(err error) { t.Error(err) },
	}
}

func TestItems(t *testing.T) {
	tests := []struct {
		name, raw, want string
		isError         bool
	}{
		{"reads a list", `{"items":[{"name":"a","times":2},{"name":"b","all":false}]}`, "a 2 true;b 0 false;", false},
		{"reads an empty list", `{"items":[]}`, "", false},
		{"reads a list in a string", `{"items":"[{\"name\":\"a\"}]"}`, "a 0 true;", false},
		{"takes null in an item for absent", `{"items":[{"name":"a","times":null}]}`, "a 0 true;", false},
		{"takes a decimal string for an integer", `{"items":[{"name":"a","times":"7"}]}`, "a 7 true;", false},
		{"refuses one object", `{"items":{"name":"a"}}`, "'items' is an object; send a list of objects", true},
		{"refuses a string that is no list", `{"items":"name"}`, "'items' is the string 'name'; send a list of objects", true},
		{"refuses a list in a string with a fault in it", `{"items":"[{}]"}`, "'items' is the string '[{}]'; send a list of objects", true},
		{"refuses what follows a list in a string", `{"items":"[] x"}`, "'items' is the string '[] x'; send a list of objects", true},
		{"refuses a list in a string in a string", `{"items":"\"[]\""}`, "'items' is the string '\"[]\"'; send a list of objects", true},
		{"refuses what is missing", `{}`, "the argument 'items' is missing; send a list of objects", true},
		{"refuses null", `{"items":null}`, "the argument 'items' is missing; send a list of objects", true},
		{"refuses an item that is no object", `{"items":[{"name":"a"},1]}`, "'items[1]' is the number 1; send an object", true},
		{"refuses an item without what it needs", `{"items":[{"times":1}]}`, "the argument 'items[0].name' is missing; send a string", true},
		{"refuses an item with another type", `{"items":[{"name":1}]}`, "'items[0].name' is the number 1; send a string", true},
		{"refuses a name that is given twice", `{"items":[{"name":"a","name":"b"}]}`, "the argument 'items[0].name' is given twice; send it once", true},
		{"compares names byte for byte", `{"items":[{"name":"a","Name":"b"}]}`, "there is no argument 'items[0].Name'; batch takes 'items' alone", true},
		{"refuses a lone surrogate in an item", `{"items":[{"name":"\ud800"}]}`, `'items' is not usable JSON at byte 19 of the arguments: the escape \ud800 is a lone surrogate, half of a character; send the whole character`, true},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			got := batch(t).Call(t.Context(), json.RawMessage(tt.raw))
			if diff := cmp.Diff(&Result{Text: tt.want, IsError: tt.isError}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	many := `{"items":[` + strings.Repeat(`{"name":""},`, maxItems) + `{"name":""}]}`
	if got := batch(t).Call(t.Context(), json.RawMessage(many)); !got.IsError || !strings.Contains(got.Text, "more than 1000 items") {
		t.Errorf("too many: %.100s", got.Text)
	}
}

func TestItemsSchema(t *testing.T) {
	want := `{"type":"object","properties":{"items":{"type":"array","description":"What to do.","items":{"type":"object",` +
		`"properties":{"name":{"type":"string"},"times":{"type":"integer"},"all":{"type":"boolean","default":true}},"required":["name"],"additionalProperties":false}}},` +
		`"required":["items"],"additionalProperties":false}`
	if diff := cmp.Diff(want, string(batch(t).Schema())); diff != "" {
		t.Error(diff)
	}
}

func TestFaults(t *testing.T) {
	tool := batch(t)
	tool.Params = append(tool.Params, Param{Name: "count", Type: "integer", Min: new(int64)})
	var got []Fault
	tool.Faults = func(faults []Fault) string {
		got = faults
		return "in other words"
	}
	for raw, want := range map[string][]Fault{
		`{"count":true,"x":1}`: {
			{Mistyped, "count", "number", "boolean", "'count' is true; send an integer of at least 0"},
			{Unexpected, "x", "", "", "there is no argument 'x'; batch takes 'items' and 'count'"},
			{Missing, "items", "array", "", "the argument 'items' is missing; send a list of objects"},
		},
		`{"items":[],"count":-1}`:  {{OutOfRange, "count", "number", "number", "'count' is the number -1; send an integer of at least 0"}},
		`{"items":[],"count":1.5}`: {{OutOfRange, "count", "number", "number", "'count' is the number 1.5; send an integer of at least 0"}},
		`[]`:                       {{Unreadable, "", "", "", "the arguments are an array; send one JSON object with the arguments by name"}},
		`{"x":1,"x":1}`:            {{Unreadable, "", "", "", "the argument 'x' is given twice; send it once"}},
	} {
		r := tool.Call(t.Context(), json.RawMessage(raw))
		if diff := cmp.Diff(want, got); diff != "" || r.Text != "in other words" || !r.IsError {
			t.Errorf("%s: %q %s", raw, r.Text, diff)
		}
	}
	if r := tool.Call(t.Context(), json.RawMessage(`{"items":[]}`)); r.IsError {
		t.Errorf("without a fault: %s", r.Text)
	}
}

func TestBlocks(t *testing.T) {
	blocks := []Block{{Text: "one"}, {Data: []byte{1}, MediaType: "image/png"}, {Text: "two"}}
	tool := &Tool{Name: "show", Handle: func(context.Context, *Args) (*Answer, error) { return &Answer{Text: "unused", Blocks: blocks}, nil }}
	if diff := cmp.Diff(&Result{Text: "one\ntwo", Blocks: blocks}, tool.Call(t.Context(), nil)); diff != "" {
		t.Error(diff)
	}
}
