package main

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/toolkit"
	"lookfirst/harness"
	"lookfirst/readstate"
)

// sessionError is a fault of a session that was under way, and not one of the command line.
type sessionError struct{ err error }

func (e *sessionError) Error() string { return fmt.Sprintf("serve: %v", e.err) }
func (e *sessionError) Unwrap() error { return e.err }

// opened is a toolkit that is ready to be mounted.
type opened struct {
	mounting
	pack  pack
	tools []*toolkit.Tool
}

// serve opens what a config asks for and serves one session, or clients over HTTP. It returns when the client has closed
// its end or ctx is done, both of which are no error. What the command line asks for is read once more for each reload.
func serve(ctx context.Context, read func() (config, error), stdin io.Reader, stdout, stderr io.Writer) error {
	signals := hangups()
	defer signal.Stop(signals)
	stderr = &shared{out: stderr}
	c, _, err := inTime(ctx, read)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	s, err := newServed(c, read, stderr)
	if err != nil {
		return err
	}
	defer s.Close()
	s.announce()
	identity := &mcp.Implementation{Name: c.name, Version: c.version}
	commands, err := s.commands()
	if err != nil {
		return err
	}
	server := harness.NewServer(identity, c.instructions)
	fill := func() {
		s.tools.Mount(server)
		commands.Offer(server)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	onHangup(ctx, signals, func() { s.reloadAtSignal(ctx) }, stop)
	if c.http != nil {
		fill()
		harness.TrackSessions(server)
		return serveHTTP(ctx, c, server, stderr)
	}
	report := func(err error) { fmt.Fprintf(stderr, "lookfirst: %v\n", err) }
	server.AddReceivingMiddleware(harness.Guard(report))
	session := readstate.With(ctx, readstate.New()) // A pipe is one session, in both eras (D8).
	err = harness.Serve(session, harness.Options{
		Server: server, Hello: &harness.Hello{Instructions: c.instructions, Prompts: true, Fill: fill},
		Identity: identity, Tools: s.tools, In: stdin, Out: stdout, Errors: report, Revisions: c.revisions,
	})
	if err != nil {
		return &sessionError{err}
	}
	return nil
}

func closePacks(packs []opened, stderr io.Writer) {
	for _, p := range packs {
		if err := p.pack.Close(); err != nil {
			fmt.Fprintf(stderr, "lookfirst: close: %v\n", err)
		}
	}
}

// shared lets several calls report at once.
type shared struct {
	mu  sync.Mutex // guards out
	out io.Writer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(b)
}

// open makes the packs. It refuses tools of one name, of which the server would silently drop all but the last. What it
// has opened is returned beside an error too, to be closed.
func open(toolkits []mounting, stderr io.Writer) ([]opened, error) {
	var packs []opened
	owner := map[string]string{} // the source of each tool by its full name
	for _, m := range toolkits {
		k, err := kindOf(m.kind)
		if err != nil {
			return packs, fmt.Errorf("%s: %w", m.source, err)
		}
		pack, err := k.open(&m, func(warning string) { fmt.Fprintf(stderr, "lookfirst: %s\n", warning) })
		if err != nil {
			return packs, fmt.Errorf("%s: %w", m.source, err)
		}
		o := opened{m, pack, pack.Tools()}
		packs = append(packs, o)
		for _, t := range o.tools {
			name, err := harness.ToolName(m.prefix, t.Name)
			if err != nil {
				return packs, fmt.Errorf("%s: %w", m.source, err)
			}
			if first, clash := owner[name]; clash {
				return packs, fmt.Errorf("%s and %s both have a tool '%s'; give one of them another 'prefix'", first, m.source, name)
			}
			owner[name] = m.source
			t.Report = func(err error) { fmt.Fprintf(stderr, "lookfirst: %v\n", err) }
		}
	}
	return packs, nil
}

// describe says what is served, and by which tools.
func (o *opened) describe() string {
	read := "read"
	if o.kind == fileTools {
		read = "read_file"
	}
	return o.pack.describe() + ", with " + o.named(read) + " and so on"
}
