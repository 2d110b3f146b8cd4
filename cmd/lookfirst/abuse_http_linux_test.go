package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// Clients over HTTP break off anywhere: in the header, in the body, before the answer, or after one of two ways is closed.
func TestAbuseOverHTTP(t *testing.T) {
	a := newAbuse(t)
	s := newSite(t)
	converse(t, s, hello, toolCall(t, 1, "fs_list", nil))
	cached := tree(t, s.cache)
	c, err := start(s.root, s.env(), []string{s.toolkit(t)}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer c.kill()
	if err := c.handshake(); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(c.wire.(*post).url)
	if err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	random := rand.New(rand.NewPCG(a.seed, 0))
	lines := abusiveLines(t, random, a.connections)
	breakOff(t, random, at, lines[0]) // which opens what is opened once
	before := descriptors(t, c.cmd.Process.Pid)
	for _, line := range lines {
		breakOff(t, random, at, line)
	}
	for deadline := time.Now().Add(patience); descriptors(t, c.cmd.Process.Pid) > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) { // The program closes its ends when it has seen that ours are closed.
			t.Fatalf("the program has %d files open, and had %d", descriptors(t, c.cmd.Process.Pid), before)
		}
	}
	if _, err := c.request("tools/list", "{}"); err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := c.end(c.wire.end); err != nil {
		t.Error(err)
	}
	s.isClean(t, cached)
}

// breakOff sends a message as a request, or some of it, and leaves.
func breakOff(t *testing.T, random *rand.Rand, at *url.URL, body string) {
	t.Helper()
	version := []string{"2025-11-25", "2026-07-28", "none"}[random.IntN(3)]
	said := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: */*\r\nMcp-Protocol-Version: %s\r\n"+
		"Mcp-Method: tools/call\r\nContent-Length: %d\r\n\r\n%s", at.Path, at.Host, version, len(body), body)
	if random.IntN(2) == 0 {
		said = said[:random.IntN(len(said))]
	}
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, said) // The program may have refused it by now.
	switch random.IntN(4) {
	case 0:
		_ = conn.(*net.TCPConn).CloseWrite()
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) && !strings.Contains(body, "listen") {
			t.Errorf("the connection stays open after %q", said)
		}
	case 1:
		_ = conn.(*net.TCPConn).SetLinger(0) // closes it with a reset
	}
}
