package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/readstate"
)

// desk is a program that serves what a config file says, which the test rewrites.
type desk struct {
	*site
	t    *testing.T
	file string
	p    *process
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	s := newSite(t)
	d := &desk{site: s, t: t, file: filepath.Join(filepath.Dir(s.root), "config.json")}
	s.put(t, "a.txt", "one\n")
	d.configure(d.tools(`"FileTools":{"root":ROOT}`))
	program, err := exec.LookPath("lookfirst")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--config", d.file)
	cmd.Env = s.env()
	d.p = launch(t, cmd)
	d.p.ask(hello)
	d.p.send(ready)
	return d
}

// tools is a config file of these toolkits, in which ROOT stands for the root.
func (d *desk) tools(toolkits string) string {
	root, _ := json.Marshal(d.root)
	return `{"name":"desk","tools":{` + strings.ReplaceAll(toolkits, "ROOT", string(root)) + `}}`
}

func (d *desk) configure(text string) {
	d.t.Helper()
	if err := os.WriteFile(d.file, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// answer returns the answer to a request, passing over what the server says by itself, which it keeps.
func (d *desk) answer(line string) (answer string, said []string) {
	d.t.Helper()
	d.p.send(line)
	for {
		got := d.p.read()
		if answerID(d.t, got) != "" {
			return got, said
		}
		said = append(said, got)
	}
}

func (d *desk) prompt(name string) string {
	d.t.Helper()
	line, _ := d.answer(`{"jsonrpc":"2.0","id":"p","method":"prompts/get","params":{"name":"` + name + `"}}`)
	var got struct {
		Error  *struct{ Message string }
		Result mcp.GetPromptResult
	}
	if err := decode(line, &got); err != nil {
		d.t.Fatal(err)
	}
	if got.Error != nil {
		return "error: " + got.Error.Message
	}
	return got.Result.Messages[0].Content.(*mcp.TextContent).Text
}

// edit makes a change that is refused to whoever has not read the file.
func (d *desk) edit(from, to string) string {
	d.t.Helper()
	line, _ := d.answer(toolCall(d.t, "e", "edit_file", map[string]any{"path": "a.txt", "old_string": from, "new_string": to}))
	return line
}

func (d *desk) refuses(answer, want string) {
	d.t.Helper()
	if worked(answer) || !strings.Contains(answer, want) {
		d.t.Errorf("got %s, want a refusal: %s", answer, want)
	}
}

func TestReloadKeepsWhatTheSessionHasSeen(t *testing.T) {
	d := newDesk(t)
	d.refuses(d.edit("one", "two"), readstate.ErrUnread.Error())
	read, _ := d.answer(toolCall(t, "r", "read_file", map[string]any{"path": "a.txt"}))
	answerText(t, read)

	d.configure(d.tools(`"FileSystem":{"root":ROOT,"read-before-write":true},"FileTools":{"root":ROOT}`))
	want := "The configuration was read again, and 16 tools are served now. " +
		"New: fs_delete, fs_edit, fs_glob, fs_grep, fs_list, fs_map, fs_mkdir, fs_move, fs_read, fs_stat, fs_write. No action is needed."
	if got := d.prompt("reload"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	answerText(t, d.edit("one", "two"))
	// The new toolkit shares what was read, and wrote, before it was there.
	line, _ := d.answer(toolCall(t, "w", "fs_write", map[string]any{"path": "a.txt", "content": "three\n"}))
	answerText(t, line)
	if got := d.get(t, "a.txt"); got != "three\n" {
		t.Errorf("the file holds %q", got)
	}
}

func TestReloadTellsTheClient(t *testing.T) {
	d := newDesk(t)
	d.configure(d.tools(`"FileTools":{"root":ROOT,"read-only":true}`))
	want := "The configuration was read again, and 2 tools are served now. Gone: edit_file, multi_edit, write_file. No action is needed."
	if got := d.prompt("reload"); got != want {
		t.Errorf("got %s", got)
	}
	if got := d.p.read(); !strings.Contains(got, `"notifications/tools/list_changed"`) {
		t.Errorf("got %s, want the news", got)
	}
	line, _ := d.answer(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if strings.Contains(line, `"edit_file"`) || !strings.Contains(line, `"read_file"`) {
		t.Errorf("listed %.300s", line)
	}
	if got := d.edit("one", "two"); !strings.Contains(got, `unknown tool`) {
		t.Errorf("got %s", got)
	}
}

func TestReloadOfABadFileChangesNothing(t *testing.T) {
	d := newDesk(t)
	good := d.tools(`"FileTools":{"root":ROOT}`)
	for _, tt := range []struct{ name, text, want string }{
		{"half written", good[:len(good)-9], d.file + ": the file is not one JSON object"},
		{"empty", "", d.file + ": the file is not one JSON object"},
		{"with a setting that there is not", d.tools(`"FileTools":{"root":ROOT,"readonly":true}`), "readonly"},
		{"with a root that is not there", strings.ReplaceAll(good, "root\"}", "nowhere\"}"), "nowhere"},
		{"with tools of one name", d.tools(`"FileTools":{"root":ROOT},"FileTools#b":{"root":ROOT}`), "both have a tool"},
	} {
		t.Run("it keeps what it had, when the file is "+tt.name, func(t *testing.T) {
			d.configure(tt.text)
			got := d.prompt("reload")
			if !strings.HasPrefix(got, "error: nothing was reloaded, and what was served is still served: ") || !strings.Contains(got, tt.want) {
				t.Errorf("got %s", got)
			}
			line, said := d.answer(toolCall(t, "r", "read_file", map[string]any{"path": "a.txt"}))
			if answerText(t, line); len(said) > 0 {
				t.Errorf("the client was told %v", said)
			}
		})
	}
	d.configure(good)
	if got := d.prompt("reload"); !strings.Contains(got, "5 tools are served now. No") {
		t.Errorf("got %s", got)
	}
}

// A directory that was replaced by another of its name, as by a fresh checkout, is refused until it is looked at again.
func TestReloadOpensTheDirectoryAnew(t *testing.T) {
	d := newDesk(t)
	if err := os.Rename(d.root, d.root+".old"); err != nil {
		t.Skipf("an open directory cannot be moved here: %v", err)
	}
	if err := os.Mkdir(d.root, 0o700); err != nil {
		t.Fatal(err)
	}
	d.put(t, "a.txt", "fresh\n")
	d.prompt("reload")
	line, _ := d.answer(toolCall(t, "r", "read_file", map[string]any{"path": "a.txt"}))
	if got := answerText(t, line); !strings.Contains(got, "fresh") {
		t.Errorf("got %q", got)
	}
}

func TestReloadOfWhatIsToldAtTheStart(t *testing.T) {
	d := newDesk(t)
	d.configure(strings.Replace(d.tools(`"FileTools":{"root":ROOT}`), `"desk"`, `"table","version":"2","http":{"port":1}`, 1))
	for range 2 { // It still waits when it was told before.
		if got := d.prompt("reload"); !strings.Contains(got, "What changed in 'name', 'version', 'http' counts from the next start of the server.") {
			t.Errorf("got %s", got)
		}
	}
}

func TestPromptRescan(t *testing.T) {
	d := newDesk(t)
	want := "The file tools look again for ripgrep, grep and pdftotext when they next need one. No action is needed."
	if got := d.prompt("rescan"); got != want {
		t.Errorf("got %s", got)
	}
	line, _ := d.answer(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)
	if !strings.Contains(line, `"name":"reload"`) || !strings.Contains(line, `"name":"rescan"`) {
		t.Errorf("listed %s", line)
	}
}

// Over HTTP a session goes on, with all that it has seen; and whoever asks need not be the operator.
func TestReloadOverHTTP(t *testing.T) {
	s := newSite(t)
	d := &desk{site: s, t: t, file: filepath.Join(filepath.Dir(s.root), "config.json")}
	s.put(t, "a.txt", "one\n")
	d.configure(d.tools(`"FileTools":{"root":ROOT}`))
	p := serving(t, "--config", d.file)
	c := connect(t, p.url, "2025-11-25")
	c.call("read_file", map[string]any{"path": "a.txt"})

	d.configure(`{"name":`)
	_, err := c.session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "reload"})
	if err == nil || !strings.HasSuffix(err.Error(), "the configuration cannot be used; the server's log says why") {
		t.Errorf("got %v", err)
	}
	d.configure(d.tools(`"FileSystem":{"root":ROOT},"FileTools":{"root":ROOT}`))
	if _, err := c.session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "reload"}); err != nil {
		t.Error(err)
	}
	c.want("The file a.txt has been updated", "edit_file", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "two"})
	c.want("two\n", "fs_read", map[string]any{"path": "a.txt"})
	if _, said := p.ended(); !strings.Contains(said, d.file+": the file is not one JSON object") {
		t.Errorf("the log says\n%s", said)
	}
}
