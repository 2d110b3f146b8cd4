package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// process is the program as a client runs it: over pipes, of which the test holds the other ends.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	lines  *bufio.Reader // of out
	stderr bytes.Buffer  // to be looked at when it has ended
	ended  chan error
	guard  *time.Timer // kills it when nothing has come of it for longer than anything should take
}

// launch runs the command. It ends with the test at the latest.
func launch(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd, in: inW, out: outR, lines: bufio.NewReader(outR), ended: make(chan error, 1)}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, &p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inR.Close()
	outW.Close()
	go func() {
		p.ended <- cmd.Wait()
		close(p.ended)
	}()
	p.guard = time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }) // which whoever waits for it sees
	t.Cleanup(func() {
		p.guard.Stop()
		inW.Close()
		outR.Close()
		_ = cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// send sends lines.
func (p *process) send(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatalf("send: %v; standard error:\n%s", err, p.gone())
	}
}

// read returns the next line.
func (p *process) read() string {
	p.t.Helper()
	line, err := p.lines.ReadString('\n')
	p.guard.Reset(patience)
	if err != nil {
		p.t.Fatalf("read: %v after %q; standard error:\n%s", err, line, p.gone())
	}
	return strings.TrimSuffix(line, "\n")
}

// ask sends a request and returns the next line, which is its answer where nothing else is under way.
func (p *process) ask(line string) string {
	p.t.Helper()
	p.send(line)
	return p.read()
}

// rest returns the lines up to the end of what the program says.
func (p *process) rest() []string {
	p.t.Helper()
	b, err := io.ReadAll(p.lines)
	if err != nil {
		p.t.Fatalf("read: %v", err)
	}
	if len(b) > 0 && !bytes.HasSuffix(b, []byte("\n")) {
		p.t.Errorf("the output ends within a line: %.200q", b[bytes.LastIndexByte(b, '\n')+1:])
	}
	return slices.Collect(strings.Lines(string(b)))
}

// gone ends the program, and returns what it has said on standard error.
func (p *process) gone() string {
	_ = p.cmd.Process.Kill()
	<-p.ended
	return p.stderr.String()
}

// exits waits for the program to end by itself, which it must do with status 0 and without a panic.
func (p *process) exits() {
	p.t.Helper()
	start := time.Now()
	if err := <-p.ended; err != nil {
		p.t.Errorf("the program ended with %v; standard error:\n%s", err, &p.stderr)
	}
	p.t.Logf("it ended %v after it was waited for", time.Since(start).Round(time.Millisecond)) // not judged: the machine may be busy
	if said := p.stderr.String(); strings.Contains(said, "panic") || strings.Contains(said, "DATA RACE") {
		p.t.Errorf("standard error:\n%s", said)
	}
}

// converse says the lines and no more, and returns all that comes back.
func converse(t testing.TB, s *site, lines ...string) []string {
	t.Helper()
	p := launch(t, s.command(t))
	go func() {
		_, _ = io.WriteString(p.in, strings.Join(lines, "\n")) // The last line needs no line break.
		p.in.Close()
	}()
	said := p.rest()
	p.exits()
	p.out.Close()
	return said
}

const (
	hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	ready = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	ping  = `{"jsonrpc":"2.0","id":"ping","method":"ping"}`
	pong  = `{"jsonrpc":"2.0","id":"ping","result":{}}`
	// modernMeta is what a request of the modern era carries.
	modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
)

// toolCall is a call in an older session; the arguments are what JSON makes of the map.
func toolCall(t testing.TB, id any, tool string, arguments map[string]any) string {
	t.Helper()
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// modern makes a call of the modern era of one of an older session.
func modern(line string) string {
	return strings.Replace(line, `"params":{`, `"params":{`+modernMeta+`,`, 1)
}

// called is the answer to a call.
type called struct {
	ID     json.RawMessage `json:"id"`
	Error  json.RawMessage `json:"error"`
	Result *answer         `json:"result"`
}

// answerText returns the text of the answer to a call that worked.
func answerText(t testing.TB, line string) string {
	t.Helper()
	var c called
	if err := json.Unmarshal([]byte(line), &c); err != nil {
		t.Fatalf("%v in %.500q", err, line)
	}
	if c.Error != nil || c.Result == nil || c.Result.IsError || len(c.Result.Content) != 1 {
		t.Fatalf("the call did not work: %.500s", line)
	}
	return c.Result.Content[0].Text
}

func worked(line string) bool {
	var c called
	return json.Unmarshal([]byte(line), &c) == nil && c.Result != nil && !c.Result.IsError
}

// answerID returns the id of an answer as it was written, or nothing for a notification.
func answerID(t testing.TB, line string) string {
	t.Helper()
	var c called
	if err := json.Unmarshal([]byte(line), &c); err != nil {
		t.Fatalf("%v in %.500q", err, line)
	}
	return string(c.ID)
}

func decode(line string, into any) error {
	if err := json.Unmarshal([]byte(line), into); err != nil {
		return fmt.Errorf("%w in %.500q", err, line)
	}
	return nil
}
