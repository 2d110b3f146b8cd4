package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp"
	"lookfirst/fsmcp/toolkit"
	"lookfirst/harness"
)

// maxLine bounds one message of a client, in bytes. A file's whole content comes in one (D27).
const maxLine = 64 << 20

// sessionError is a fault of a session that was under way, and not one of the command line.
type sessionError struct{ err error }

func (e *sessionError) Error() string { return fmt.Sprintf("serve: %v", e.err) }
func (e *sessionError) Unwrap() error { return e.err }

// opened is a toolkit that is ready to be mounted.
type opened struct {
	mounting
	pack  *fsmcp.FileSystem
	tools []*toolkit.Tool
}

// serve opens what the config names, mounts it and serves one session. It returns when the client has closed its end or
// ctx is done, both of which are no error. Every root is named on stderr before the first message is read, so that
// whoever reads the log sees what a client can reach.
func serve(ctx context.Context, c config, stdin io.Reader, stdout, stderr io.Writer) error {
	packs, err := open(c.toolkits, stderr)
	defer func() {
		for _, p := range packs {
			if err := p.pack.Close(); err != nil {
				fmt.Fprintf(stderr, "lookfirst: close: %v\n", err)
			}
		}
	}()
	if err != nil {
		return err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: c.name, Version: c.version}, &mcp.ServerOptions{
		Instructions: c.instructions,
		Capabilities: &mcp.ServerCapabilities{}, // Without it the server would announce that it sends log messages.
	})
	for _, p := range packs {
		if err := harness.Mount(server, p.prefix, p.tools); err != nil {
			return fmt.Errorf("%s: %w", p.source, err)
		}
		fmt.Fprintf(stderr, "lookfirst: serving %s\n", p.describe())
	}
	return session(ctx, server, stdin, stdout)
}

// session serves one client over a pair of streams.
func session(ctx context.Context, server *mcp.Server, stdin io.Reader, stdout io.Writer) error {
	err := server.Run(ctx, &mcp.IOTransport{
		Reader:        io.NopCloser(stdin),
		Writer:        unclosed{stdout},
		MaxLineLength: maxLine,
	})
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return &sessionError{err}
}

// unclosed keeps the transport from closing a stream that is not its own.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// open makes the packs. It refuses tools of one name, of which the server would silently drop all but the last. What it
// has opened is returned beside an error too, to be closed.
func open(toolkits []mounting, stderr io.Writer) ([]opened, error) {
	var packs []opened
	owner := map[string]string{} // the source of each tool by its full name
	for _, m := range toolkits {
		m.options.Warn = func(warning string) { fmt.Fprintf(stderr, "lookfirst: %s\n", warning) }
		pack, err := fsmcp.New(m.options)
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

// describe says what is served, with the directory's real place.
func (o *opened) describe() string {
	access := "for reading and writing"
	if o.options.ReadOnly {
		access = "for reading"
	}
	names := "bare names"
	if o.prefix != "" {
		names = "the prefix '" + o.prefix + "'"
	}
	return fmt.Sprintf("'%s' %s, with %s", o.pack.Root(), access, names)
}
