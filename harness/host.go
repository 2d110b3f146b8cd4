package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"lookfirst/fsmcp/toolkit"
	"lookfirst/readstate"
)

// Toolkit is a set of tools under a common prefix.
type Toolkit struct {
	// Prefix stands before each name, as ToolName says. It may be empty.
	Prefix string
	Tools  []*toolkit.Tool
}

// HostOptions are the settings of a [Host].
type HostOptions struct {
	// Toolkits are what the host serves. No two tools may have the same full name.
	Toolkits []Toolkit
	// Parallel is how many neighbouring reading calls run side by side. If zero, 4; there is always room for one.
	Parallel int
	// ReadState is what the session has seen, in all toolkits together. If nil, the host begins with nothing seen (D7).
	ReadState *readstate.Tracker
}

// Host is the [Provider] of toolkits in this process. It is one session: what was read in any of its toolkits is read for
// all. Whoever serves several conversations makes a host for each. A Host may be used from several goroutines.
type Host struct {
	batch   batch
	listed  []Tool
	mounted map[string]*toolkit.Tool
	seen    *readstate.Tracker
}

// NewHost mounts the toolkits. It fails when a name is not one that every client accepts, or stands twice among them. The
// toolkits stay the caller's to close, after the last call.
func NewHost(o HostOptions) (*Host, error) {
	h := &Host{mounted: map[string]*toolkit.Tool{}, seen: o.ReadState}
	if h.seen == nil {
		h.seen = readstate.New()
	}
	h.batch = batch{tools: map[string]Tool{}, parallel: parallelism(o.Parallel), one: h.call}
	for _, kit := range o.Toolkits {
		for _, t := range kit.Tools {
			if err := h.mount(kit.Prefix, t); err != nil {
				return nil, err
			}
		}
	}
	sortTools(h.listed)
	return h, nil
}

func (h *Host) mount(prefix string, t *toolkit.Tool) error {
	name, err := ToolName(prefix, t.Name)
	if err != nil {
		return err
	}
	if h.mounted[name] != nil {
		return fmt.Errorf("two tools are called '%s'", name)
	}
	tool := Tool{Name: name, Description: t.Description, Schema: t.Schema(), ReadOnly: t.ReadOnly, Idempotent: t.ReadOnly}
	h.mounted[name], h.batch.tools[name] = t, tool
	h.listed = append(h.listed, tool)
	return nil
}

// Tools implements [Provider]. It does not fail.
func (h *Host) Tools(context.Context) ([]Tool, error) { return slices.Clone(h.listed), nil }

// ExecuteToolCalls implements [Provider].
func (h *Host) ExecuteToolCalls(ctx context.Context, calls []Call) []Result {
	return h.batch.run(readstate.With(ctx, h.seen), calls)
}

func (h *Host) call(ctx context.Context, c Call) Result {
	r := h.mounted[c.Name].Call(ctx, c.Arguments)
	result := Result{Content: r.Text, Blocks: r.Blocks, IsError: r.IsError}
	if s := r.Structured(); s != nil {
		result.StructuredContent, _ = json.Marshal(s) // Strings in maps and structs always encode.
	}
	return result
}
