package harness

import (
	"context"
	"errors"
	"slices"

	"lookfirst/readstate"
)

// HostOptions are the settings of a [Host].
type HostOptions struct {
	// Toolkits are what the host serves. No two tools may have the same full name.
	Toolkits []Toolkit
	// Toolset is what the host serves in place of Toolkits, for whoever replaces them while the host is in use, or shares
	// them among several hosts.
	Toolset *Toolset
	// Parallel is how many neighbouring reading calls run side by side. If zero, 4; there is always room for one.
	Parallel int
	// ReadState is what the session has seen, in all toolkits together. If nil, the host begins with nothing seen (D7).
	ReadState *readstate.Tracker
}

// Host is the [Provider] of toolkits in this process. It is one session: what was read in any of its toolkits is read for
// all. Whoever serves several conversations makes a host for each. A Host may be used from several goroutines.
type Host struct {
	set      *Toolset
	parallel int
	seen     *readstate.Tracker
}

// NewHost mounts the toolkits. It fails as [NewToolset] does. The toolkits stay the caller's to close, after the last
// call.
func NewHost(o HostOptions) (*Host, error) {
	h := &Host{set: o.Toolset, parallel: parallelism(o.Parallel), seen: o.ReadState}
	if h.seen == nil {
		h.seen = readstate.New()
	}
	if h.set != nil {
		if len(o.Toolkits) > 0 {
			return nil, errors.New("a host has toolkits or a toolset, and not both")
		}
		return h, nil
	}
	set, err := NewToolset(o.Toolkits...)
	if err != nil {
		return nil, err
	}
	h.set = set
	return h, nil
}

// Tools implements [Provider]. It does not fail.
func (h *Host) Tools(context.Context) ([]Tool, error) {
	g := h.set.acquire()
	defer h.set.release(g, 1)
	return slices.Clone(g.listed()), nil
}

// ExecuteToolCalls implements [Provider]. All calls are of the tools that are served when it begins.
func (h *Host) ExecuteToolCalls(ctx context.Context, calls []Call) []Result {
	g := h.set.acquire()
	defer h.set.release(g, 1)
	b := batch{parallel: h.parallel, one: g.call, tools: map[string]Tool{}}
	for name, t := range g.tools {
		b.tools[name] = Tool{Name: name, ReadOnly: t.ReadOnly, Idempotent: t.ReadOnly}
	}
	return b.run(readstate.With(ctx, h.seen), calls)
}

// call makes one call, of a tool that is there.
func (g *generation) call(ctx context.Context, c Call) Result {
	r := g.tools[c.Name].Call(ctx, c.Arguments)
	return Result{Content: r.Text, Blocks: r.Blocks, IsError: r.IsError, StructuredContent: structured(r)}
}
