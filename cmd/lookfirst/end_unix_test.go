//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ending is a way in which a client leaves, or is told to.
type ending struct {
	name string
	do   func(p *process)
}

func signalled(s os.Signal) func(*process) {
	return func(p *process) { _ = p.cmd.Process.Signal(s) }
}

// endings are those after which the program ends by itself, with nothing wrong.
func endings() []ending {
	return []ending{
		{"it ends when its client has died", func(p *process) { p.in.Close(); p.out.Close() }},
		{"it ends when its output is closed", func(p *process) { p.out.Close() }},
		{"it ends by SIGTERM", signalled(syscall.SIGTERM)},
		{"it ends by SIGINT", signalled(syscall.SIGINT)},
	}
}

// Within a second of its client the program ends (D26). That is not measured here, where other tests run at the same time;
// but nothing that it could be waiting for, save its own end, would come before the guard that kills it.
func TestEndsIdle(t *testing.T) {
	for _, e := range append(endings(), ending{"it ends with its input", func(p *process) { p.in.Close() }}) {
		t.Run(e.name, func(t *testing.T) {
			p := launch(t, newSite(t).command(t))
			p.ask(hello)
			e.do(p)
			p.exits()
		})
	}
}

// slowCall is a call that takes minutes: before it deletes a file it hashes it, and the file is vast, though there is hardly
// anything of it on the disk. What is compared has no budget, unlike what is looked at (D27).
func slowCall(t *testing.T, s *site) string {
	t.Helper()
	s.put(t, "vast", "")
	if err := os.Truncate(filepath.Join(s.root, "vast"), vastSize); err != nil {
		t.Skipf("the file system makes no sparse file: %v", err)
	}
	return toolCall(t, "slow", "fs_delete", map[string]any{
		"path": "vast", "_expected-revisions": map[string]any{"path": "sha256-v1:file:" + strings.Repeat("0", 64)},
	})
}

const vastSize = 1 << 40

// The answer to a later request says that the call is under way.
func TestEndsAmidACall(t *testing.T) {
	for _, e := range endings() {
		t.Run(e.name, func(t *testing.T) {
			s := newSite(t)
			p := launch(t, s.command(t))
			p.ask(hello)
			p.send(slowCall(t, s))
			if got := p.ask(ping); got != pong {
				t.Fatalf("got %s", got)
			}
			e.do(p)
			p.exits()
			if info, err := os.Stat(filepath.Join(s.root, "vast")); err != nil || info.Size() != vastSize {
				t.Errorf("a call that was given up has done something: %v", err)
			}
		})
	}
}

