package harness

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// A browser runs pages of anybody, and can reach what only this machine can. Two checks keep such pages out:
//
//   - The origin says whose page has sent a request. None at all, as of programs that are no browsers, and origins of this
//     machine pass, and those that the operator has listed; every other gets 403 (D25).
//   - The host says by which name the server was called. A page can let its own name point to this machine (DNS rebinding);
//     then its requests have no foreign origin, but still that name. Only names pass that nobody else can have.

// Origin is the web origin of a page: a scheme, a host and, unless it is the scheme's own, a port. The zero value is no
// origin.
type Origin struct {
	scheme, host, port string
}

// ParseOrigin reads an origin as browsers send it, as "https://example.com" or "http://localhost:6274". Upper and lower
// case are the same in it, and so are the scheme's own port and none. "*" and "null" are no origins: the one is everybody,
// and the other is sent for pages of anybody that sit in a sandbox.
func ParseOrigin(s string) (Origin, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Hostname() == "" || strings.HasSuffix(u.Host, ":") {
		return Origin{}, fmt.Errorf("'%s' is no origin; write it as in https://example.com or http://localhost:6274", s)
	}
	o := Origin{strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()}
	if !strings.EqualFold(s, u.Scheme+"://"+u.Host) {
		return Origin{}, fmt.Errorf("'%s' is more than an origin; write '%s'", s, o)
	}
	if o.scheme == "http" && o.port == "80" || o.scheme == "https" && o.port == "443" {
		o.port = ""
	}
	return o, nil
}

// String returns the origin as browsers send it.
func (o Origin) String() string {
	host := o.host
	switch {
	case o.port != "":
		host = net.JoinHostPort(host, o.port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return o.scheme + "://" + host
}

// isLoopback reports whether the page was served by this machine.
func (o Origin) isLoopback() bool {
	return (o.scheme == "http" || o.scheme == "https") && IsLoopback(o.host)
}

// IsLoopback reports whether a host without a port is a name or an address that always means the machine that asks.
func IsLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// admit answers the request itself unless its host and its origin may talk to the server. It returns whether the request
// goes on.
func (h *HTTP) admit(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Add("Vary", "Origin")
	if err := h.checkHost(r); err != nil {
		refuseHTTP(w, http.StatusForbidden, nil, fault(codeRefused, "%v", err))
		return false
	}
	sent := r.Header.Values("Origin")
	if len(sent) > 0 {
		if err := h.checkOrigin(sent); err != nil {
			refuseHTTP(w, http.StatusForbidden, nil, fault(codeRefused, "%v", err))
			return false
		}
		w.Header().Set("Access-Control-Allow-Origin", sent[0])
		w.Header().Set("Access-Control-Expose-Headers", headerSession)
	}
	if r.Method != http.MethodOptions {
		return true
	}
	if len(sent) == 0 || r.Header.Get("Access-Control-Request-Method") == "" {
		w.Header().Set("Allow", allMethods)
		refuseHTTP(w, http.StatusMethodNotAllowed, nil, fault(codeRefused, "send POST, GET or DELETE"))
		return false
	}
	allowPreflight(w.Header())
	w.WriteHeader(http.StatusNoContent)
	return false
}

// allowPreflight says what a page may send: the methods and headers of the protocol. Browsers remember it for ten minutes;
// none remembers it for longer than two hours.
func allowPreflight(header http.Header) {
	header.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
	header.Set("Access-Control-Allow-Methods", allMethods)
	header.Set("Access-Control-Allow-Headers",
		"Accept, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, "+headerVersion+", "+headerSession)
	header.Set("Access-Control-Max-Age", "600")
}

// checkOrigin returns why a page may not talk to the server.
func (h *HTTP) checkOrigin(sent []string) error {
	if len(sent) > 1 {
		return errors.New("a request has one origin")
	}
	o, err := ParseOrigin(sent[0])
	if err != nil || !o.isLoopback() && !slices.Contains(h.origins, o) {
		return fmt.Errorf("the origin '%.200s' is not allowed here", sent[0])
	}
	return nil
}

// checkHost returns why the server does not answer to the name that it was called by. Beside those of this machine and the
// one that it was given, it answers to the address at which the request arrived: no page can put a name in its place.
func (h *HTTP) checkHost(r *http.Request) error {
	host := hostname(r.Host)
	if host != "" && (IsLoopback(host) || host == h.host) {
		return nil
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if ip, err := netip.ParseAddr(host); ok && err == nil && ip.Unmap() == local.AddrPort().Addr().Unmap() {
		return nil
	}
	return fmt.Errorf("this server does not answer to the host '%.200s'", r.Host)
}

// hostname returns a host without its port and its brackets, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
