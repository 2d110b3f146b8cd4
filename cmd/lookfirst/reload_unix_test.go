//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"
)

// A signal reloads as the prompt does; the news of it are the proof.
func TestReloadAtSignal(t *testing.T) {
	d := newDesk(t)
	d.configure(`{"name":`)
	hangUp := func() {
		t.Helper()
		if err := d.p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	hangUp()
	d.configure(d.tools(`"FileTools":{"root":ROOT,"read-only":true}`))
	hangUp()
	for !strings.Contains(d.p.read(), `"notifications/tools/list_changed"`) {
		t.Error("got something else than the news")
	}
	line, _ := d.answer(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if strings.Contains(line, `"edit_file"`) {
		t.Errorf("listed %.300s", line)
	}
	d.p.in.Close()
	d.p.exits()
	if got := d.p.stderr.String(); !strings.Contains(got, "Gone: edit_file, multi_edit, write_file.") {
		t.Errorf("the log says\n%s", got)
	}
}
