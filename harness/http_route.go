package harness

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	allMethods    = "GET, POST, DELETE"

	// codeRefused is for what HTTP refuses by a status of its own, before there is a message to answer.
	codeRefused = jsonrpc.CodeInvalidRequest
)

// ServeHTTP implements [http.Handler].
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.load.add(0, false)
	defer h.load.remove(0, false)
	switch {
	case !h.admit(w, r):
	case h.stopping.Err() != nil:
		refuseHTTP(w, http.StatusServiceUnavailable, nil, fault(codeRefused, "the server is stopping"))
	case r.URL.Path != h.path:
		refuseHTTP(w, http.StatusNotFound, nil, fault(codeRefused, "nothing is served here; the path is '%s'", h.path))
	case r.Method == http.MethodPost && isJSON(r):
		h.post(w, r)
	default:
		r, release := h.untilStop(r)
		defer release()
		h.forVersion(r.Header.Get(headerVersion)).ServeHTTP(w, r)
	}
}

// isJSON reports whether a body can be a message. The library's handlers refuse every other.
func isJSON(r *http.Request) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && media == "application/json"
}

// forVersion returns the handler for the era of a version, be it one that nobody knows. Without a version, it is an older
// one.
func (h *HTTP) forVersion(version string) http.Handler {
	if version >= firstModern {
		return h.sessionless
	}
	return h.sessions
}

// post serves one message. It is read here as a line is, so that the same are refused as over a pipe (D24), and to find
// its era, which it may tell where the header does not: a modern message without the header, or with a wrong one, has to
// be answered by the modern handler, whose error says so.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request) {
	body, status, wrong := readBody(w, r)
	if wrong != nil {
		refuseHTTP(w, status, nil, wrong)
		return
	}
	m, wrong := parse(body)
	if wrong != nil {
		refuseHTTP(w, http.StatusBadRequest, m.id, wrong)
		return
	}
	handler := h.forVersion(max(r.Header.Get(headerVersion), claimed(m)))
	if handler == h.sessions && r.Header.Get(headerSession) == "" {
		if status, wrong := h.begin(m); wrong != nil {
			refuseHTTP(w, status, m.id, wrong)
			return
		}
	}
	if m.method == "subscriptions/listen" {
		var release func()
		r, release = h.untilStop(r)
		defer release()
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	handler.ServeHTTP(w, r)
}

// claimed returns the version that a message names itself, or nothing.
func claimed(m *message) string {
	values, ok, err := members(m.params.meta, mcp.MetaKeyProtocolVersion)
	if !ok || err != nil || !isString(values[0]) {
		return ""
	}
	return string(text(values[0]))
}

// begin refuses what needs a session and names none, as a pipe refuses what comes before initialize, and one session too
// many. The library would make a session for each such message, and answer it with an error that has no code.
func (h *HTTP) begin(m *message) (status int, refusal *jsonrpc.Error) {
	if m.method != "initialize" {
		return http.StatusBadRequest, fault(jsonrpc.CodeInvalidRequest,
			"a message outside a session; send initialize first and its %s with every other, or name a protocol version in _meta", headerSession)
	}
	n := 0
	for range h.server.Sessions() {
		n++
	}
	if n >= maxSessions {
		return http.StatusServiceUnavailable, fault(jsonrpc.CodeInternalError, "there are %d sessions, which is the limit; end one with DELETE", n)
	}
	return 0, nil
}

// readBody reads a message, without the white space and the byte order mark around it, or returns the status and the error
// to answer with.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, int, *jsonrpc.Error) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(bodyTime)) // Where there is no connection, there is no deadline.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLine))
	_ = c.SetReadDeadline(time.Time{})
	if errors.As(err, new(*http.MaxBytesError)) {
		return nil, http.StatusRequestEntityTooLarge, fault(jsonrpc.CodeInvalidRequest, "a message is longer than %d MiB, which is the limit", maxLine>>20)
	}
	if err != nil {
		return nil, http.StatusBadRequest, fault(jsonrpc.CodeParseError, "the body could not be read to its end")
	}
	body = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\ufeff")))
	if len(body) == 0 {
		return nil, http.StatusBadRequest, fault(jsonrpc.CodeParseError, "parse error: the body is empty; a message is one JSON object")
	}
	return body, 0, nil
}

// untilStop gives a request that only waits for news a context that ends with the server, which would otherwise wait for
// it. The function releases the context.
func (h *HTTP) untilStop(r *http.Request) (*http.Request, func()) {
	ctx, cancel := context.WithCancel(r.Context())
	forget := context.AfterFunc(h.stopping, cancel)
	return r.WithContext(ctx), func() {
		forget()
		cancel()
	}
}

// refuseHTTP answers with a status and an error of the protocol. Without an id, null stands in its place.
func refuseHTTP(w http.ResponseWriter, status int, id []byte, f *jsonrpc.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := newEncoder(w)
	e.envelope(id, `,"error":`)
	e.fault(f)
	e.raw("}\n")
	e.flush() // That nobody reads it any more concerns nobody.
}
