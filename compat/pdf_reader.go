package compat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// pdfReader takes text out of PDFs, in processes of their own: a hostile file can make any parser run without end, take
// all memory or crash. They are given the bytes and no path, no environment, and bounds of time, memory and output.
type pdfReader interface {
	// count is how many pages there are.
	count(ctx context.Context, b []byte) (int, error)
	// text is that of the pages, both ends included.
	text(ctx context.Context, b []byte, first, last int) ([]string, error)
}

// pdfReader chooses the reader: poppler where it is installed, else the one of this module.
func (f *FileTools) pdfReader() pdfReader {
	if dir := f.probe.find(); dir != "" {
		return poppler{dir, &f.probe}
	}
	return ownReader{f.opt.PDFReader}
}

// probe remembers where pdftotext is. That it is nowhere is not remembered: it may be installed at any time.
type probe struct {
	mu  sync.Mutex // guards dir
	dir string
}

func (p *probe) find() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dir != "" {
		return p.dir
	}
	// pdfinfo, which counts pages, comes with it.
	text, err := exec.LookPath("pdftotext")
	info, infoErr := exec.LookPath("pdfinfo")
	if err == nil && infoErr == nil && filepath.IsAbs(text) && filepath.Dir(text) == filepath.Dir(info) {
		p.dir = filepath.Dir(text)
	}
	return p.dir
}

func (p *probe) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dir = ""
}

// poppler runs pdfinfo and pdftotext.
type poppler struct {
	dir   string
	probe *probe
}

func (p poppler) count(ctx context.Context, b []byte) (int, error) {
	out, err := p.run(ctx, b, "pdfinfo", "-")
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if n, ok := strings.CutPrefix(line, "Pages:"); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(n)); err == nil && n > 0 {
				return n, nil
			}
		}
	}
	return 0, errPDFBroken
}

func (p poppler) text(ctx context.Context, b []byte, first, last int) ([]string, error) {
	out, err := p.run(ctx, b, "pdftotext", "-enc", "UTF-8", "-f", strconv.Itoa(first), "-l", strconv.Itoa(last), "-", "-")
	return strings.Split(string(out), "\f"), err
}

func (p poppler) run(ctx context.Context, b []byte, name string, args ...string) ([]byte, error) {
	out, complaint, err := runBounded(ctx, exec.CommandContext(ctx, filepath.Join(p.dir, name), args...), b, true)
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, errPDFSlow):
		return out, err
	case !errors.As(err, &exit):
		p.probe.forget() // It has gone, or cannot be run any more.
		return nil, fmt.Errorf("run %s: %w", name, err)
	case strings.Contains(complaint, "Incorrect password"):
		return nil, errPDFLocked
	case !exit.Exited():
		return nil, errPDFHeavy
	}
	return nil, errPDFBroken
}

// ownReader runs [ServePDF].
type ownReader struct{ command []string }

func (o ownReader) count(ctx context.Context, b []byte) (int, error) {
	out, err := o.run(ctx, b, "count")
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(out))
	if err != nil {
		return 0, errPDFBroken
	}
	return n, nil
}

func (o ownReader) text(ctx context.Context, b []byte, first, last int) ([]string, error) {
	out, err := o.run(ctx, b, "text", strconv.Itoa(first), strconv.Itoa(last))
	return strings.Split(string(out), "\f"), err
}

func (o ownReader) run(ctx context.Context, b []byte, args ...string) ([]byte, error) {
	if len(o.command) == 0 {
		return nil, errNoReader
	}
	words := append(o.command[1:len(o.command):len(o.command)], args...)
	out, _, err := runBounded(ctx, exec.CommandContext(ctx, o.command[0], words...), b, false)
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, errPDFSlow):
		return out, err
	case !errors.As(err, &exit):
		return nil, fmt.Errorf("run the reader of PDFs: %w", err)
	case exit.ExitCode() == exitLocked:
		return nil, errPDFLocked
	case exit.ExitCode() == exitHeavy:
		return nil, errPDFHeavy
	}
	return nil, errPDFBroken
}

// runBounded runs a command on the bytes. Output beyond what an answer may hold is left out, and ends the command.
func runBounded(ctx context.Context, cmd *exec.Cmd, b []byte, limitMemory bool) (out []byte, complaint string, err error) {
	stdout, stderr := &limited{limit: maxPDFText + 1}, &limited{limit: 4 << 10, spill: true}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(b), stdout, stderr
	cmd.Env = []string{}                   // Not nil, which would be ours.
	cmd.WaitDelay = 100 * time.Millisecond // for a pipe that something else holds open
	if err = cmd.Start(); err != nil {
		return nil, "", err
	}
	bound(cmd.Process.Pid, limitMemory)
	err = cmd.Wait()
	switch {
	case stdout.full:
		return stdout.b.Bytes(), "", nil
	case ctx.Err() != nil:
		return nil, "", errPDFSlow
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && cmd.ProcessState != nil {
		// It ended without reading all of its input, or left somebody with its output: how it ended is what counts.
		err = nil
		if !cmd.ProcessState.Success() {
			err = &exec.ExitError{ProcessState: cmd.ProcessState}
		}
	}
	return stdout.b.Bytes(), stderr.b.String(), err
}

// limited keeps no more than so many bytes. What comes then is an error, or is dropped if it may spill.
type limited struct {
	b     bytes.Buffer
	limit int
	spill bool
	full  bool
}

var errFull = errors.New("more output than is wanted")

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.limit-l.b.Len())
	l.b.Write(p[:n])
	if n < len(p) && !l.spill {
		l.full = true
		return n, errFull
	}
	return len(p), nil
}
