package search

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	// probeWait and listWait bound how long a searcher may take for its version and for its list.
	probeWait = 5 * time.Second
	listWait  = 60 * time.Second
	// pipeWait is how long the output of a searcher that has ended may stay open, held by a child of its own.
	pipeWait = time.Second
	// maxList bounds the list of a searcher, in bytes. With so many files worth opening, the scan is as quick without it.
	maxList = 16 << 20
)

// ran is how a program did.
type ran struct {
	started    bool
	exited     bool // by itself, not by a signal, and with its output closed
	timedOut   bool
	cancelled  bool // with the context of the search
	overflowed bool // it printed more than is kept
	status     int
	output     string
	complained bool // it printed something to standard error
}

// run runs a program with nothing to read and waits for it, but no longer than wait. Its output is always read to the
// end, so that it never waits for us.
func run(ctx context.Context, wait time.Duration, binary string, args ...string) ran {
	timed, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	cmd := exec.CommandContext(timed, binary, args...)
	cmd.Env = searcherEnvironment(os.Environ())
	cmd.WaitDelay = pipeWait
	ownGroup(cmd)
	output, complaints := &capped{most: maxList}, &capped{}
	cmd.Stdout, cmd.Stderr = output, complaints
	r := ran{}
	if err := cmd.Start(); err != nil {
		r.cancelled = ctx.Err() != nil
		return r
	}
	r.started = true
	err := waitFor(ctx, cmd.Wait)
	if r.cancelled = ctx.Err() != nil; r.cancelled {
		return r
	}
	r.timedOut = timed.Err() != nil
	r.exited = cmd.ProcessState.Exited() && (err == nil || errors.As(err, new(*exec.ExitError)))
	r.status = cmd.ProcessState.ExitCode()
	r.output, r.overflowed = output.b.String(), output.over
	r.complained = complaints.over
	return r
}

// waitFor waits for a program, but not when the search has been cancelled: one that hangs in the system, or whose child has
// left its group with the output in hand, goes on for a while when it is killed. It is reaped in any case.
func waitFor(ctx context.Context, end func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// searcherEnvironment is ours without what changes how a searcher works or words its output.
func searcherEnvironment(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "LC_ALL", "GREP_OPTIONS", "GREP_COLOR", "GREP_COLORS", "RIPGREP_CONFIG_PATH":
			return true
		}
		return false
	})
	return append(env, "LC_ALL=C")
}

// capped keeps the beginning of what is written to it and takes all of it.
type capped struct {
	b    strings.Builder
	most int
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.most - c.b.Len()
	c.over = c.over || len(p) > room
	c.b.Write(p[:min(len(p), room)])
	return len(p), nil
}
