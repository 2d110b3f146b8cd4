package harness

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/toolkit"
)

// library answers the lines as the library's own transport does, each before the next is sent.
func library(t *testing.T, server *mcp.Server, lines ...string) []string {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	session, err := server.Connect(t.Context(), &mcp.IOTransport{Reader: inR, Writer: outW}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		inW.Close()
		outR.Close()
		session.Close()
	}()
	out := bufio.NewReader(outR)
	var answers []string
	for _, line := range lines {
		if _, err := fmt.Fprintln(inW, line); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(line, `"id"`) {
			continue
		}
		answer, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, strings.TrimSuffix(answer, "\n"))
	}
	return answers
}

func TestServeAnswersAsTheLibraryDoes(t *testing.T) {
	meta := func(members string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{"name":"echo","arguments":{"text":"<é\u2028>"},"_meta":{` + members + `}}}`
	}
	const (
		version      = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
		info         = `"io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"}`
		capabilities = `"io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{"form":{}}}`
	)
	cases := []struct{ name, line string }{
		{"it answers a call of the modern era", meta(version + "," + info + "," + capabilities)},
		{"it does without clientInfo", meta(version + "," + capabilities)},
		{"it refuses a clientInfo of null", meta(version + `,"io.modelcontextprotocol/clientInfo":null,` + capabilities)},
		{"it refuses a clientInfo of another type", meta(version + `,"io.modelcontextprotocol/clientInfo":"me",` + capabilities)},
		{"it refuses a clientInfo with a number for a name", meta(version + `,"io.modelcontextprotocol/clientInfo":{"name":5},` + capabilities)},
		{"it refuses missing clientCapabilities", meta(version + "," + info)},
		{"it refuses clientCapabilities of null", meta(version + `,"io.modelcontextprotocol/clientCapabilities":null`)},
		{"it refuses clientCapabilities of another type", meta(version + `,"io.modelcontextprotocol/clientCapabilities":[]`)},
		{"it refuses an unknown version", meta(`"io.modelcontextprotocol/protocolVersion":"2027-01-01",` + capabilities)},
		{"it refuses missing clientCapabilities before an unknown version", meta(`"io.modelcontextprotocol/protocolVersion":"2027-01-01"`)},
		{"it takes an older version for the older era", meta(`"io.modelcontextprotocol/protocolVersion":"2025-11-25"`)},
		{"it takes a version that is no string for the older era", meta(`"io.modelcontextprotocol/protocolVersion":20260728`)},
		{"it takes an empty _meta for the older era", meta("")},
		{"it passes over a progress token of the wrong type", meta(version + "," + capabilities + `,"progressToken":{}`)},
		{"it refuses a tool that there is not", strings.Replace(meta(version+","+capabilities), `"echo"`, `"no\"such"`, 1)},
		{"it gives a refusal as a result", strings.Replace(meta(version+","+capabilities), `"text"`, `"txet"`, 1)},
		{"it gives revisions as structured content", strings.Replace(meta(version+","+capabilities), `{"text"`, `{"revision":true,"text"`, 1)},
		{"it does so in the older era", strings.Replace(meta(""), `{"text"`, `{"revision":true,"text"`, 1)},
		{"it gives an empty text", strings.Replace(meta(""), `<é\u2028>`, ``, 1)},
	}
	for _, method := range []string{"tools/call", "tools/list"} {
		for _, c := range cases {
			t.Run(method+"/"+c.name, func(t *testing.T) {
				line := strings.Replace(c.line, "METHOD", method, 1)
				lines := []string{line}
				if !strings.Contains(line, version) { // The library leaves out resultType where the eras are mixed.
					lines = []string{hello, initialized, line}
				}
				want := library(t, options(t, echo()).Server, lines...)
				got := inTurn(t, options(t, echo()), lines...)
				same(t, "["+strings.Join(want, ",")+"]", "["+strings.Join(got, ",")+"]")
			})
		}
	}
}

// The library's own client is the nearest to a real one that can be had in a test.
func TestServeTheLibrarysClient(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			inR, inW := io.Pipe()
			outR, outW := io.Pipe()
			o := options(t, echo(), named("other")[0])
			o.In, o.Out = inR, outW
			ended := make(chan error)
			go func() { ended <- Serve(t.Context(), o) }()

			client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
			session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: outR, Writer: inW}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			list, err := session.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 2 {
				t.Errorf("list: got %v, %v", list, err)
			}
			got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "é\u2028\x00", "revision": true}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("é\u2028\x00", got.Content[0].(*mcp.TextContent).Text); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			if diff := cmp.Diff(parsed(t, `{"revisionScheme":"sha256-v1","revisions":{"path":{"state":"file","token":"sha256-v1:file:00"}}}`), got.StructuredContent); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			if got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo"}); err != nil || !got.IsError {
				t.Errorf("a refusal: got %v, %v", got, err)
			}
			if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "nothing"}); err == nil {
				t.Error("an unknown tool: got no error")
			}
			session.Close()
			if err := <-ended; err != nil {
				t.Errorf("the session ended with %v", err)
			}
		})
	}
}

func TestServeGivesBlocksAsTheLibraryDoes(t *testing.T) {
	picture := named("picture")[0]
	picture.Handle = func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
		long := bytes.Repeat([]byte{0, 0xff, 7}, sendBuffer)
		return &toolkit.Answer{Blocks: []toolkit.Block{
			{Text: "a \"picture\""},
			{Data: []byte("four"), MediaType: "image/png"},
			{Data: long[1:], MediaType: "application/pdf", URI: "file:///a b.pdf"},
			{Data: []byte{}, MediaType: "image/gif"},
		}}, nil
	}
	line := modern("1", "tools/call", `"name":"picture",`)
	want := library(t, options(t, picture).Server, line)
	got := inTurn(t, options(t, picture), line)
	same(t, want[0], got[0])
}
