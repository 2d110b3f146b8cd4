package harness

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Guard returns a receiving middleware for a server, under which a panic of a handler is the error of its request. The
// library runs handlers in goroutines of its own, where a panic would end the program. A tool needs no guard (see
// [toolkit.Tool.Call]); prompts do. Whatever panicked is told to report with its stack, and not to the client.
func Guard(report func(error)) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (result mcp.Result, err error) {
			defer func() {
				if p := recover(); p != nil {
					report(fmt.Errorf("%s: panic: %v\n%s", method, p, debug.Stack()))
					result = nil
					err = fault(jsonrpc.CodeInternalError, "%.128q failed inside the server", method)
				}
			}()
			return next(ctx, method, request)
		}
	}
}
