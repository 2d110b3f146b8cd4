package harness

import (
	"context"

	"lookfirst/fsmcp/toolkit"
)

// echoTool is an echo that keeps nothing of the text but its length.
type echoTool struct{ length int }

func (e *echoTool) tool() *toolkit.Tool {
	t := named("echo")[0]
	t.Params = []toolkit.Param{{Name: "text", Type: "string"}}
	t.Handle = func(_ context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
		e.length = len(a.String("text"))
		return &toolkit.Answer{}, nil
	}
	return t
}

// gated is a tool called hold, a reading one, which closes started and goes on when release is closed.
func gated(started chan<- struct{}, release <-chan struct{}) *toolkit.Tool {
	t := named("hold")[0]
	t.ReadOnly = true
	t.Handle = func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
		close(started)
		<-release
		return &toolkit.Answer{}, nil
	}
	return t
}

// patient is a tool called slow, which closes started, waits until its call is cancelled, and closes cancelled.
func patient(started, cancelled chan<- struct{}) *toolkit.Tool {
	t := named("slow")[0]
	t.Handle = func(ctx context.Context, _ *toolkit.Args) (*toolkit.Answer, error) {
		close(started)
		<-ctx.Done()
		close(cancelled)
		return nil, ctx.Err()
	}
	return t
}
