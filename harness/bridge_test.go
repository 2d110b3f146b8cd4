package harness

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A plain error of a prompt has no code of its own; on the wire it must have one.
func TestServeGivesEveryErrorACode(t *testing.T) {
	o := options(t, echo())
	o.Server.AddPrompt(&mcp.Prompt{Name: "failing"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return nil, context.DeadlineExceeded
	})
	got := inTurn(t, o, modern("1", "prompts/get", `"name":"failing",`))
	same(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"context deadline exceeded"}}`, got[0])
}

// Some answers of the library go by how a session has begun, and not by the request.
func TestServeKeepsTheErasApart(t *testing.T) {
	o := options(t, echo())
	o.Server.AddPrompt(&mcp.Prompt{Name: "good"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{}}, nil
	})
	got := inTurn(t, o, hello, modern("1", "prompts/get", `"name":"good",`), `{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"good"}}`)
	same(t, `{"jsonrpc":"2.0","id":1,"result":{"messages":[],"resultType":"complete",`+wholeInfo+`}}`, got[1])
	same(t, `{"jsonrpc":"2.0","id":2,"result":{"messages":[]}}`, got[2])
}

// Two ids that are one number to whoever reads numbers as floating-point are two to us.
func TestServeTellsLargeIDsApart(t *testing.T) {
	o := options(t, echo())
	started, release := make(chan struct{}), make(chan struct{})
	o.Server.AddPrompt(&mcp.Prompt{Name: "slow"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		close(started)
		<-release
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{}}, nil
	})
	p := dial(t, o)
	p.send("%s", modern("9007199254740992", "prompts/get", `"name":"slow",`))
	<-started
	p.send("%s", modern("9007199254740993", "tools/list", ""))
	if got := p.read(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":9007199254740993,"result"`) {
		t.Errorf("got %s", got)
	}
	close(release)
	if got := p.read(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":9007199254740992,"result"`) {
		t.Errorf("got %s", got)
	}
}

// What was asked in a session is answered, though a second initialize has begun another one since.
func TestServeAnswersWhatAReplacedSessionWasAsked(t *testing.T) {
	o := options(t, echo())
	started, release := make(chan struct{}), make(chan struct{})
	o.Server.AddPrompt(&mcp.Prompt{Name: "slow"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		close(started)
		<-release
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{}}, nil
	})
	p := dial(t, o)
	p.send("%s", hello)
	p.read()
	p.send(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"slow"}}`)
	<-started
	p.send("%s", hello)
	if got := p.read(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":"hello","result"`) {
		t.Errorf("got %s", got)
	}
	close(release)
	same(t, `{"jsonrpc":"2.0","id":1,"result":{"messages":[]}}`, p.read())
}
