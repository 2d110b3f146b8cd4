package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// program is the program within the test, serving over HTTP.
type program struct {
	url    string
	said   *strings.Builder // standard error, until over
	over   <-chan struct{}
	stop   context.CancelFunc
	status <-chan int
}

// serving runs the program until it has announced its URL.
func serving(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r, w := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, append([]string{"--http=0"}, args...), strings.NewReader(""), failing{t}, w)
		w.Close()
	}()
	over := make(chan struct{})
	p := &program{said: &strings.Builder{}, over: over, stop: stop, status: status}
	url := make(chan string, 1)
	go func() {
		defer close(over)
		defer close(url)
		announced := &announced{url: url}
		_, _ = io.Copy(io.MultiWriter(p.said, announced), r)
	}()
	t.Cleanup(func() {
		stop()
		<-over
	})
	if p.url = <-url; p.url == "" {
		t.Fatalf("it did not begin: %s", p.said)
	}
	return p
}

// ended stops the program, and returns its status and what it has said.
func (p *program) ended() (int, string) {
	p.stop()
	<-p.over
	return <-p.status, p.said.String()
}

// failing is a standard output on which nothing may appear.
type failing struct{ t *testing.T }

func (f failing) Write(b []byte) (int, error) {
	f.t.Errorf("standard output: %q", b)
	return len(b), nil
}

func TestHTTPServes(t *testing.T) {
	dir := t.TempDir()
	p := serving(t, dir)
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: p.url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "fs_write", Arguments: map[string]any{"path": version, "content": "a\n"}})
			if err != nil || result.IsError {
				t.Fatalf("%+v, %v", result, err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, version)); err != nil || string(got) != "a\n" {
				t.Errorf("the file holds %q: %v", got, err)
			}
		})
	}
	t.Run("it writes a file of 60 MB", func(t *testing.T) {
		line := strings.Repeat("0123456789", 10)
		wire := &post{url: p.url}
		if _, err := wire.send(1, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`); err != nil {
			t.Fatal(err)
		}
		answer, err := wire.send(2, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fs_write","arguments":{"path":"large","content":"`+
			strings.Repeat(line+`\n`, 600_000)+`"}}}`)
		if err != nil || answer.Error != nil {
			t.Fatalf("%+v, %v", answer, err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "large"))
		if err != nil || string(got) != strings.Repeat(line+"\n", 600_000) {
			t.Errorf("the file has %d bytes: %v", len(got), err)
		}
	})
	status, said := p.ended()
	want := regexp.MustCompile(`^lookfirst: serving '.*' for reading and writing, with fs_read and so on\nlookfirst: serving '.*' for reading and writing, with read_file and so on\nlookfirst: listening on http://127\.0\.0\.1:\d+/mcp\n$`)
	if status != 0 || !want.MatchString(said) {
		t.Errorf("status %d, standard error %q", status, said)
	}
}

func TestHTTPFlagsReachTheServer(t *testing.T) {
	p := serving(t, t.TempDir(), "--http-path=/a/b", "--allow-origin=https://listed.example", "--revisions=meta")
	wire := &post{url: p.url}
	if _, err := wire.send(1, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`); err != nil {
		t.Fatal(err)
	}
	answer, err := wire.send(2, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fs_list"}}`)
	if err != nil || !strings.Contains(string(answer.Result), `"_meta":{"lookfirst/revisions":{`) || strings.Contains(string(answer.Result), "structuredContent") {
		t.Errorf("with --revisions=meta: %s, %v", answer.Result, err)
	}
	if !strings.HasSuffix(p.url, "/a/b") {
		t.Errorf("the URL is %s", p.url)
	}
	for origin, want := range map[string]int{"https://listed.example": http.StatusNoContent, "https://evil.example": http.StatusForbidden} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, p.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", "POST")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s gives %d, want %d", origin, answer.StatusCode, want)
		}
	}
}

func TestHTTPWarnsBeyondThisMachine(t *testing.T) {
	const warning = "lookfirst: warning: other machines can reach this address"
	for host, want := range map[string]bool{"0.0.0.0": true, "127.0.0.1": false, "localhost": false} {
		status, said := serving(t, t.TempDir(), "--host", host).ended()
		if status != 0 || strings.Contains(said, warning) != want {
			t.Errorf("%s: status %d, standard error %q", host, status, said)
		}
	}
}

func TestHTTPRefusesAPortInUse(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--http=" + port, t.TempDir()}
	if status, _, errs := output(t, args...); status != exitUsage || !strings.Contains(errs, "\nlookfirst: listen tcp 127.0.0.1:"+port) {
		t.Errorf("status %d: %s", status, errs)
	}
	// Without the other listener it works; the context has ended before it begins, so it ends at once.
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	var errs strings.Builder
	stop := &cancelling{cancel: func() { cancel(errors.New("over")) }}
	if status := run(ctx, args, strings.NewReader(""), failing{t}, io.MultiWriter(&errs, afterListening{stop})); status != 0 {
		t.Errorf("status %d: %s", status, &errs)
	}
}

// afterListening lets through what is written once the program listens.
type afterListening struct{ to io.Writer }

func (a afterListening) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "listening") {
		return a.to.Write(b)
	}
	return len(b), nil
}
