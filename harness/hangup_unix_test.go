//go:build unix

package harness

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// A client that has died is told from one that has said all by its output: nothing is written while a call takes its
// time, so the end is found by looking.
func TestServeNoticesThatItsClientHasDied(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	started, cancelled := make(chan struct{}), make(chan struct{})
	o := options(t, patient(started, cancelled))
	o.In, o.Out = strings.NewReader(modern("1", "tools/call", `"name":"slow",`)), w
	ended := make(chan error)
	go func() { ended <- Serve(t.Context(), o) }()
	<-started
	select {
	case err := <-ended:
		t.Fatalf("it ended with %v while its client could read", err)
	default:
	}
	r.Close()
	<-cancelled
	if err := <-ended; err != nil {
		t.Errorf("got %v, want no error", err)
	}
}

// A client need not close its input too: what it asked is of no use to anybody.
func TestServeEndsWithItsOutput(t *testing.T) {
	for _, busy := range []bool{false, true} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		started, cancelled := make(chan struct{}), make(chan struct{})
		o := options(t, patient(started, cancelled))
		inR, inW := io.Pipe()
		defer inW.Close()
		o.In, o.Out = inR, w
		ended := make(chan error)
		go func() { ended <- Serve(t.Context(), o) }()
		if busy {
			fmt.Fprintln(inW, modern("1", "tools/call", `"name":"slow",`))
			<-started
		}
		r.Close()
		if err := <-ended; err != nil {
			t.Errorf("got %v, want no error", err)
		}
		if busy {
			<-cancelled
		}
	}
}

func TestServeWaitsForAClientThatReads(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	started, release := make(chan struct{}), make(chan struct{})
	o := options(t, gated(started, release))
	inR, inW := io.Pipe()
	o.In, o.Out = inR, w
	ended := make(chan error)
	go func() {
		err := Serve(t.Context(), o)
		w.Close()
		ended <- err
	}()
	fmt.Fprintln(inW, modern("1", "tools/call", `"name":"hold",`))
	<-started
	inW.Close()
	close(release)
	got, err := io.ReadAll(r)
	if err != nil || !strings.HasPrefix(string(got), `{"jsonrpc":"2.0","id":1,"result"`) {
		t.Errorf("got %q, %v", got, err)
	}
	if err := <-ended; err != nil {
		t.Errorf("got %v, want no error", err)
	}
}
