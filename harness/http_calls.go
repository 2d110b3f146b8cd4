package harness

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/toolkit"
)

// middleware stands around every method of the server, below [Guard]. What goes wrong in one is answered with a code that
// says something.
func (h *HTTP) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		if call, ok := req.(*mcp.CallToolRequest); ok {
			result, err = h.call(ctx, call, next)
		} else {
			result, err = next(ctx, method, req)
		}
		if err != nil {
			return nil, serverError(method, err)
		}
		return result, nil
	}
}

// call makes one tool call, as a connection of a pipe does. It is counted here and not where its request is, because a call
// of an older client goes on when its connection is gone.
func (h *HTTP) call(ctx context.Context, req *mcp.CallToolRequest, next mcp.MethodHandler) (mcp.Result, error) {
	h.load.add(0, false)
	defer h.load.remove(0, false)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.calls, cancel)()

	placement := h.placementFor(req)
	if h.placement.isAuto() && placement == PlaceMeta {
		ctx = toolkit.WithoutTreeRevisions(ctx)
	}
	if token := req.Params.GetProgressToken(); token != nil {
		p := newProgress(func(done, total int64, message string) {
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: float64(done), Total: float64(total), Message: message,
			}) // Whoever cannot be told does not wait for the answer either.
		})
		defer p.end()
		ctx = toolkit.WithProgress(ctx, p.report)
	}
	result, err := next(ctx, "tools/call", req)
	if r, ok := result.(*mcp.CallToolResult); ok && placement == PlaceMeta && r.StructuredContent != nil {
		r.Meta = mcp.Meta{MetaKeyRevisions: r.StructuredContent}
		r.StructuredContent = nil
	}
	return result, err
}

// placementFor returns where the client of a request wants revisions.
func (h *HTTP) placementFor(req *mcp.CallToolRequest) Placement {
	if client := req.ClientInfo(); client != nil {
		return h.placement.For(client.Name)
	}
	return h.placement.For("")
}
