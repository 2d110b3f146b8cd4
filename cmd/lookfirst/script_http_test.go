package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// announced is what the program has said on standard error, and the URL that it has announced there.
type announced struct {
	said bytes.Buffer // not embedded: its other methods would pass Write by
	url  chan string  // with room for one
	once bool
}

func (a *announced) String() string { return a.said.String() }

func (a *announced) Write(b []byte) (int, error) {
	n, err := a.said.Write(b)
	if m := regexp.MustCompile(`(?m)^lookfirst: listening on (\S+)$`).FindSubmatch(a.said.Bytes()); m != nil && !a.once {
		a.once = true
		a.url <- string(m[1])
	}
	return n, err
}

// post talks over HTTP, in one session.
type post struct {
	child   *child
	url     string
	session string
}

// dial waits until the program listens.
func (c *child) dial() (*post, error) {
	select {
	case url := <-c.stderr.url:
		return &post{child: c, url: url}, nil
	case <-c.lines: // Nothing belongs there, so this is its end.
		return nil, fmt.Errorf("the program ended; standard error:\n%s", c.kill())
	case <-time.After(patience):
		return nil, fmt.Errorf("no URL came within %v; standard error:\n%s", patience, c.kill())
	}
}

func (p *post) send(id int, line string) (*message, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, strings.NewReader(line))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if p.session != "" {
		r.Header.Set("Mcp-Session-Id", p.session)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return nil, err
	case id == 0 && answer.StatusCode == http.StatusAccepted:
		return nil, nil
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("status %d: %s", answer.StatusCode, body)
	}
	if p.session == "" {
		p.session = answer.Header.Get("Mcp-Session-Id")
	}
	return eventOf(id, body)
}

// eventOf returns the answer among the events of a body.
func eventOf(id int, body []byte) (*message, error) {
	for line := range bytes.Lines(body) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		var m message
		if !ok {
			continue
		}
		if err := json.Unmarshal(data, &m); err != nil || m.Version != "2.0" {
			return nil, fmt.Errorf("an event is no JSON-RPC message: %q", data)
		}
		if m.answers(id) {
			return &m, nil
		}
	}
	return nil, fmt.Errorf("the answer is not in the body: %q", body)
}

// end is a signal: there is no end of input. Windows has none that a process could be sent.
func (p *post) end() error {
	if runtime.GOOS == "windows" {
		return p.child.cmd.Process.Kill()
	}
	return p.child.terminate()
}

// isKilled reports whether the program was ended by a kill where that cannot be done better.
func (c *child) isKilled(err error) bool {
	_, overHTTP := c.wire.(*post)
	return overHTTP && runtime.GOOS == "windows" && errors.As(err, new(*exec.ExitError))
}
