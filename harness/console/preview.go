package console

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"lookfirst/harness"
)

const (
	// maxDiffed is the largest text of which a difference is shown, in bytes: no person reads that of a larger one.
	maxDiffed = 1 << 20
	// maxCall is how much of a call is shown in place of a difference, in bytes.
	maxCall = 2000
)

// change is what the known tools that change something are told, in both spellings.
type change struct {
	Path      string        `json:"path"`
	From      string        `json:"from"`
	To        string        `json:"to"`
	Content   string        `json:"content"`
	Recursive bool          `json:"recursive"`
	Edits     []replacement `json:"edits"`
	replacement
	Old string `json:"old-string"`
	New string `json:"new-string"`
	All bool   `json:"replace-all"`
}

type replacement struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// preview says what a call would change. It is for the eyes of a person: what cannot be told surely is shown as the call
// that it is, and is for the tool to judge.
func (c *console) preview(ctx context.Context, call harness.Call) string {
	var ch change
	prefix, name := c.bare(call.Name)
	text := ""
	if json.Unmarshal(call.Arguments, &ch) == nil {
		switch name {
		case "write", "write_file":
			text = c.difference(ctx, prefix, name, ch.Path, func(string) (string, bool) { return ch.Content, true })
		case "edit":
			ch.Edits = []replacement{{ch.Old, ch.New, ch.All}}
			text = c.difference(ctx, prefix, name, ch.Path, ch.apply)
		case "edit_file":
			ch.Edits = []replacement{ch.replacement}
			text = c.difference(ctx, prefix, name, ch.Path, ch.apply)
		case "multi_edit":
			text = c.difference(ctx, prefix, name, ch.Path, ch.apply)
		case "mkdir":
			text = fmt.Sprintf("This makes the directory '%s', and those above it that are missing.", ch.Path)
		case "move":
			text = fmt.Sprintf("This moves '%s' to '%s'.", ch.From, ch.To)
		case "delete":
			text = c.deletion(ctx, prefix, ch)
		}
	}
	if text != "" && !strings.Contains(ch.Path+ch.From+ch.To, "\n") { // What stands behind it would be taken for our words.
		return text
	}
	text = call.Name + " " + string(call.Arguments)
	if len(text) > maxCall {
		text = strings.ToValidUTF8(text[:maxCall], "") + "…"
	}
	return text
}

// apply makes the edits on a text, literally. It fails where the tool would refuse, or might.
func (ch *change) apply(text string) (string, bool) {
	for _, e := range ch.Edits {
		count := strings.Count(text, e.Old)
		switch {
		case e.Old == "" && text == "": // Some tools make a file that way.
			text = e.New
		case e.Old == "" || count == 0 || count > 1 && !e.All:
			return "", false
		default:
			text = strings.ReplaceAll(text, e.Old, e.New)
		}
	}
	return text, len(ch.Edits) > 0
}

// difference is the unified difference that a change makes to the text of a file, or nothing where there is none to show.
func (c *console) difference(ctx context.Context, prefix, name, path string, change func(string) (string, bool)) string {
	old, isNew, ok := c.current(ctx, prefix, name, path)
	if !ok {
		return ""
	}
	text, ok := change(old)
	if !ok || len(old)+len(text) > maxDiffed {
		return ""
	}
	label := path
	if isNew {
		label = "/dev/null"
	}
	switch diff := udiff.Unified(label, path, old, text); {
	case diff != "":
		return diff
	case isNew:
		return fmt.Sprintf("This makes the empty file '%s'.", path)
	}
	return fmt.Sprintf("'%s' has just this text already.", path)
}

// current is the text of a file as the reading tool beside the one of that name gives it. A file that is new has none.
func (c *console) current(ctx context.Context, prefix, name, path string) (text string, isNew, ok bool) {
	numbered := strings.Contains(name, "_")
	reader := prefix + "read"
	if numbered {
		reader += "_file"
	}
	r, ok := c.ask(ctx, reader, map[string]any{"path": path})
	switch {
	case !ok || r.Blocks != nil && len(r.Blocks) != 1:
		return "", false, false
	case r.IsError:
		isNew = strings.Contains(r.Content, "does not exist")
		return "", isNew, isNew
	case numbered:
		text, ok = unnumbered(r.Content)
		return text, false, ok
	}
	return r.Content, false, true
}

// unnumbered takes the numbers off the lines of a text. It fails where lines may be missing or cut.
func unnumbered(text string) (string, bool) {
	const most = 2000 // lines, and characters of a line, that are shown of a file
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		number, rest, ok := strings.Cut(line, "\t")
		if n, err := strconv.Atoi(strings.TrimSpace(number)); !ok || err != nil || n != i+1 || utf8.RuneCountInString(rest) >= most {
			return "", false
		}
		lines[i] = rest
	}
	return strings.Join(lines, "\n"), len(lines) < most
}

// deletion says what is deleted, and how much it is where that can be known.
func (c *console) deletion(ctx context.Context, prefix string, ch change) string {
	if !ch.Recursive {
		return fmt.Sprintf("This deletes '%s', for good.", ch.Path)
	}
	r, ok := c.ask(ctx, prefix+"glob", map[string]any{"pattern": "**", "path": ch.Path})
	if !ok || r.IsError || strings.Contains(r.Content, "\n[") { // It could not be counted, or not all of it.
		return fmt.Sprintf("This deletes '%s', for good, and everything below it.", ch.Path)
	}
	below := "1 entry"
	if n := strings.Count(r.Content, "\n") + 1; n > 1 {
		below = fmt.Sprintf("%d entries", n)
	}
	return fmt.Sprintf("This deletes '%s', for good, and everything below it: %s.", ch.Path, below)
}

// ask calls a reading tool of the session that is for looking. It fails where there is none.
func (c *console) ask(ctx context.Context, name string, arguments map[string]any) (harness.Result, bool) {
	if c.Preview == nil {
		return harness.Result{}, false
	}
	tools, err := c.Preview.Tools(ctx)
	if err != nil || !slices.ContainsFunc(tools, func(t harness.Tool) bool { return t.Name == name && t.ReadOnly }) {
		return harness.Result{}, false
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		return harness.Result{}, false
	}
	results := c.Preview.ExecuteToolCalls(ctx, []harness.Call{{ID: "preview", Name: name, Arguments: raw}})
	if len(results) != 1 {
		return harness.Result{}, false
	}
	return results[0], true
}
