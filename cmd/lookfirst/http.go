package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/harness"
)

const (
	defaultHost = "127.0.0.1"
	defaultPath = "/mcp"
)

// httpConfig says where to serve over HTTP, and to whom.
type httpConfig struct {
	port    int64
	host    string // a name, or an address without brackets
	path    string // with its first slash
	origins []harness.Origin
}

// httpSection is the section http of a config file, with the zero value for what is not there.
type httpSection struct {
	source  string // where it stands, for messages
	port    *int64
	host    string
	path    string
	origins []string
}

func sectionSettings() []setting[httpSection] {
	return []setting[httpSection]{
		{"port", port, false, "", func(s *httpSection, v any) { n := v.(int64); s.port = &n }},
		{"host", filled, false, defaultHost, func(s *httpSection, v any) { s.host = v.(string) }},
		{"path", filled, false, defaultPath, func(s *httpSection, v any) { s.path = v.(string) }},
		{"allowedOrigins", texts, false, "", func(s *httpSection, v any) { s.origins = v.([]string) }},
	}
}

func readSection(file string, members []member) (*httpSection, error) {
	s := &httpSection{source: file + ": 'http'"}
	settings := sectionSettings()
	if err := apply(s, settings, members); err != nil {
		return nil, fmt.Errorf("%s: %w; the settings are %s", s.source, err, list(settings))
	}
	return s, nil
}

// httpConfig returns where to serve over HTTP, or nil for standard input and output. A flag wins over the section of the
// file, and origins of both add up.
func (f *flags) httpConfig(section *httpSection) (*httpConfig, error) {
	if section == nil && !f.given("http") {
		for _, name := range []string{"host", "http-path", "allow-origin"} {
			if f.given(name) {
				return nil, fmt.Errorf("--%s goes with --http=PORT, or with an 'http' section in the --config file", name)
			}
		}
		return nil, nil
	}
	h := &httpConfig{port: -1, host: defaultHost, path: defaultPath}
	if section != nil {
		if err := h.addSection(section); err != nil {
			return nil, err
		}
	}
	if err := h.addFlags(f); err != nil {
		return nil, err
	}
	if h.port < 0 {
		return nil, fmt.Errorf("%s: 'port' is missing; write it there, or give --http=PORT", section.source)
	}
	return h, nil
}

func (h *httpConfig) addSection(s *httpSection) error {
	if s.port != nil {
		h.port = *s.port
	}
	if s.host != "" {
		h.setHost(s.host)
	}
	if s.path != "" {
		if err := h.setPath(s.path); err != nil {
			return fmt.Errorf("%s: 'path': %w", s.source, err)
		}
	}
	if err := h.allow(s.origins); err != nil {
		return fmt.Errorf("%s: 'allowedOrigins': %w", s.source, err)
	}
	return nil
}

func (h *httpConfig) addFlags(f *flags) error {
	if f.given("http") {
		n, err := strconv.ParseUint(f.http, 10, 16)
		if err != nil {
			return fmt.Errorf("--http is '%s' and must be %s", f.http, port)
		}
		h.port = int64(n)
	}
	if f.given("host") {
		if f.host == "" { // The system would take it for every address.
			return fmt.Errorf("--host is empty; write --host=0.0.0.0 for every address, or leave it out for %s", defaultHost)
		}
		h.setHost(f.host)
	}
	if f.given("http-path") {
		if err := h.setPath(f.path); err != nil {
			return fmt.Errorf("--http-path: %w", err)
		}
	}
	if err := h.allow(f.origins); err != nil {
		return fmt.Errorf("--allow-origin: %w", err)
	}
	return nil
}

// setHost accepts an address with or without the brackets that it has in a URL.
func (h *httpConfig) setHost(host string) {
	h.host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// setPath accepts a path with or without the slash at its start.
func (h *httpConfig) setPath(path string) error {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~/"
	if strings.Trim(path, allowed) != "" {
		return fmt.Errorf("'%s' is no path; it is made of letters from a to z, digits, '_', '-', '.', '~' and '/'", path)
	}
	h.path = "/" + strings.TrimPrefix(path, "/")
	return nil
}

// allow adds origins.
func (h *httpConfig) allow(origins []string) error {
	for _, s := range origins {
		o, err := harness.ParseOrigin(s)
		if err != nil {
			return err
		}
		h.origins = append(h.origins, o)
	}
	return nil
}

// serveHTTP serves clients over HTTP until ctx is done. Where to is said on stderr, with the port that the system chose for
// port 0.
func serveHTTP(ctx context.Context, c config, server *mcp.Server, stderr io.Writer) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(c.http.host, strconv.FormatInt(c.http.port, 10)))
	if err != nil {
		return err
	}
	say := func(format string, args ...any) { fmt.Fprintf(stderr, "lookfirst: "+format+"\n", args...) }
	at, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return err
	}
	say("listening on http://%s%s", net.JoinHostPort(c.http.host, port), c.http.path)
	if !harness.IsLoopback(at) {
		say("warning: other machines can reach this address, and everybody who can is served without being asked who they are; " +
			"put something in front that asks, or leave out --host")
	}
	h := harness.NewHTTP(harness.HTTPOptions{
		Server:    server,
		Path:      c.http.path,
		Host:      c.http.host,
		Origins:   c.http.origins,
		Revisions: c.revisions,
		Errors:    func(err error) { say("%v", err) },
	})
	if err := h.Serve(ctx, l); err != nil {
		return &sessionError{err}
	}
	return nil
}
