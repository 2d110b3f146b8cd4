package harness

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestGuard(t *testing.T) {
	o := options(t, echo())
	reported := make(chan error, 1)
	o.Server.AddReceivingMiddleware(Guard(func(err error) { reported <- err }))
	o.Server.AddPrompt(&mcp.Prompt{Name: "bad"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		panic("for the log alone")
	})
	o.Server.AddPrompt(&mcp.Prompt{Name: "good"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{}}, nil
	})
	got := inTurn(t, o, modern("1", "prompts/get", `"name":"bad",`), modern("2", "prompts/get", `"name":"good",`))
	same(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"\"prompts/get\" failed inside the server"}}`, got[0])
	if !strings.HasPrefix(got[1], `{"jsonrpc":"2.0","id":2,"result"`) {
		t.Errorf("the next request: got %s", got[1])
	}
	if err := <-reported; !strings.Contains(err.Error(), "for the log alone") || !strings.Contains(err.Error(), "guard_test.go") {
		t.Errorf("reported %v, want the panic with its stack", err)
	}
}
