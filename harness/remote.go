package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/toolkit"
)

// maxRemoteTools is how many tools a server may list. No model can choose among so many, and a server that never comes to
// the end of its list would take all memory.
const maxRemoteTools = 10_000

// maxRemotePages is in how many pieces it may list them: one that leads back to an earlier page would have no end either.
const maxRemotePages = 1000

// RemoteOptions are the settings of a [Remote].
type RemoteOptions struct {
	// Identity is what the server is told of this client. If nil, "lookfirst" without a version.
	Identity *mcp.Implementation
	// Parallel is how many neighbouring reading calls are under way at a time. If zero, 4; there is always room for one.
	Parallel int
	// Report is told what went wrong between here and the server. If nil, it goes to standard error.
	Report func(error)
}

// Remote is the [Provider] of any MCP server. It goes by what the server says of its tools: one that calls a tool read-only
// and idempotent has its calls made side by side. How long a call may take is for the caller's context to say.
//
// Numbers in structured content, and in schemas, are those of a float64. A Remote may be used from several goroutines.
type Remote struct {
	session *mcp.ClientSession
	opt     RemoteOptions

	mu      sync.Mutex      // guards the fields below
	tools   map[string]Tool // nil until the server has been asked
	changes int             // how often the server has told of one
}

// OpenRemote connects to a server: over the pipes of a process with an [mcp.CommandTransport], over HTTP with an
// [mcp.StreamableClientTransport]. The context bounds the connecting. Close the Remote when it is done with.
func OpenRemote(ctx context.Context, t mcp.Transport, o RemoteOptions) (*Remote, error) {
	if o.Identity == nil {
		o.Identity = &mcp.Implementation{Name: "lookfirst"}
	}
	if o.Report == nil {
		o.Report = func(err error) { fmt.Fprintln(os.Stderr, err) }
	}
	r := &Remote{opt: o}
	client := mcp.NewClient(o.Identity, &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{}, // There is nobody here to answer a server's questions.
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { r.forget() },
	})
	session, err := client.Connect(ctx, t, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	r.session = session
	return r, nil
}

// Close ends the session, and the server's process if the transport has started it.
func (r *Remote) Close() error { return r.session.Close() }

// forget drops the list of tools, for the server has said that it is another.
func (r *Remote) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tools = nil
	r.changes++
}

// Tools implements [Provider]. It asks the server each time.
func (r *Remote) Tools(ctx context.Context) ([]Tool, error) {
	byName, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	tools := make([]Tool, 0, len(byName))
	for _, t := range byName {
		tools = append(tools, t)
	}
	sortTools(tools)
	return tools, nil
}

// list asks the server, and keeps what it says unless that has changed meanwhile.
func (r *Remote) list(ctx context.Context) (map[string]Tool, error) {
	r.mu.Lock()
	before := r.changes
	r.mu.Unlock()
	tools, err := r.pages(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the server's tools: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changes == before {
		r.tools = tools
	}
	return tools, nil
}

// pages reads the list to its end.
func (r *Remote) pages(ctx context.Context) (map[string]Tool, error) {
	tools := map[string]Tool{}
	params := &mcp.ListToolsParams{}
	for range maxRemotePages {
		page, err := r.session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if tools[t.Name], err = remoteTool(t); err != nil {
				return nil, err
			}
		}
		switch {
		case len(tools) > maxRemoteTools:
			return nil, fmt.Errorf("there are more than %d", maxRemoteTools)
		case page.NextCursor == "":
			return tools, nil
		}
		params.Cursor = page.NextCursor
	}
	return nil, fmt.Errorf("there are more than %d pages", maxRemotePages)
}

func remoteTool(t *mcp.Tool) (Tool, error) {
	tool := Tool{Name: t.Name, Description: t.Description}
	if t.Annotations != nil {
		tool.ReadOnly, tool.Idempotent = t.Annotations.ReadOnlyHint, t.Annotations.IdempotentHint
	}
	var err error
	if tool.Schema, err = json.Marshal(t.InputSchema); err != nil {
		return Tool{}, fmt.Errorf("encode the schema of %s: %w", quoted(t.Name), err)
	}
	return tool, nil
}

