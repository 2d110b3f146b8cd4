package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long the program may take over one answer. It is a guard against hanging and not a measurement.
const patience = time.Minute

// conversation is what one script knows of the program it talks to.
type conversation struct {
	t        testscript.T
	overHTTP bool
	heard    func(transcript []string) // is told, at the end of the script, all that came back
	said     []string
	args     []string
	child    *child            // nil while none runs
	last     *answer           // of the latest call
	saved    map[string]string // tokens by the name under which they were saved
}

type conversationKey struct{}

// abandon ends the program when the script is over. A script that has not closed it is held to the same end.
func (c *conversation) abandon() {
	c.heard(c.said)
	if c.child == nil {
		return
	}
	if err := c.child.end(c.child.wire.end); err != nil {
		c.child.kill()
		c.t.Log("at the end of the script: ", err)
		c.t.FailNow()
	}
}

// hear keeps what came back of a question, with its times and places made equal, to be compared with what came over another
// transport. One may escape characters that the other leaves as they are, so it is kept in an encoding of our own.
func (c *conversation) hear(question string, raw []byte) {
	times := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	var value any
	if err := json.Unmarshal(raw, &value); err == nil {
		raw, _ = json.Marshal(value) // It was JSON a moment ago.
	}
	said := strings.ReplaceAll(string(times.ReplaceAll(raw, []byte("TIME"))), c.saved["WORK"], "WORK")
	c.said = append(c.said, question+"\n"+said)
}

// answer is a tool's result as it came over the pipe.
type answer struct {
	Content    []block     `json:"content"`
	Structured *structured `json:"structuredContent"`
	IsError    bool        `json:"isError"`
}

type block struct {
	Type      string   `json:"type"`
	Text      string   `json:"text"`
	MediaType string   `json:"mimeType"`
	Data      []byte   `json:"data"`
	Resource  resource `json:"resource"`
}

// String is for the messages of a script that fails.
func (b block) String() string {
	return fmt.Sprintf("%s %s%s %q (%d bytes)", b.Type, b.MediaType, b.Resource.MediaType, b.Text, len(b.Data)+len(b.Resource.Blob))
}

type resource struct {
	URI       string `json:"uri"`
	MediaType string `json:"mimeType"`
	Blob      []byte `json:"blob"`
}

type structured struct {
	Scheme    string `json:"revisionScheme"`
	Revisions map[string]struct {
		State string `json:"state"`
		Token string `json:"token"`
	} `json:"revisions"`
}

// child is the running program.
type child struct {
	wire   wire
	cmd    *exec.Cmd
	lines  chan []byte // of standard output, closed at its end
	stdout bytes.Buffer
	stderr announced
	nextID int
}

// wire is a way to talk to the program.
type wire interface {
	// send sends a message, and returns the answer to the request of this id; with 0, for a notification, there is none.
	send(id int, line string) (*message, error)
	// end ends the program as its client does.
	end() error
}

// start runs the program. Whoever starts it must end it.
func start(dir string, env, args []string, overHTTP bool) (*child, error) {
	program, err := exec.LookPath("lookfirst")
	if err != nil {
		return nil, err
	}
	if overHTTP {
		args = append([]string{"--http=0"}, args...)
	}
	c := &child{cmd: exec.Command(program, args...), lines: make(chan []byte)}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = dir, env, &c.stderr
	p := &pipe{child: c}
	if p.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.stderr.url = make(chan string, 1)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go c.read(stdout)
	if c.wire = p; overHTTP {
		c.wire, err = c.dial()
	}
	return c, err
}

// read passes standard output on line by line, whether it is asked for or not.
func (c *child) read(stdout io.Reader) {
	defer close(c.lines)
	r := bufio.NewReader(stdout)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			c.lines <- line
		}
		if err != nil {
			return
		}
	}
}

// handshake opens a session.
func (c *child) handshake() error {
	_, err := c.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"script","version":"1"}}`)
	if err != nil {
		return err
	}
	_, err = c.wire.send(0, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return err
}

// request sends a request whose params are JSON as it stands, and waits for its result.
func (c *child) request(method, params string) (json.RawMessage, error) {
	c.nextID++
	m, err := c.wire.send(c.nextID, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.nextID, method, params))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w; standard error:\n%s", method, err, c.kill())
	case m.Error != nil:
		return nil, fmt.Errorf("%s: a protocol error: %s", method, m.Error)
	default:
		return m.Result, nil
	}
}

// pipe talks over standard input and output.
type pipe struct {
	child *child
	stdin io.WriteCloser
}

func (p *pipe) send(id int, line string) (*message, error) {
	if _, err := fmt.Fprintln(p.stdin, line); err != nil || id == 0 {
		return nil, err
	}
	for {
		m, err := p.child.message()
		if err != nil || m.answers(id) {
			return m, err
		}
	}
}

func (p *pipe) end() error { return p.stdin.Close() }

// message is any JSON-RPC message.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// answers reports whether the message is the answer to the request of this id, and no notification or request to us.
func (m *message) answers(id int) bool { return m.Method == "" && string(m.ID) == fmt.Sprint(id) }

// message reads the next line of standard output, which must be a message. At its end it returns io.EOF.
func (c *child) message() (*message, error) {
	select {
	case line, ok := <-c.lines:
		if !ok {
			return nil, io.EOF
		}
		c.stdout.Write(line)
		var m message
		if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" || !bytes.HasSuffix(line, []byte("\n")) {
			return nil, fmt.Errorf("standard output holds a line that is no JSON-RPC message: %q", line)
		}
		return &m, nil
	case <-time.After(patience):
		return nil, fmt.Errorf("nothing came within %v", patience)
	}
}

// end makes the program end by doing stop, and checks how it does.
func (c *child) end(stop func() error) error {
	if err := stop(); err != nil {
		return err
	}
	for {
		_, err := c.message()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w; standard error:\n%s", err, c.kill())
		}
	}
	if err := c.cmd.Wait(); err != nil && !c.isKilled(err) {
		return fmt.Errorf("the program ended with %w; standard error:\n%s", err, &c.stderr)
	}
	if _, ok := c.wire.(*post); ok && c.stdout.Len() > 0 {
		return fmt.Errorf("standard output is not empty: %q", &c.stdout)
	}
	if strings.Contains(c.stderr.String(), "panic") {
		return fmt.Errorf("the program panicked; standard error:\n%s", &c.stderr)
	}
	return nil
}

// kill gives the program up, and returns what it has said on standard error.
func (c *child) kill() string {
	_ = c.cmd.Process.Kill()
	for range c.lines {
		continue // The reader must not be left behind.
	}
	_ = c.cmd.Wait()
	return c.stderr.String()
}

func (c *child) terminate() error { return c.cmd.Process.Signal(syscall.SIGTERM) }

// environment holds those variables of the script that a program may look at. The script can set them with env.
func environment(ts *testscript.TestScript) []string {
	env := []string{}
	for _, name := range []string{
		"PATH", "HOME", "USERPROFILE", "LocalAppData", "XDG_CACHE_HOME", "TMPDIR", "TMP", "SystemRoot", "GOCOVERDIR", "GORACE",
		"MCP_FS_GREP_BACKEND", "MCP_FS_RG", "MCP_FS_GREP", "RIPGREP_CONFIG_PATH", "GREP_OPTIONS", "GREP_COLORS",
	} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return append(env, "GOTRACEBACK=all", "PWD="+ts.MkAbs("."))
}
