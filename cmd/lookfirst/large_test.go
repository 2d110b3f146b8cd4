package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A whole file comes in one message, over either transport.
func TestAWriteOf60MB(t *testing.T) {
	lines := 600_000
	if raced {
		lines = 60_000
	}
	line := strings.Repeat("0123456789", 10)
	want := strings.Repeat(line+"\n", lines)
	arguments := `{"path":"large.txt","content":"` + strings.Repeat(line+`\n`, lines) + `"}`
	for name, overHTTP := range map[string]bool{"stdio": false, "http": true} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			c, err := start(s.root, s.env(), []string{s.toolkit(t)}, overHTTP)
			if err != nil {
				t.Fatal(err)
			}
			defer c.kill()
			if err := c.handshake(); err != nil {
				t.Fatal(err)
			}
			result, err := c.request("tools/call", `{"name":"fs_write","arguments":`+arguments+`}`)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(result), fmt.Sprintf(`"text":"Wrote %d bytes to 'large.txt'"`, len(want))) {
				t.Errorf("got %.500s", result)
			}
			got, err := os.ReadFile(filepath.Join(s.root, "large.txt"))
			if err != nil || string(got) != want {
				t.Errorf("the file has %d bytes, want %d: %v", len(got), len(want), err)
			}
			if err := c.end(c.wire.end); err != nil {
				t.Error(err)
			}
		})
	}
}

// A line may be as long as the limit. One that is a byte longer is refused, does nothing, and is the end of nothing.
func TestALineOfTheLimit(t *testing.T) {
	const limit = 64 << 20
	s := newSite(t)
	line := func(path string, length int) string {
		frame := toolCall(t, 1, "fs_write", map[string]any{"path": path, "content": ""})
		return strings.Replace(frame, `"content":""`, `"content":"`+strings.Repeat("x", length-len(frame))+`"`, 1)
	}
	p := launch(t, s.command(t))
	p.ask(hello)
	if got := p.ask(line("long", limit)); !worked(got) {
		t.Errorf("a line of 64 MiB: got %.500s", got)
	}
	if got := len(s.get(t, "long")); got < limit-200 || got >= limit {
		t.Errorf("the file has %d bytes", got)
	}
	if got, want := p.ask(line("over", limit+1)), `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a line is longer than 64 MiB, which is the limit"}}`; got != want {
		t.Errorf("a line of one byte more: got %.500s", got)
	}
	if got := p.ask(ping); got != pong {
		t.Errorf("after it: got %.500s", got)
	}
	p.in.Close()
	p.rest()
	p.exits()
	if got := names(t, s.root); len(got) != 1 {
		t.Errorf("in the root there is %q, want the first file alone", got)
	}
}