// ExecuteToolCalls implements [Provider]. It asks the server for its tools where that has not been done since they last
// changed.
func (r *Remote) ExecuteToolCalls(ctx context.Context, calls []Call) []Result {
	r.mu.Lock()
	tools := r.tools
	r.mu.Unlock()
	if tools == nil && len(calls) > 0 {
		var err error
		if tools, err = r.list(ctx); err != nil {
			return r.unlisted(calls, err)
		}
	}
	b := batch{tools: tools, parallel: parallelism(r.opt.Parallel), one: r.call}
	return b.run(ctx, calls)
}

func (r *Remote) unlisted(calls []Call, err error) []Result {
	r.opt.Report(err)
	results := make([]Result, len(calls))
	for i, c := range calls {
		results[i] = refused("the call of %s was not made, because its server does not say what tools it has", quoted(c.Name)).answering(c)
	}
	return results
}

func (r *Remote) call(ctx context.Context, c Call) Result {
	answer, err := r.session.CallTool(ctx, &mcp.CallToolParams{Name: c.Name, Arguments: c.Arguments})
	if err != nil {
		return r.failed(ctx, c, err)
	}
	blocks := blocksOf(answer.Content)
	result := Result{Content: textOf(blocks), IsError: answer.IsError}
	if slices.ContainsFunc(blocks, func(b toolkit.Block) bool { return !b.IsText() }) {
		result.Blocks = blocks
	}
	structured := answer.StructuredContent
	if structured == nil {
		structured = answer.Meta[MetaKeyRevisions] // where our own server puts it for some clients (D5a)
	}
	if structured != nil {
		if result.StructuredContent, err = json.Marshal(structured); err != nil {
			r.opt.Report(fmt.Errorf("encode the structured content of %s: %w", quoted(c.Name), err))
		}
	}
	return result
}

// failed words what became of a call without a result. What the server itself says is for the model to read.
func (r *Remote) failed(ctx context.Context, c Call, err error) Result {
	var said *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return refused("the call of %s was cancelled; it is not known whether it did anything", quoted(c.Name))
	case errors.As(err, &said):
		return refused("the server did not take the call of %s: %s", quoted(c.Name), said.Message)
	}
	r.opt.Report(fmt.Errorf("call of %s: %w", quoted(c.Name), err))
	return refused("the server of %s does not answer; it is not known whether the call did anything", quoted(c.Name))
}

// blocksOf are the pieces of a result. A link is given as a text, for a model can do no more with it than read it.
func blocksOf(pieces []mcp.Content) []toolkit.Block {
	var blocks []toolkit.Block
	for _, piece := range pieces {
		switch p := piece.(type) {
		case *mcp.TextContent:
			blocks = append(blocks, toolkit.Block{Text: p.Text})
		case *mcp.ImageContent:
			blocks = append(blocks, toolkit.Block{Data: p.Data, MediaType: p.MIMEType})
		case *mcp.AudioContent:
			blocks = append(blocks, toolkit.Block{Data: p.Data, MediaType: p.MIMEType})
		case *mcp.ResourceLink:
			blocks = append(blocks, toolkit.Block{Text: p.Name + ": " + p.URI})
		case *mcp.EmbeddedResource:
			if p.Resource != nil {
				blocks = append(blocks, toolkit.Block{Text: p.Resource.Text, Data: p.Resource.Blob, MediaType: p.Resource.MIMEType, URI: p.Resource.URI})
			}
		}
	}
	return blocks
}

// textOf joins the texts among the blocks.
func textOf(blocks []toolkit.Block) string {
	var texts []string
	for i := range blocks {
		if blocks[i].IsText() {
			texts = append(texts, blocks[i].Text)
		}
	}
	return strings.Join(texts, "\n")
}
