package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// firstID makes all ids of a run equally long, so that equal answers are.
const firstID = 100_000_000

// server is one server under measurement.
type server struct {
	name    string
	argv    []string
	dir     string // where it runs
	cache   string // where it may keep what it wants to keep
	dialect dialect
	peer    *peer // that which lives for the whole run

	turn    int            // counts calls, so that slices go on where the last has ended
	lengths map[string]int // of the answers that were checked, by their arguments
}

// peer is a running server and its client.
type peer struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	id     int
	stderr bytes.Buffer
}

// begin starts the server and waits for its answer to initialize.
func (s *server) begin() (*peer, error) {
	p := &peer{cmd: exec.Command(s.argv[0], s.argv[1:]...), id: firstID}
	p.cmd.Dir = s.dir
	p.cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+s.cache)
	p.cmd.Stderr = &p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewReaderSize(out, 64<<10)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if err := p.greet(); err != nil {
		p.end()
		return nil, fmt.Errorf("%w\n%s", err, p.stderr.Bytes())
	}
	return p, nil
}

func (p *peer) greet() error {
	const hello = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}`
	if err := p.send("initialize", hello); err != nil {
		return err
	}
	answer, err := p.receive()
	if err != nil {
		return err
	}
	if !bytes.Contains(answer.head, []byte(`"serverInfo"`)) {
		return fmt.Errorf("not initialized: %s", answer.head)
	}
	_, err = io.WriteString(p.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return err
}

// end closes the server's input and waits for it to end, but not long.
func (p *peer) end() {
	p.in.Close()
	timer := time.AfterFunc(time.Second, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	_ = p.cmd.Wait() // How it ends is not measured.
}

func (p *peer) send(method, params string) error {
	p.id++
	_, err := fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}`+"\n", p.id, method, params)
	return err
}

// answer is a line: its length, and as much of its beginning as was in the buffer.
type answer struct {
	length int
	head   []byte // until the next is received
}

func (p *peer) receive() (answer, error) {
	var a answer
	for {
		part, err := p.out.ReadSlice('\n')
		a.length += len(part)
		a.head = part
		if err == nil {
			return a, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return a, fmt.Errorf("the server has ended: %w", err)
		}
	}
}

// whole receives a line to look at.
func (p *peer) whole() ([]byte, error) { return p.out.ReadBytes('\n') }

// call is one call of a tool, and what its answer must say.
type call struct {
	params string
	check  func(result []byte) error
}

// times makes calls one after the other and gives the median of their times, in microseconds.
func (s *server) times(n int, next func(turn int) call) (float64, error) {
	times := make([]time.Duration, 0, n)
	for range n {
		c := next(s.turn)
		s.turn++
		if s.lengths[c.params] == 0 {
			if err := s.learn(c); err != nil {
				return 0, err
			}
			continue // It is not timed.
		}
		begin := time.Now()
		if err := s.peer.send("tools/call", c.params); err != nil {
			return 0, err
		}
		a, err := s.peer.receive()
		if err != nil {
			return 0, err
		}
		times = append(times, time.Since(begin))
		if err := s.compare(c, a); err != nil {
			return 0, err
		}
	}
	if len(times) == 0 {
		return 0, nil
	}
	return micros(median(times)), nil
}

// rate keeps calls in flight and gives how many are answered a second.
func (s *server) rate(n int, next func(turn int) call) (float64, error) {
	begin := time.Now()
	for i := range n + inFlight {
		if i < n {
			c := next(s.turn)
			s.turn++
			if err := s.peer.send("tools/call", c.params); err != nil {
				return 0, err
			}
		}
		if i >= inFlight {
			a, err := s.peer.receive()
			if err != nil {
				return 0, err
			}
			// The order of the answers is the server's.
			if !s.knows(a.length) {
				return 0, fmt.Errorf("an answer of %d bytes is none of those that were checked", a.length)
			}
		}
	}
	return float64(n) / time.Since(begin).Seconds(), nil
}

// learn makes a call whose answer is looked at as a whole.
func (s *server) learn(c call) error {
	if err := s.peer.send("tools/call", c.params); err != nil {
		return err
	}
	line, err := s.peer.whole()
	if err != nil {
		return err
	}
	if err := c.check(line); err != nil {
		return fmt.Errorf("%.200s was answered with %.300s: %w", c.params, line, err)
	}
	if s.lengths == nil {
		s.lengths = map[string]int{}
	}
	s.lengths[c.params] = len(line)
	return nil
}

func (s *server) compare(c call, a answer) error {
	if want := s.lengths[c.params]; a.length != want {
		return fmt.Errorf("%.200s was answered with %d bytes, and before with %d: %.300s", c.params, a.length, want, a.head)
	}
	return nil
}

func (s *server) knows(length int) bool {
	for _, l := range s.lengths {
		if l == length {
			return true
		}
	}
	return false
}

// result is what is looked at in an answer.
type result struct {
	text     string
	revision string
}

func decode(line []byte) (result, error) {
	var a struct {
		Result struct {
			Content           []struct{ Text string }
			IsError           bool
			StructuredContent struct {
				Revisions map[string]struct{ Token string }
			}
		}
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return result{}, err
	}
	if a.Result.IsError || len(a.Result.Content) != 1 {
		return result{}, errors.New("not what was asked for")
	}
	return result{a.Result.Content[0].Text, a.Result.StructuredContent.Revisions["path"].Token}, nil
}

// memory is what a process has in memory, and has had at most, in bytes.
type memory struct{ resident, peak int64 }

func (p *peer) memory() (m memory) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return m
	}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		kib, _ := strconv.ParseInt(fields[1], 10, 64)
		switch fields[0] {
		case "VmRSS:":
			m.resident = kib << 10
		case "VmHWM:":
			m.peak = kib << 10
		}
	}
	return m
}

func megabytes(n int64) string {
	if n == 0 {
		return "unknown here"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
}

func printMemory(out io.Writer, name string, n, goal int64) {
	met := "-"
	if n > 0 {
		met = verdict(n <= goal*1e6)
	}
	fmt.Fprintf(out, "| %s, at most %d MB | %s | - | - | - | - | - | - | %s |\n", name, goal, megabytes(n), met)
}
