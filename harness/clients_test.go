package harness

import (
	"strings"
	"testing"
)

func TestPlacementFor(t *testing.T) {
	cases := []struct {
		name      string
		placement Placement
		clients   []string
		want      Placement
	}{
		{name: "it is meta for clients that drop text", placement: PlaceAuto, clients: []string{"claude-code", "Visual Studio Code", "Visual Studio Code - Insiders", "Visual Studio Code - Exploration", "Code - OSS", "VSCodium"}, want: PlaceMeta},
		{name: "it is structured for others", placement: PlaceAuto, clients: []string{"", "opencode", "Claude-Code", "Visual Studio Codes", "mcp-inspector"}, want: PlaceStructured},
		{name: "it is auto where nothing is said", clients: []string{"claude-code"}, want: PlaceMeta},
		{name: "it is meta for all on request", placement: PlaceMeta, clients: []string{"", "opencode", "claude-code"}, want: PlaceMeta},
		{name: "it is structured for all on request", placement: PlaceStructured, clients: []string{"", "opencode", "claude-code"}, want: PlaceStructured},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, client := range c.clients {
				if got := c.placement.For(client); got != c.want {
					t.Errorf("for %q got %s, want %s", client, got, c.want)
				}
			}
		})
	}
}

func TestParsePlacement(t *testing.T) {
	for _, want := range []Placement{PlaceAuto, PlaceStructured, PlaceMeta} {
		if got, err := ParsePlacement(string(want)); got != want || err != nil {
			t.Errorf("%s: got %s, %v", want, got, err)
		}
	}
	_, err := ParsePlacement("text")
	if want := "'text' is no place for revisions; there are 'auto', 'structured' and 'meta'"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestServePlacesRevisions(t *testing.T) {
	as := func(line, client string) string {
		return strings.Replace(line, `"name":"test"`, `"name":"`+client+`"`, 1)
	}
	const (
		file     = `{"revisionScheme":"sha256-v1","revisions":{"path":{"state":"file","token":"sha256-v1:file:00"}}}`
		treeless = `{"revisionScheme":"sha256-v1","revisions":{"path":{"state":"unknown"}}}`
		text     = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}],`
		info     = `"io.modelcontextprotocol/serverInfo":{"name":"lookfirst","version":"1.2.3"}`
	)
	old := strings.Replace(echoA, `{"text"`, `{"revision":true,"text"`, 1)
	modernCall := modern("1", "tools/call", `"name":"echo","arguments":{"revision":true,"text":"a"},`)
	nameless := strings.Replace(modernCall, `"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},`, "", 1)
	cases := []struct {
		name      string
		placement Placement
		lines     []string
		want      string
	}{
		{name: "it gives another client structured content", lines: []string{hello, old}, want: text + `"structuredContent":` + file + `}}`},
		{name: "it gives Claude Code text alone, and hashes no tree", lines: []string{as(hello, "claude-code"), old}, want: text + `"_meta":{"lookfirst/revisions":` + treeless + `}}}`},
		{name: "it does so in the modern era", lines: []string{as(modernCall, "claude-code")}, want: text + `"resultType":"complete","_meta":{` + info + `,"lookfirst/revisions":` + treeless + `}}}`},
		{name: "it goes by the request's client before the session's", lines: []string{as(hello, "claude-code"), modernCall}, want: text + `"structuredContent":` + file + `,"resultType":"complete",` + wholeInfo + `}}`},
		{name: "it goes by the session's client where the request names none", lines: []string{as(hello, "claude-code"), nameless}, want: text + `"resultType":"complete","_meta":{` + info + `,"lookfirst/revisions":` + treeless + `}}}`},
		{name: "it goes by each request's client", lines: []string{modernCall, as(modernCall, "claude-code")}, want: text + `"resultType":"complete","_meta":{` + info + `,"lookfirst/revisions":` + treeless + `}}}`},
		{name: "it goes by the last initialize", lines: []string{as(hello, "claude-code"), hello, old}, want: text + `"structuredContent":` + file + `}}`},
		{name: "it gives every client text alone on request, with all hashes", placement: PlaceMeta, lines: []string{hello, old}, want: text + `"_meta":{"lookfirst/revisions":` + file + `}}}`},
		{name: "it gives Claude Code structured content on request", placement: PlaceStructured, lines: []string{as(hello, "claude-code"), old}, want: text + `"structuredContent":` + file + `}}`},
		{name: "it gives no empty object where there are no revisions", lines: []string{as(hello, "claude-code"), echoA}, want: echoedA},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, echo())
			o.Revisions = c.placement
			got := inTurn(t, o, c.lines...)
			same(t, c.want, got[len(got)-1])
		})
	}
}
