package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lookfirst/harness"
)

// provider is a provider with one tool, called t.
type provider struct {
	execute func(ctx context.Context, calls []harness.Call) []harness.Result
}

func (p *provider) Tools(context.Context) ([]harness.Tool, error) {
	return []harness.Tool{{Name: "t"}}, nil
}

func (p *provider) ExecuteToolCalls(ctx context.Context, calls []harness.Call) []harness.Result {
	return p.execute(ctx, calls)
}

func TestProvidersThatFail(t *testing.T) {
	for _, c := range []struct {
		name    string
		execute func(context.Context, []harness.Call) []harness.Result
	}{
		{"panics", func(context.Context, []harness.Call) []harness.Result { panic("broken") }},
		{"gives no result", func(context.Context, []harness.Call) []harness.Result { return nil }},
		{"gives two", func(context.Context, []harness.Call) []harness.Result { return make([]harness.Result, 2) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			failed, err := Run(t.Context(), Options{Provider: &provider{c.execute}, In: strings.NewReader("t\n# and on\n"), Out: &out, Errors: io.Discard, Echo: true})
			want := text("> t", "error: the call of 't' has no answer: it failed inside the program; nothing more is known here, the details are on standard error", "> # and on")
			if diff := cmp.Diff(want, out.String()); diff != "" || !failed || err != nil {
				t.Errorf("failed %v, %v\n%s", failed, err, diff)
			}
		})
	}
}

// stalled is an input that gives nothing until it is closed.
func stalled(t *testing.T) io.Reader {
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	return r
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Run("while it waits for a line", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(0, cancel)
		failed, err := Run(ctx, Options{Provider: &provider{}, In: stalled(t), Out: io.Discard, Errors: io.Discard})
		if !failed || err != nil {
			t.Errorf("failed %v, %v", failed, err)
		}
	})
	t.Run("while a call ends", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		waits := &provider{func(ctx context.Context, calls []harness.Call) []harness.Result {
			cancel()
			<-ctx.Done()
			return []harness.Result{{Content: "ended"}}
		}}
		var out bytes.Buffer
		failed, err := Run(ctx, Options{Provider: waits, In: strings.NewReader("t\nt\n"), Out: &out, Errors: io.Discard})
		if out.String() != "ended\n" || !failed || err != nil {
			t.Errorf("%q, failed %v, %v", out.String(), failed, err)
		}
	})
	t.Run("while a call does not end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			release := make(chan struct{})
			deaf := &provider{func(context.Context, []harness.Call) []harness.Result {
				cancel()
				<-release
				return nil
			}}
			var out bytes.Buffer
			began := time.Now()
			failed, err := Run(ctx, Options{Provider: deaf, In: strings.NewReader("t\nt\n"), Out: &out, Errors: io.Discard})
			if took := time.Since(began); took != patience {
				t.Errorf("it took %v", took)
			}
			if want := "error: the call of 't' has no answer: it was cancelled and has not ended; it is not known what it has done\n"; out.String() != want || !failed || err != nil {
				t.Errorf("%q, failed %v, %v", out.String(), failed, err)
			}
			close(release)
		})
	})
}

// TestCtrlCCancelsOneCall sends what a terminal's signal would be.
func TestCtrlCCancelsOneCall(t *testing.T) {
	c, err := newConsole(Options{In: strings.NewReader(""), Out: io.Discard, Errors: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	interrupts := make(chan os.Signal, 1)
	c.interrupts = interrupts
	interrupts <- os.Interrupt
	if got, err := run(t.Context(), c, func(ctx context.Context) (bool, error) { return ctx.Err() == nil, nil }); !got || err != nil || c.interrupted {
		t.Errorf("a key that was pressed before: %v, %v, interrupted %v", got, err, c.interrupted)
	}
	_, err = run(t.Context(), c, func(ctx context.Context) (bool, error) {
		interrupts <- os.Interrupt
		<-ctx.Done()
		return false, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || !c.interrupted {
		t.Errorf("a key that was pressed meanwhile: %v, interrupted %v", err, c.interrupted)
	}
}

func TestCtrlCWhileLookingChangesNothing(t *testing.T) {
	interrupts := make(chan os.Signal, 1)
	looks := &provider{func(ctx context.Context, _ []harness.Call) []harness.Result {
		interrupts <- os.Interrupt
		<-ctx.Done()
		return nil
	}}
	c, err := newConsole(Options{Provider: reading{looks}, Preview: reading{looks}, In: strings.NewReader(""), Out: io.Discard, Errors: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	c.person = true
	c.lines = newPump(newScript(strings.NewReader("y\ny\n")))
	c.interrupts = interrupts
	if !c.allows(t.Context(), harness.Call{Name: "write", Arguments: []byte(`[]`)}) {
		t.Error("what is allowed, and cannot be looked at, is not made")
	}
	if c.allows(t.Context(), harness.Call{Name: "write", Arguments: []byte(`{"path":"a"}`)}) {
		t.Error("what was interrupted is made")
	}
}

// reading is a provider whose tools are those that a change is looked at with, and one that changes.
type reading struct{ *provider }

func (reading) Tools(context.Context) ([]harness.Tool, error) {
	return []harness.Tool{{Name: "read", ReadOnly: true, Schema: []byte(`{"properties":{"path":{}}}`)}, {Name: "list", ReadOnly: true}, {Name: "write"}}, nil
}

type brokenPipe struct{}

var errBroken = errors.New("broken")

func (brokenPipe) Read([]byte) (int, error)  { return 0, errBroken }
func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

func TestRunReportsItsStreams(t *testing.T) {
	made := 0
	counts := &provider{func(context.Context, []harness.Call) []harness.Result {
		made++
		return []harness.Result{{Content: "made"}}
	}}
	if _, err := Run(t.Context(), Options{Provider: counts, In: strings.NewReader("t\nt\n"), Out: brokenPipe{}, Errors: io.Discard}); !errors.Is(err, errBroken) || made != 1 {
		t.Errorf("an output that is gone: %v, %d calls", err, made)
	}
	if _, err := Run(t.Context(), Options{Provider: counts, In: brokenPipe{}, Out: io.Discard, Errors: io.Discard}); !errors.Is(err, errBroken) {
		t.Errorf("an input that fails: %v", err)
	}
}
