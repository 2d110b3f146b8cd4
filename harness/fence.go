package harness

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"sync"

	"lookfirst/fsmcp/revision"
)

// expectedKey is the reserved argument that makes a change conditional (D6).
const expectedKey = "_expected-revisions"

// Fence is a layer that makes every change of files conditional on what was last seen of them (D21). It learns the
// revision of a location from the results that pass it, and adds it to each call that changes the location, in place of
// any that the model sent; a location that was never seen is expected to be absent. So no change lands on what nobody in
// this conversation has seen as it is.
//
// After a failure nothing is known of the call's locations: the next change of one expects that nothing is there, and is
// refused until it has been looked at again. So is a change under a name that leads to a seen location by another way, as
// a link does.
//
// Invariant: a fenced change carries an expectation for each of its locations, or is not made. Not promised: anything of
// tools that are not fenced. A Fence may be used from several goroutines, and costs a path and a token for each location.
type Fence struct {
	provider Provider
	fenced   map[string]fencing // by full name

	mu   sync.Mutex // guards seen
	seen map[string]revision.Token
}

// fencing is what a fence does with a tool.
type fencing struct {
	keys    []string // the arguments that name its locations
	changes bool
}

// fencings are the tools of both packs whose results carry revisions.
func fencings() map[string]fencing {
	look, change := fencing{keys: []string{"path"}}, fencing{keys: []string{"path"}, changes: true}
	return map[string]fencing{
		"read": look, "list": look, "stat": look, "read_file": look,
		"write": change, "edit": change, "mkdir": change, "delete": change, "move": {keys: []string{"from", "to"}, changes: true},
		"write_file": change, "edit_file": change, "multi_edit": change,
	}
}

// NewFence fences the tools of both packs that the provider has under the prefixes, or under none if no prefix is given.
// The toolkits of one fence must serve the same directory, or it refuses too much: for another directory put a second
// fence over the first. The error is that of a prefix that [ToolName] refuses.
func NewFence(p Provider, prefixes ...string) (*Fence, error) {
	f := &Fence{provider: p, fenced: map[string]fencing{}, seen: map[string]revision.Token{}}
	if len(prefixes) == 0 {
		prefixes = []string{""}
	}
	for _, prefix := range prefixes {
		for name, what := range fencings() {
			full, err := ToolName(prefix, name)
			if err != nil {
				return nil, err
			}
			f.fenced[full] = what
		}
	}
	return f, nil
}

// Tools implements [Provider].
func (f *Fence) Tools(ctx context.Context) ([]Tool, error) { return f.provider.Tools(ctx) }

// ExecuteToolCalls implements [Provider]. A change is handed on alone, after what stands before it has been learnt from;
// the calls between two changes are handed on together.
func (f *Fence) ExecuteToolCalls(ctx context.Context, calls []Call) []Result {
	results := make([]Result, 0, len(calls))
	for start := 0; start < len(calls); {
		end := start
		for end < len(calls) && !f.fenced[calls[end].Name].changes {
			end++
		}
		if end == start {
			results = append(results, f.change(ctx, calls[start]))
			start++
			continue
		}
		among := calls[start:end]
		for i, r := range execute(ctx, f.provider, among) {
			f.learn(among[i], r)
			results = append(results, r)
		}
		start = end
	}
	return results
}

// change makes one call with what is expected of its locations.
func (f *Fence) change(ctx context.Context, c Call) Result {
	arguments, err := object(c.Arguments)
	if err != nil {
		return unreadable(c, err).answering(c)
	}
	places, err := f.places(c.Name, arguments)
	if err != nil {
		return refused("the location of the %s call is not clear: %v; send it once", quoted(c.Name), err).answering(c)
	}
	if c.Arguments, err = conditional(arguments, f.expected(places)); err != nil {
		return unreadable(c, err).answering(c)
	}
	r := execute(ctx, f.provider, []Call{c})[0]
	f.learn(c, r)
	return r
}

func (f *Fence) expected(places map[string]string) map[string]revision.Token {
	f.mu.Lock()
	defer f.mu.Unlock()
	expected := map[string]revision.Token{}
	for key, place := range places {
		expected[key] = revision.AbsentToken
		if token, ok := f.seen[place]; ok {
			expected[key] = token
		}
	}
	return expected
}

// places returns the locations that a call names, by the argument. One that is not a string is left out: the call then
// lacks an expectation, and cannot land.
func (f *Fence) places(name string, arguments json.RawMessage) (map[string]string, error) {
	what := f.fenced[name]
	values, _, err := members(arguments, what.keys...)
	if err != nil {
		return nil, err
	}
	places := map[string]string{}
	for i, key := range what.keys {
		switch {
		case isString(values[i]):
			places[key] = place(string(text(values[i])))
		case isAbsent(values[i]) && !what.changes:
			places[key] = "." // what tools that look at a directory look at by default
		}
	}
	return places, nil
}

// place is one spelling for those of a location that differ in nothing but slashes and dots. What ".." leads to depends
// on the links before it, so that a path with one stays as it is.
func place(arg string) string {
	if arg == "" || slices.Contains(strings.Split(arg, "/"), "..") {
		return arg
	}
	return path.Clean(arg)
}

// learn takes from a result what is now known of the call's locations.
func (f *Fence) learn(c Call, r Result) {
	what, ok := f.fenced[c.Name]
	arguments, err := object(c.Arguments)
	if !ok || err != nil {
		return
	}
	places, err := f.places(c.Name, arguments)
	if err != nil {
		return
	}
	var content struct {
		Revisions revision.Set `json:"revisions"`
	}
	if r.StructuredContent != nil && json.Unmarshal(r.StructuredContent, &content) != nil {
		content.Revisions = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, place := range places {
		now, told := content.Revisions[key]
		switch {
		case r.IsError, told && now.Token == "", !told && what.changes:
			delete(f.seen, place)
		case told:
			f.remember(place, now)
		}
	}
}

// remember keeps a location's token. Where nothing is, nothing is below it. The caller holds mu.
func (f *Fence) remember(place string, now revision.Revision) {
	if now.State == revision.Absent {
		for other := range f.seen {
			if strings.HasPrefix(other, place+"/") {
				delete(f.seen, other)
			}
		}
	}
	f.seen[place] = now.Token
}

// conditional returns the arguments, a compact object, with the expected revisions in place of any that were in it.
func conditional(arguments json.RawMessage, expected map[string]revision.Token) (json.RawMessage, error) {
	tokens, err := json.Marshal(expected)
	if err != nil {
		return nil, err
	}
	out := json.RawMessage(`{"` + expectedKey + `":`)
	out = append(out, tokens...)
	s := &scanner{src: arguments}
	start := len("{")
	err = s.object(0, func(key []byte) error {
		_, err := s.value(1)
		if string(key) != expectedKey {
			out = append(append(out, ','), arguments[start:s.pos]...)
		}
		start = s.pos + len(",")
		return err
	})
	return append(out, '}'), err
}