// A call that is cancelled ends, does nothing and gets no answer; until then its id is in use, and what comes behind waits.
func TestCancelsACall(t *testing.T) {
	for _, handshake := range []string{hello, request(`"hello"`, "tools/list", modernMeta)} {
		s := newSite(t)
		p := launch(t, s.command(t))
		p.ask(handshake)
		p.send(slowCall(t, s))
		if got := p.ask(`{"jsonrpc":"2.0","id":"slow","method":"ping"}`); !holds(parsed(t, got), parsed(t, failed(`"slow"`, -32600))) {
			t.Errorf("an id in use: got %s", got)
		}
		p.send(toolCall(t, "next", "fs_list", nil), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}`)
		if got := p.read(); answerText(t, got) != "vast" || answerID(t, got) != `"next"` {
			t.Errorf("got %s", got)
		}
		p.in.Close()
		if rest := p.rest(); len(rest) > 0 {
			t.Errorf("a cancelled call is answered: %q", rest)
		}
		p.exits()
	}
}

// A call whose client waits for nothing else is not given up: the end of input is the end of questions, not of answers.
func TestEndsAfterTheLastAnswer(t *testing.T) {
	s := newSite(t)
	s.put(t, "large", "")
	if err := os.Truncate(filepath.Join(s.root, "large"), 1<<26); err != nil {
		t.Skipf("the file system makes no sparse file: %v", err)
	}
	p := launch(t, s.command(t))
	p.ask(hello)
	p.send(toolCall(t, 1, "fs_stat", map[string]any{"path": "large"}))
	p.in.Close()
	if got := answerText(t, p.read()); !strings.Contains(got, "size: 67108864") {
		t.Errorf("got %q", got)
	}
	p.exits()
}

func TestEndsOverHTTP(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		for _, amid := range []bool{false, true} {
			t.Run(fmt.Sprintf("it ends by %v, amid a call: %v", sig, amid), func(t *testing.T) {
				s := newSite(t)
				call := slowCall(t, s)
				c, err := start(s.root, s.env(), []string{s.toolkit(t)}, true)
				if err != nil {
					t.Fatal(err)
				}
				defer c.kill()
				if err := c.handshake(); err != nil {
					t.Fatal(err)
				}
				answered := make(chan struct{})
				if amid {
					other := *c.wire.(*post)
					go func() {
						defer close(answered)
						_, _ = other.send(1, call)
					}()
				} else {
					close(answered)
				}
				if _, err := c.request("tools/list", "{}"); err != nil {
					t.Fatal(err)
				}
				if err := c.end(func() error { return c.cmd.Process.Signal(sig) }); err != nil {
					t.Error(err)
				}
				<-answered
			})
		}
	}
}

// edition is a content of which nobody can take half, or a mixture, for the whole.
func edition(n int) string {
	return fmt.Sprintf("%d\n", n) + strings.Repeat(fmt.Sprintf("%019d\n", n), 5_000)
}

// editionOf returns which one a file holds.
func editionOf(t *testing.T, content string) int {
	t.Helper()
	first, _, _ := strings.Cut(content, "\n")
	n, err := strconv.Atoi(first)
	if err != nil || content != edition(n) {
		t.Fatalf("the file is torn: %d bytes, which begin with %.40q", len(content), content)
	}
	return n
}

// A write that is under way at the end lands or leaves no trace (D26): the file holds one edition whole, which is the last
// that was answered for, or a later one.
func TestEndsAmidWrites(t *testing.T) {
	rounds := 4
	if raced {
		rounds = 2
	}
	for _, e := range append(endings(), ending{"it is killed", signalled(syscall.SIGKILL)}) {
		t.Run(e.name, func(t *testing.T) {
			s := newSite(t)
			s.put(t, "file", edition(0))
			written := 0
			for round := range rounds {
				p := launch(t, s.command(t))
				p.ask(hello)
				var lines bytes.Buffer
				for n := range 20 {
					lines.WriteString(toolCall(t, written+n+1, "fs_write", map[string]any{"path": "file", "content": edition(written + n + 1)}) + "\n")
				}
				go func() { _, _ = p.in.Write(lines.Bytes()) }()
				for range 1 + round*4 {
					line := p.read()
					if !worked(line) {
						t.Fatalf("got %.500s", line)
					}
					n, err := strconv.Atoi(answerID(t, line))
					if err != nil {
						t.Fatal(err)
					}
					written = n
				}
				e.do(p)
				if e.name == "it is killed" {
					<-p.ended
				} else {
					p.exits()
				}
				now := editionOf(t, s.get(t, "file"))
				if now < written {
					t.Errorf("round %d: the file holds edition %d, and %d was answered for", round, now, written)
				}
				written = now
				if e.name == "it is killed" {
					continue // What it may leave is cleared away by the next write.
				}
				if diff := cmp.Diff([]string{"file"}, names(t, s.root)); diff != "" {
					t.Errorf("round %d: want -, got +:\n%s", round, diff)
				}
			}
			converse(t, s, hello, toolCall(t, 1, "fs_write", map[string]any{"path": "file", "content": "done"}))
			if diff := cmp.Diff([]string{"file"}, names(t, s.root)); diff != "" {
				t.Errorf("in the end: want -, got +:\n%s", diff)
			}
		})
	}
}
