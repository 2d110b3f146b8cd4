package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// What is served is the operator's to say. A client that offers roots of its own, be it the whole system, is neither asked for
// them nor heard: they would stand in place of the directory on the command line, and nobody could tell from that what is
// reached.
func TestRootsOfAClientChangeNothing(t *testing.T) {
	const (
		offers  = `"roots":{"listChanged":true}`
		changed = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
	)
	for _, tt := range []struct {
		name    string
		hello   []string
		meta    string
		unasked int // answers to hello
	}{
		{name: "2025-11-25", hello: []string{strings.Replace(hello, `"capabilities":{}`, `"capabilities":{`+offers+`}`, 1), ready, changed}, unasked: 1},
		{name: "2026-07-28", hello: []string{changed}, meta: strings.Replace(modernMeta, `clientCapabilities":{`, `clientCapabilities":{`+offers, 1) + ","},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if said := strings.Join(tt.hello, "") + tt.meta; !strings.Contains(said, offers) {
				t.Fatalf("the client offers no roots: %s", said)
			}
			s := newSite(t)
			s.put(t, "a.txt", "one\n")
			outside := newSite(t)
			outside.put(t, "b.txt", "two\n")
			file := filepath.Join(outside.root, "b.txt")
			cmd := s.command(t)
			cmd.Args = []string{cmd.Args[0], s.root} // in both vocabularies
			p := launch(t, cmd)
			p.send(tt.hello...)
			for range tt.unasked {
				p.read()
			}
			for _, c := range []struct {
				tool, path, begins string
				refused            bool
			}{
				{"fs_read", "a.txt", "one\n", false},
				{"read_file", filepath.Join(s.root, "a.txt"), "1\tone\n", false},
				{"fs_read", "b.txt", "'b.txt' does not exist", true},
				{"fs_read", file, "", true},
				{"read_file", file, "Error: Path escapes root: ", true},
			} {
				path, err := json.Marshal(c.path)
				if err != nil {
					t.Fatal(err)
				}
				// Were the client asked for anything, that would come in place of the answer.
				line := p.ask(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{` + tt.meta + `"name":"` + c.tool + `","arguments":{"path":` + string(path) + `}}}`)
				var got struct {
					ID     int
					Result answer
				}
				if err := json.Unmarshal([]byte(line), &got); err != nil || got.ID != 7 || len(got.Result.Content) != 1 {
					t.Fatalf("%s %s: %v: %s", c.tool, c.path, err, line)
				}
				if text := got.Result.Content[0].Text; !strings.HasPrefix(text, c.begins) || got.Result.IsError != c.refused {
					t.Errorf("%s %s: got %q (refused: %v), want %q", c.tool, c.path, text, got.Result.IsError, c.begins)
				}
			}
			p.in.Close()
			if rest := p.rest(); len(rest) > 0 {
				t.Errorf("the client was sent %q", rest)
			}
			p.exits()
		})
	}
}
