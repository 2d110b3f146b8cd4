package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/toolkit"
)

// Toolkit is a set of tools under a common prefix.
type Toolkit struct {
	// Prefix stands before each name, as ToolName says. It may be empty.
	Prefix string
	Tools  []*toolkit.Tool
}

// Toolset is the toolkits that are served, and can be replaced while they are: a call that has begun, or waits in line,
// ends with the tools that it has begun with, and every later one is of the new ones. Sessions, and what they have seen,
// know nothing of it.
//
// Invariant: what Replace takes away is retired once, when the last call of it is over. A Toolset may be used from several
// goroutines.
type Toolset struct {
	mu      sync.Mutex // guards the fields below, and those of generations that say so
	now     *generation
	servers []*mcp.Server // that list the tools

	replacing sync.Mutex // held while the tools are replaced, so that the servers list what is served
}

// generation is the tools between one replacement and the next.
type generation struct {
	tools  map[string]*toolkit.Tool // by their full names
	listed func() []Tool            // sorted by name; schemas are made when somebody asks for them

	// The toolset's mu guards these.
	uses    int    // calls that are not over
	retire  func() // may be nil
	retired bool   // No call is added any more.
}

// NewToolset makes a toolset. It fails when a name is not one that every client accepts, or stands twice among them. The
// toolkits stay the caller's to close.
func NewToolset(kits ...Toolkit) (*Toolset, error) {
	g, err := newGeneration(kits)
	if err != nil {
		return nil, err
	}
	return &Toolset{now: g}, nil
}

func newGeneration(kits []Toolkit) (*generation, error) {
	g := &generation{tools: map[string]*toolkit.Tool{}}
	for _, kit := range kits {
		for _, t := range kit.Tools {
			name, err := ToolName(kit.Prefix, t.Name)
			if err != nil {
				return nil, err
			}
			if g.tools[name] != nil {
				return nil, fmt.Errorf("two tools are called '%s'", name)
			}
			g.tools[name] = t
		}
	}
	g.listed = sync.OnceValue(func() []Tool {
		var all []Tool
		for name, t := range g.tools {
			all = append(all, Tool{Name: name, Description: t.Description, Schema: t.Schema(), ReadOnly: t.ReadOnly, Idempotent: t.ReadOnly})
		}
		sortTools(all)
		return all
	})
	return g, nil
}

// Replace puts other toolkits in the place of those that are served, or fails as [NewToolset] does and changes nothing.
// Clients are told that the list has changed where it has. Retire is for the toolkits that are put in place now: it is
// called in a goroutine of its own when they have been replaced in their turn and their last call is over. It may be nil.
func (s *Toolset) Replace(kits []Toolkit, retire func()) error {
	next, err := newGeneration(kits)
	if err != nil {
		return err
	}
	next.retire = retire
	s.replacing.Lock()
	defer s.replacing.Unlock()
	s.mu.Lock()
	old := s.now
	s.now = next
	old.retired = true
	servers := slices.Clone(s.servers)
	s.mu.Unlock()
	for _, server := range servers {
		s.list(server, old, next)
	}
	s.release(old, 0)
	return nil
}

// OnRetire sets what is called as Replace's retire, for the toolkits that are served now.
func (s *Toolset) OnRetire(retire func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.retire = retire
}

// hasAny says whether there is any tool.
func (s *Toolset) hasAny() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.now.tools) > 0
}

// Mount has the server list the tools, and answer calls of them, now and whenever they are replaced. It cannot see what is
// on the server already: the server silently replaces a tool of the same name.
func (s *Toolset) Mount(server *mcp.Server) {
	s.replacing.Lock()
	defer s.replacing.Unlock()
	s.mu.Lock()
	s.servers = append(s.servers, server)
	g := s.now
	s.mu.Unlock()
	brief := &whole{}
	for name, t := range g.tools {
		server.AddTool(describe(name, t, brief), s.handler(name))
	}
	brief.Store(true)
}

// list tells a server what has changed. It is left alone where nothing has: it would send its clients the news that the
// list has changed for each tool that it is given, the same one too.
func (s *Toolset) list(server *mcp.Server, old, next *generation) {
	before := map[string]Tool{}
	for _, t := range old.listed() {
		before[t.Name] = t
	}
	for _, t := range next.listed() {
		if was, ok := before[t.Name]; !ok || !was.equal(t) {
			always := &whole{}
			always.Store(true) // A client may ask for the list at any time.
			server.AddTool(describe(t.Name, next.tools[t.Name], always), s.handler(t.Name))
		}
		delete(before, t.Name)
	}
	for name := range before {
		server.RemoveTools(name)
	}
}

func (t Tool) equal(o Tool) bool {
	return t.Name == o.Name && t.Description == o.Description && t.ReadOnly == o.ReadOnly && string(t.Schema) == string(o.Schema)
}

// acquire returns the tools that are served now. They are kept until they are released.
func (s *Toolset) acquire() *generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.uses++
	return s.now
}

// release takes back so many uses, and retires what nobody uses any more.
func (s *Toolset) release(g *generation, uses int) {
	s.mu.Lock()
	g.uses -= uses
	retire := g.retire
	if !g.retired || g.uses > 0 {
		retire = nil
	} else {
		g.retire = nil // Once is enough.
	}
	s.mu.Unlock()
	if retire != nil {
		go retire() // It may take a while, and this call's answer may wait, or the next call.
	}
}

// handler never gives an error but for a tool that is there no more: the server would make a protocol error of it, which
// clients show to nobody.
func (s *Toolset) handler(name string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		g := s.acquire()
		defer s.release(g, 1)
		t := g.tools[name]
		if t == nil {
			return nil, unknown(name)
		}
		r := t.Call(ctx, req.Params.Arguments)
		return &mcp.CallToolResult{
			Content:           content(r),
			StructuredContent: r.Structured(),
			IsError:           r.IsError,
		}, nil
	}
}

// structured is the structured content of a result as JSON, or nil.
func structured(r *toolkit.Result) json.RawMessage {
	s := r.Structured()
	if s == nil {
		return nil
	}
	raw, _ := json.Marshal(s) // Strings in maps and structs always encode.
	return raw
}
