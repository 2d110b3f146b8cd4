package main

import (
	"bytes"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/harness"
)

// connector makes a new connection to the program, under a client's name where that matters. It ends with the test.
type connector func(t *testing.T, client string) harness.Provider

// transports are the ways to reach the program. Each serves the site in its bare form, as most people start it.
func transports() map[string]func(*testing.T, *site) connector {
	return map[string]func(*testing.T, *site) connector{"stdio": overPipes, "HTTP": overHTTP}
}

// overPipes gives each connection a program of its own, as clients do.
func overPipes(_ *testing.T, s *site) connector {
	return func(t *testing.T, client string) harness.Provider {
		program, err := exec.LookPath("lookfirst")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, s.root)
		var stderr bytes.Buffer // to be looked at when it has ended
		cmd.Env, cmd.Stderr = s.env(), &stderr
		r := remote(t, &mcp.CommandTransport{Command: cmd}, client)
		t.Cleanup(func() {
			if err := r.Close(); err != nil || !cmd.ProcessState.Success() {
				t.Errorf("close: %v; the program ended with %v", err, cmd.ProcessState)
			}
			if said := stderr.String(); strings.Contains(said, "panic") || strings.Contains(said, "DATA RACE") || strings.Contains(said, "warning") {
				t.Errorf("standard error:\n%s", said)
			}
		})
		return r
	}
}

// overHTTP gives each connection a session of one program.
func overHTTP(t *testing.T, s *site) connector {
	t.Helper()
	c, err := start(s.root, s.env(), []string{s.root}, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.end(c.wire.end); err != nil {
			t.Error(err)
		}
	})
	url := c.wire.(*post).url
	return func(t *testing.T, client string) harness.Provider {
		r := remote(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: older{}}}, client)
		t.Cleanup(func() {
			if err := r.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		return r
	}
}

// older makes a client take the server for one of the era with sessions: over HTTP the other era has none, and then nobody
// could know what was read (D8).
type older struct{}

func (older) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Mcp-Method") != "server/discover" {
		return http.DefaultTransport.RoundTrip(r)
	}
	return &http.Response{Status: "404 Not Found", StatusCode: http.StatusNotFound, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
}

// remote connects to the program. The caller closes it.
func remote(t *testing.T, transport mcp.Transport, client string) *harness.Remote {
	t.Helper()
	o := harness.RemoteOptions{Report: func(err error) { t.Errorf("reported: %v", err) }}
	if client != "" {
		o.Identity = &mcp.Implementation{Name: client, Version: "1"}
	}
	r, err := harness.OpenRemote(t.Context(), transport, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
