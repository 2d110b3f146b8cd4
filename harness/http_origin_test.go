package harness

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustOrigin(t testing.TB, s string) Origin {
	t.Helper()
	o, err := ParseOrigin(s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestParseOrigin(t *testing.T) {
	cases := []struct {
		name, in string
		want     string // how it is written, or the error after an exclamation mark
	}{
		{"it takes a scheme and a host", "https://example.com", "https://example.com"},
		{"it takes a port", "http://localhost:6274", "http://localhost:6274"},
		{"it drops the scheme's own port", "https://example.com:443", "https://example.com"},
		{"it keeps another scheme's port", "https://example.com:80", "https://example.com:80"},
		{"it takes upper case for lower", "HTTPS://Example.COM", "https://example.com"},
		{"it takes an address", "http://[::1]:80", "http://[::1]"},
		{"it takes a scheme of a program's own", "vscode-webview://1a2b", "vscode-webview://1a2b"},
		{"it refuses a path", "https://example.com/", "!'https://example.com/' is more than an origin; write 'https://example.com'"},
		{"it refuses a user", "http://localhost@evil.example", "!'http://localhost@evil.example' is more than an origin; write 'http://evil.example'"},
		{"it refuses a query", "https://example.com?", "!'https://example.com?' is more than an origin; write 'https://example.com'"},
		{"it refuses everybody", "*", "!'*' is no origin; write it as in https://example.com or http://localhost:6274"},
		{"it refuses null", "null", "!'null' is no origin; write it as in https://example.com or http://localhost:6274"},
		{"it refuses a bare host", "example.com", "!'example.com' is no origin; write it as in https://example.com or http://localhost:6274"},
		{"it refuses nothing", "", "!'' is no origin; write it as in https://example.com or http://localhost:6274"},
		{"it refuses an empty port", "https://example.com:", "!'https://example.com:' is no origin; write it as in https://example.com or http://localhost:6274"},
		{"it refuses no host", "https://", "!'https://' is no origin; write it as in https://example.com or http://localhost:6274"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o, err := ParseOrigin(c.in)
			got := o.String()
			if err != nil {
				got = "!" + err.Error()
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestHTTPJudgesOrigins(t *testing.T) {
	cases := []struct {
		name    string
		origins []string
		status  int
	}{
		{"it serves programs that are no browsers", nil, 200},
		{"it serves a page of this machine", []string{"http://localhost:6274"}, 200},
		{"it serves a page of this machine by its address", []string{"http://127.0.0.1"}, 200},
		{"it serves a page of this machine by another of its addresses", []string{"https://127.8.8.8:1"}, 200},
		{"it serves a page of this machine by its address of six", []string{"http://[::1]:6274"}, 200},
		{"it serves a listed page", []string{"https://listed.example"}, 200},
		{"it serves a listed page with its scheme's own port", []string{"https://listed.example:443"}, 200},
		{"it refuses a stranger", []string{"https://evil.example"}, 403},
		{"it refuses a listed host with another scheme", []string{"http://listed.example"}, 403},
		{"it refuses a listed host with another port", []string{"https://listed.example:8443"}, 403},
		{"it refuses a host below a listed one", []string{"https://a.listed.example"}, 403},
		{"it refuses a host that begins as a listed one", []string{"https://listed.example.evil.example"}, 403},
		{"it refuses a host that begins as this machine", []string{"http://localhost.evil.example"}, 403},
		{"it refuses a host that begins as this machine's address", []string{"http://127.0.0.1.evil.example"}, 403},
		{"it refuses a user that looks like this machine", []string{"http://localhost@evil.example"}, 403},
		{"it refuses a scheme that is not the web's on this machine", []string{"evil://localhost"}, 403},
		{"it refuses a page in a sandbox", []string{"null"}, 403},
		{"it refuses everybody", []string{"*"}, 403},
		{"it refuses two origins", []string{"http://localhost:6274", "https://evil.example"}, 403},
		{"it refuses two origins in one", []string{"http://localhost:6274, https://evil.example"}, 403},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := overHTTP(t, HTTPOptions{Origins: []Origin{mustOrigin(t, "https://listed.example")}}, echo())
			x := modernCall(`"arguments":{"text":"a"},`, "echo")
			want := map[string]string{"Vary": "Origin"}
			for _, origin := range c.origins {
				x = x.with("Origin: " + origin)
				if c.status == 200 {
					want["Access-Control-Allow-Origin"], want["Access-Control-Expose-Headers"] = origin, "Mcp-Session-Id"
				}
			}
			r := x.do(t, h)
			if r.StatusCode != c.status {
				t.Errorf("status %d, want %d: %s", r.StatusCode, c.status, said(t, r))
			}
			if diff := cmp.Diff(want, sharing(r.Header)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			if c.status == 403 && code(said(t, r)) != -32600 {
				t.Error("the refusal is no message")
			}
		})
	}
	t.Run("it refuses an empty origin", func(t *testing.T) {
		r := modernCall(`"arguments":{"text":"a"},`, "echo").request(t.Context())
		r.Header["Origin"] = []string{""}
		w := httptest.NewRecorder()
		overHTTP(t, HTTPOptions{}, echo()).ServeHTTP(w, r)
		if w.Code != 403 {
			t.Errorf("status %d", w.Code)
		}
	})
}

// sharing returns those headers of an answer that tell a browser who may read it.
func sharing(header http.Header) map[string]string {
	got := map[string]string{}
	for _, name := range []string{
		"Vary", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Allow-Methods",
		"Access-Control-Allow-Headers", "Access-Control-Max-Age", "Access-Control-Allow-Credentials",
	} {
		for _, value := range header.Values(name) {
			if got[name] != "" {
				got[name] += ", "
			}
			got[name] += value
		}
	}
	return got
}

func TestHTTPAnswersPreflights(t *testing.T) {
	preflight := exchange{method: "OPTIONS"}.with(
		"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type,mcp-protocol-version")
	allowed := map[string]string{
		"Vary":                          "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
		"Access-Control-Allow-Origin":   "https://listed.example",
		"Access-Control-Expose-Headers": "Mcp-Session-Id",
		"Access-Control-Allow-Methods":  "GET, POST, DELETE",
		"Access-Control-Allow-Headers":  "Accept, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id",
		"Access-Control-Max-Age":        "600",
	}
	vary := map[string]string{"Vary": "Origin"}
	open := map[string]string{"Vary": "Origin", "Access-Control-Allow-Origin": "https://listed.example", "Access-Control-Expose-Headers": "Mcp-Session-Id"}
	cases := []struct {
		name     string
		exchange exchange
		status   int
		want     map[string]string
	}{
		{"it says what a listed page may send", preflight.with("Origin: https://listed.example"), 204, allowed},
		{"it tells a stranger nothing", preflight.with("Origin: https://evil.example"), 403, vary},
		{"it tells a page in a sandbox nothing", preflight.with("Origin: null"), 403, vary},
		{"it refuses options without an origin", preflight, 405, vary},
		{"it refuses options that are no preflight", exchange{method: "OPTIONS"}.with("Origin: https://listed.example"), 405, open},
		{"it refuses a preflight under a strange name", exchange{method: "OPTIONS", host: "evil.example", headers: preflight.headers}.with("Origin: https://listed.example"), 403, vary},
		{"it lets a listed page read an error", exchange{body: echoA}.with("Origin: https://listed.example", "Mcp-Session-Id: nobody"), 404, open},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := c.exchange.do(t, overHTTP(t, HTTPOptions{Origins: []Origin{mustOrigin(t, "https://listed.example")}}, echo()))
			if r.StatusCode != c.status {
				t.Errorf("status %d, want %d", r.StatusCode, c.status)
			}
			if diff := cmp.Diff(c.want, sharing(r.Header)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestHTTPChecksTheHost(t *testing.T) {
	cases := []struct {
		name       string
		configured string
		local      string // the address at which the request arrives; none where empty
		host       string
		status     int
	}{
		{"it is called localhost", "127.0.0.1", "127.0.0.1", "localhost:8080", 200},
		{"it is called LOCALHOST.", "127.0.0.1", "127.0.0.1", "LOCALHOST.", 200},
		{"it is called by its address", "127.0.0.1", "127.0.0.1", "127.0.0.1", 200},
		{"it is called by its address of six", "::1", "::1", "[::1]:8080", 200},
		{"it is called by another address of this machine", "127.0.0.1", "127.0.0.1", "127.0.0.2:1", 200},
		{"it is called by the name it was given", "files.example", "192.0.2.7", "Files.Example:8080", 200},
		{"it is called localhost beyond this machine", "192.0.2.7", "192.0.2.7", "localhost:8080", 200},
		{"it is called by the address it was given", "192.0.2.7", "192.0.2.7", "192.0.2.7:8080", 200},
		{"it is called by an address at which it listens to all", "0.0.0.0", "192.0.2.7", "192.0.2.7:8080", 200},
		{"it is called by an address of six at which it listens to all", "::", "2001:db8::7", "[2001:db8::7]:8080", 200},
		{"it refuses a name that was let point here", "127.0.0.1", "127.0.0.1", "evil.example:8080", 403},
		{"it refuses such a name beyond this machine", "192.0.2.7", "192.0.2.7", "evil.example:8080", 403},
		{"it refuses such a name where it listens to all", "0.0.0.0", "192.0.2.7", "evil.example", 403},
		{"it refuses a name that begins as one of its own", "127.0.0.1", "127.0.0.1", "localhost.evil.example", 403},
		{"it refuses a name below localhost", "127.0.0.1", "127.0.0.1", "evil.localhost", 403},
		{"it refuses another address", "0.0.0.0", "192.0.2.7", "192.0.2.8", 403},
		{"it refuses another address without a connection", "0.0.0.0", "", "192.0.2.8", 403},
		{"it refuses no name", "", "127.0.0.1", "", 403},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			if c.local != "" {
				ctx = context.WithValue(ctx, http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.ParseIP(c.local), Port: 8080}))
			}
			r := modernCall(`"arguments":{"text":"a"},`, "echo").request(ctx)
			r.Host = c.host
			w := httptest.NewRecorder()
			overHTTP(t, HTTPOptions{Host: c.configured}, echo()).ServeHTTP(w, r)
			if w.Code != c.status {
				t.Errorf("status %d, want %d: %s", w.Code, c.status, w.Body)
			}
		})
	}
}
