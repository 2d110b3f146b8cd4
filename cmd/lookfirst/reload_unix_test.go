//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A signal reloads as the prompt does; the news of it are the proof.
func TestReloadAtSignal(t *testing.T) {
	d := newDesk(t)
	d.configure(`{"name":`)
	hangUp := func() {
		t.Helper()
		if err := d.p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	hangUp()
	d.configure(d.tools(`"FileTools":{"root":ROOT,"read-only":true}`))
	hangUp()
	for !strings.Contains(d.p.read(), `"notifications/tools/list_changed"`) {
		t.Error("got something else than the news")
	}
	line, _ := d.answer(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if strings.Contains(line, `"edit_file"`) {
		t.Errorf("listed %.300s", line)
	}
	d.p.in.Close()
	d.p.exits()
	if got := d.p.stderr.String(); !strings.Contains(got, "Gone: edit_file, multi_edit, write_file.") {
		t.Errorf("the log says\n%s", got)
	}
}

// A config that is a pipe holds up whoever opens it until somebody writes into it. Only a reload waits for that: neither
// another command nor the end does.
func TestReloadWaitsAlone(t *testing.T) {
	for _, how := range []string{"signal", "prompt"} {
		t.Run("it is asked for by a "+how, func(t *testing.T) {
			d := newDesk(t)
			if err := os.Remove(d.file); err != nil {
				t.Fatal(err)
			}
			if err := makeFIFO(d.file); err != nil {
				t.Fatal(err)
			}
			if how == "signal" {
				if err := d.p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
					t.Fatal(err)
				}
			} else {
				d.p.send(`{"jsonrpc":"2.0","id":"stuck","method":"prompts/get","params":{"name":"reload"}}`)
			}
			if got := d.prompt("rescan"); !strings.Contains(got, "look again") {
				t.Errorf("another command says %s", got)
			}
			if err := d.p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			d.p.exits()
		})
	}
}

// Whoever gives up on a reload leaves the file to the read that is under way, and what is served as it is.
func TestReloadIsGivenUp(t *testing.T) {
	s := &served{reading: make(chan struct{}, 1)}
	reads, written := make(chan struct{}, 1), make(chan config)
	s.read = func() (config, error) {
		reads <- struct{}{}
		return <-written, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error, 2)
	go func() {
		_, err := s.again(ctx)
		answered <- err
	}()
	<-reads
	go func() {
		_, err := s.again(ctx)
		answered <- err
	}()
	cancel()
	for range 2 {
		if err := <-answered; err != context.Canceled {
			t.Errorf("the one who gave up got %v", err)
		}
	}
	if len(reads) > 0 {
		t.Error("two read at once")
	}
	written <- config{name: "late"}
	go func() {
		<-reads
		written <- config{name: "new"}
	}()
	if c, err := s.again(t.Context()); err != nil || c.name != "new" {
		t.Errorf("then there is %v, %v", c.name, err)
	}
}

// The process that would be ended is that of the test.
func TestHangupAtTheEnd(t *testing.T) {
	signals := hangups()
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(t.Context())
	onHangup(ctx, signals, func() {}, func() {})
	cancel()
	for range 20 {
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond) // None of them is waited for: that nothing happens is the point.
	}
}

// hangingUp is a log that sends the process SIGHUP when it is told what is served first.
type hangingUp struct {
	once     sync.Once
	reloaded chan struct{} // is closed when the log says so
}

func (h *hangingUp) Write(b []byte) (int, error) {
	var err error
	if bytes.Contains(b, []byte("serving")) {
		h.once.Do(func() { err = syscall.Kill(os.Getpid(), syscall.SIGHUP) })
	}
	if bytes.Contains(b, []byte("was read again")) {
		close(h.reloaded)
	}
	return len(b), err
}

// A signal that comes while the program starts is not lost, and does not end it.
func TestHangupAtTheStart(t *testing.T) {
	in, client := io.Pipe()
	log := &hangingUp{reloaded: make(chan struct{})}
	status := make(chan int, 1)
	go func() { status <- run(t.Context(), []string{t.TempDir()}, in, io.Discard, log) }()
	select {
	case <-log.reloaded:
	case <-time.After(patience):
		t.Error("nothing was reloaded")
	}
	client.Close()
	if got := <-status; got != 0 {
		t.Errorf("the status is %d", got)
	}
}

// A program that waits for its config is not served to anybody yet, and can be ended all the same.
func TestEndsBeforeItHasItsConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	if err := makeFIFO(file); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--config", file}, {"console", "--config", file}} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var log bytes.Buffer
		if got := run(ctx, args, strings.NewReader(""), io.Discard, &log); got != 0 || log.Len() > 0 {
			t.Errorf("%v: the status is %d, and the log says %s", args, got, log.String())
		}
	}
}
