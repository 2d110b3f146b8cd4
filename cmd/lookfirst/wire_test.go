package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// absent stands, in what is wanted, for a member that must not be there.
const absent = "(none)"

// holds reports whether a value holds all that is wanted of it: of an object the members that are named, of anything else
// the whole.
func holds(got, want any) bool {
	w, ok := want.(map[string]any)
	if !ok {
		return equalJSON(got, want)
	}
	g, ok := got.(map[string]any)
	if !ok {
		return false
	}
	for name, value := range w {
		member, there := g[name]
		if value == absent && there || value != absent && !holds(member, value) {
			return false
		}
	}
	return true
}

func equalJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}

func parsed(t testing.TB, s string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v in %.500q", err, s)
	}
	return v
}

// request is a line whose params are JSON as it stands.
func request(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params)
}

func failed(id string, code int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":"(none)","error":{"code":%d}}`, id, code)
}

// What the protocol says of both eras, line by line: each line is sent when the one before has been answered.
func TestWireEras(t *testing.T) {
	const (
		read         = `"name":"fs_read","arguments":{"path":"a.txt"}`
		readLegacy   = `{"id":1,"result":{"content":[{"type":"text","text":"one\n"}],"resultType":"(none)","_meta":"(none)","isError":"(none)"}}`
		readModern   = `{"id":1,"result":{"content":[{"type":"text","text":"one\n"}],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"lookfirst"}}}}`
		discovered   = `{"id":0,"result":{"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"tools":{"listChanged":true},"logging":"(none)"},"resultType":"complete","cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"lookfirst"}}}}`
		capabilities = `"io.modelcontextprotocol/clientCapabilities":{}`
	)
	version := func(v string) string { return `"io.modelcontextprotocol/protocolVersion":"` + v + `"` }
	meta := func(members ...string) string { return `"_meta":{` + strings.Join(members, ",") + `}` }
	initialize := func(v string) string { return strings.Replace(hello, "2025-11-25", v, 1) }
	initialized := func(v string) string {
		return `{"id":"hello","result":{"protocolVersion":"` + v + `","serverInfo":{"name":"lookfirst"},"capabilities":{"tools":{"listChanged":true},"logging":"(none)"}}}`
	}
	readModernly := request("1", "tools/call", read+","+modernMeta)
	readLegacily := request("1", "tools/call", read)
	discover := request("0", "server/discover", modernMeta)

	cases := []struct {
		name  string
		lines []string
		want  []string // of each line that has an id
	}{
		{"it takes the newest older version", []string{hello}, []string{initialized("2025-11-25")}},
		{"it takes 2025-06-18", []string{initialize("2025-06-18")}, []string{initialized("2025-06-18")}},
		{"it takes 2025-03-26", []string{initialize("2025-03-26")}, []string{initialized("2025-03-26")}},
		{"it takes 2024-11-05", []string{initialize("2024-11-05")}, []string{initialized("2024-11-05")}},
		{"it answers an initialize of 2026-07-28 with 2025-11-25", []string{initialize("2026-07-28")}, []string{initialized("2025-11-25")}},
		{"it answers an initialize of an unknown version with 2025-11-25", []string{initialize("2031-01-01")}, []string{initialized("2025-11-25")}},
		{"it answers an initialize of no version with 2025-11-25", []string{initialize("")}, []string{initialized("2025-11-25")}},
		{"it refuses initialize without params", []string{`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, hello}, []string{failed("1", -32600), initialized("2025-11-25")}},
		{"it takes initialize with empty params", []string{request(`"hello"`, "initialize", ""), readLegacily}, []string{initialized("2025-11-25"), readLegacy}},
		{"it refuses server/discover without a version", []string{request("0", "server/discover", "")}, []string{failed("0", -32601)}},
		{"it answers server/discover", []string{discover}, []string{discovered}},
		{"it serves a modern call without a handshake", []string{readModernly}, []string{readModern}},
		{"it serves a modern call within an older session, and goes on", []string{hello, ready, readModernly, readLegacily}, []string{initialized("2025-11-25"), readModern, readLegacy}},
		{
			"it refuses a version that it does not speak, and names those that it does",
			[]string{request("1", "tools/call", read+","+meta(version("2027-01-01"), capabilities))},
			[]string{`{"id":1,"error":{"code":-32022,"data":{"requested":"2027-01-01","supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]}}}`},
		},
		{"it wants the capabilities of a modern client", []string{request("1", "tools/call", read+","+meta(version("2026-07-28")))}, []string{failed("1", -32602)}},
		{"it does not want the name of a modern client", []string{request("1", "tools/call", read+","+meta(version("2026-07-28"), capabilities))}, []string{readModern}},
		{
			"it takes an older version in _meta for an older call",
			[]string{request("1", "tools/call", read+","+meta(version("2025-11-25"), capabilities)), hello, request("1", "tools/call", read+","+meta(version("2025-11-25")))},
			[]string{failed("1", -32600), initialized("2025-11-25"), readLegacy},
		},
		{
			"it refuses what the modern era has done away with",
			[]string{request("1", "ping", modernMeta), request("2", "initialize", modernMeta), request("3", "logging/setLevel", modernMeta), request("4", "resources/subscribe", modernMeta)},
			[]string{failed("1", -32601), failed("2", -32601), failed("3", -32601), failed("4", -32601)},
		},
		{"it refuses an older call before initialize", []string{readLegacily, hello, readLegacily}, []string{failed("1", -32600), initialized("2025-11-25"), readLegacy}},
		{"it answers ping before initialize", []string{ping}, []string{pong}},
		{"it serves an older call after a modern one", []string{readModernly, readLegacily}, []string{readModern, readLegacy}},
		{"it answers initialize after server/discover", []string{discover, hello, ready, readLegacily}, []string{discovered, initialized("2025-11-25"), readLegacy}},
		{"it answers a second initialize", []string{hello, initialize("2025-06-18"), readLegacily}, []string{initialized("2025-11-25"), initialized("2025-06-18"), readLegacy}},
		{"it lists tools for one client alone, in the older era", []string{hello, request("1", "tools/list", "")}, []string{initialized("2025-11-25"), `{"id":1,"result":{"ttlMs":0,"cacheScope":"private","nextCursor":"(none)"}}`}},
		{"it lists tools for one client alone, in the modern era", []string{request("1", "tools/list", modernMeta)}, []string{`{"id":1,"result":{"ttlMs":0,"cacheScope":"private","nextCursor":"(none)","resultType":"complete"}}`}},
		{"it refuses a method that there is not, in both eras", []string{hello, request("1", "no/such", ""), request("2", "no/such", modernMeta)}, []string{initialized("2025-11-25"), failed("1", -32601), failed("2", -32601)}},
		{"it refuses a tool that there is not, in both eras", []string{hello, request("1", "tools/call", `"name":"no"`), request("2", "tools/call", `"name":"no",`+modernMeta)}, []string{initialized("2025-11-25"), failed("1", -32602), failed("2", -32602)}},
	}
	s := newSite(t)
	s.put(t, "a.txt", "one\n")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := launch(t, s.command(t))
			want := c.want
			for _, line := range c.lines {
				if !strings.Contains(line, `"id"`) {
					p.send(line)
					continue
				}
				got := p.ask(line)
				if !holds(parsed(t, got), parsed(t, want[0])) {
					t.Errorf("to %s\ngot  %s\nwant %s", line, got, want[0])
				}
				want = want[1:]
			}
			p.in.Close()
			if rest := p.rest(); len(rest) > 0 || len(want) > 0 {
				t.Errorf("behind the answers there is %q, and %q is missing", rest, want)
			}
			p.exits()
		})
	}
}

// Whatever comes as a line, the session lives, and the call behind it is answered.
func TestWireBadLines(t *testing.T) {
	const (
		none  = ""
		end   = `{"jsonrpc":"2.0","id":"end","method":"tools/list","params":{` + modernMeta + `}}`
		ended = `{"id":"end","result":{"resultType":"complete"}}`
	)
	argument := func(text string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs_stat","arguments":{"path":"` + text + `"}}}`
	}
	refused := `{"id":1,"result":{"isError":true}}`
	cases := []struct {
		name string
		line string
		want string // of the answer; nothing where there is none
	}{
		{"it refuses what is no JSON", `{nonsense`, failed("null", -32700)},
		{"it accepts a byte order mark", "\ufeff" + ping, pong},
		{"it refuses a number", `42`, failed("null", -32600)},
		{"it refuses a message without jsonrpc", `{"id":1,"method":"ping"}`, failed("1", -32600)},
		{"it refuses another jsonrpc", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, failed("1", -32600)},
		{"it accepts a space behind the object", ping + " ", pong},
		{"it refuses two objects on a line", ping + ping, failed("null", -32700)},
		{"it refuses an empty batch", `[]`, failed("null", -32600)},
		{"it refuses a batch", `[` + ping + `]`, failed("null", -32600)},
		{"it passes over blank lines", "\n\n" + ping + "\n", pong},
		{"it accepts CRLF", ping + "\r", pong},
		{"it accepts a member that it does not know", `{"jsonrpc":"2.0","id":"ping","method":"ping","extra":[1]}`, pong},
		{"it refuses null for an id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, failed("null", -32600)},
		{"it refuses a fraction for an id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, failed("1.5", -32600)},
		{"it ignores a notification that it does not know", `{"jsonrpc":"2.0","method":"notifications/unheard"}`, none},
		{"it ignores an answer that nobody has asked for", `{"jsonrpc":"2.0","id":77,"result":{}}`, none},
		{"it ignores a malformed cancellation", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, none},
		{"it refuses half of a character in an argument", argument(`\ud800`), refused},
		{"it refuses a byte that is no UTF-8 in an argument", argument("\xff"), refused},
		{"it refuses an argument given twice", argument(`a.txt","path":"a.txt`), refused},
		{"it accepts the argument once", argument("a.txt"), `{"id":1,"result":{"isError":"(none)"}}`},
		{"it refuses what nests without an end", strings.Repeat("[", 1<<20), failed("null", -32700)},
		{"it refuses a NUL byte", "\x00", failed("null", -32700)},
	}
	s := newSite(t)
	s.put(t, "a.txt", "one\n")
	for _, handshake := range []string{hello, request(`"hello"`, "tools/list", modernMeta)} {
		p := launch(t, s.command(t))
		p.ask(handshake)
		for _, c := range cases {
			p.send(c.line, end)
			// The two answers may come in either order.
			answers := []string{p.read()}
			if c.want != none {
				answers = append(answers, p.read())
			}
			if i := slices.IndexFunc(answers, func(line string) bool { return holds(parsed(t, line), parsed(t, ended)) }); i < 0 {
				t.Errorf("%s: got %q, and no answer to what came behind it", c.name, answers)
			} else {
				answers = slices.Delete(answers, i, i+1)
			}
			if c.want != none && (len(answers) != 1 || !holds(parsed(t, answers[0]), parsed(t, c.want))) {
				t.Errorf("%s: got %q, want %s", c.name, answers, c.want)
			}
		}
		p.in.Close()
		if rest := p.rest(); len(rest) > 0 {
			t.Errorf("there are answers to what has none: %q", rest)
		}
		p.exits()
	}
}

// A script that pipes its questions in and closes its end gets all its answers, each time.
func TestWireEndOfInput(t *testing.T) {
	s := newSite(t)
	s.put(t, "a.txt", "one\n")
	for _, calls := range []int{1, 1, 1, 1, 1, 200} {
		lines := []string{hello, ready}
		want := []string{`"hello"`}
		for i := range calls {
			lines = append(lines, toolCall(t, i, "fs_read", map[string]any{"path": "a.txt"}))
			want = append(want, fmt.Sprint(i))
		}
		var got []string
		for _, line := range converse(t, s, lines...) {
			got = append(got, answerID(t, line))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("of %d calls %d were answered: %q", calls, len(got)-1, got)
		}
	}
}
