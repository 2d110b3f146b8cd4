package harness

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// NewServer returns a server without tools, for [Mount], [Serve] and [NewHTTP]. It announces nothing but the tools that
// are mounted, and that what it lists is for one client alone: a cache between us and others must not keep the names of
// somebody's directories (D25).
func NewServer(identity *mcp.Implementation, instructions string) *mcp.Server {
	return mcp.NewServer(identity, &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{}, // Without it the server would announce that it sends log messages.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
}
