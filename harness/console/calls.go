package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"lookfirst/harness"
)

// call answers a line that is a call.
func (c *console) call(ctx context.Context, line string) {
	id := strconv.Itoa(c.number)
	name, arguments, err := c.parse(ctx, line)
	switch {
	case errors.Is(err, errInterrupted) || err != nil && ctx.Err() != nil:
		c.failed = true
		return
	case err != nil:
		c.answer(c.unread(err))
		return
	}
	c.make(ctx, []harness.Call{{ID: id, Name: name, Arguments: arguments}})
}

// parse reads a line that is a call, and the lines that belong to it.
func (c *console) parse(ctx context.Context, line string) (name string, arguments json.RawMessage, err error) {
	if first, rest := cutWord(line); first == "call" {
		if name, arguments, err = c.parseJSON(ctx, rest); err != nil {
			err = c.passOver(ctx, line, err)
		}
		return name, arguments, err
	}
	words, err := split(line)
	if err != nil {
		return "", nil, c.passOver(ctx, line, err)
	}
	if err := c.heredocs(ctx, words); err != nil {
		return "", nil, err
	}
	typed := words[0].text
	t, err := c.toolOf(ctx, typed)
	if err != nil {
		return "", nil, err
	}
	described := newTool(t)
	arguments, err = described.arguments(typed, words[1:])
	return t.Name, arguments, err
}

// parseJSON reads what stands behind "call": a tool's name and a JSON object.
func (c *console) parseJSON(ctx context.Context, rest string) (string, json.RawMessage, error) {
	const example = `call fs_read {"path":"README.md"}`
	name, object := cutWord(rest)
	if name == "" {
		return "", nil, unreadablef("call names no tool; write it as in: %s", example)
	}
	if strings.HasPrefix(object, "'") { // As in a shell.
		words, err := split(object)
		if err != nil || len(words) != 1 {
			return "", nil, unreadablef("the arguments of call are one JSON object; write them as in: %s", example)
		}
		object = words[0].text
	}
	if object != "" && (object[0] != '{' || !json.Valid([]byte(object))) {
		return "", nil, unreadablef("the arguments of call are one JSON object; write them as in: %s", example)
	}
	t, err := c.toolOf(ctx, name)
	return t.Name, json.RawMessage(object), err
}

// heredocs puts the lines that are meant in the place of each <<WORD. It reads the texts behind one that cannot be read
// too, for the same reason as heredoc does.
func (c *console) heredocs(ctx context.Context, words []word) (fault error) {
	for i := range words {
		if !words[i].heredoc {
			continue
		}
		text, err := c.heredoc(ctx, words[i].text)
		if err != nil && !errors.As(err, new(unreadable)) {
			return err
		}
		if fault == nil {
			fault = err
		}
		words[i].text = text
	}
	return fault
}

// heredoc reads the lines up to one that is end. It reads them to the end also where one of them cannot be read: what is
// left of a text must not be taken for calls.
func (c *console) heredoc(ctx context.Context, end string) (string, error) {
	var text strings.Builder
	var fault error
	for {
		line, err := c.read(ctx, ". ")
		switch {
		case errors.Is(err, io.EOF):
			return "", unreadablef("the text behind <<%s has no end; write %s alone on a line behind it", end, end)
		case errors.As(err, new(unreadable)):
			fault = err
		case err != nil:
			return "", err
		case strings.TrimSuffix(line, "\r") == end:
			return text.String(), fault
		case text.Len()+len(line) > maxLine:
			fault = unreadablef("the text behind <<%s is longer than 64 MiB", end)
		}
		if fault == nil {
			text.WriteString(line)
			text.WriteByte('\n')
		}
	}
}

// passOver reads the texts that a line of a script seems to have behind it, where the line itself was not understood: the
// lines of a text must not be taken for calls, whatever is wrong with the one that asks for it. It returns the error with
// word of that. A person sees what was not understood, and is asked before anything changes.
func (c *console) passOver(ctx context.Context, line string, err error) error {
	ends := textEnds(line)
	if c.person || len(ends) == 0 {
		return err
	}
	for _, end := range ends {
		_, _ = c.heredoc(ctx, end) // Where it has no end, nothing is left of the script.
	}
	return unreadablef("%w; the lines up to one that is %s were passed over", err, strings.Join(ends, ", and then up to one that is "))
}

// textEnds are the lines that end the texts which a line seems to ask for: the word behind each <<, whatever is around it.
func textEnds(line string) []string {
	var ends []string
	for _, behind := range strings.Split(line, "<<")[1:] {
		end, _ := cutWord(strings.TrimLeft(behind, " \t"))
		if end = strings.Trim(end, "\r'\"\\"); end != "" {
			ends = append(ends, end)
		}
	}
	return ends
}

// batch makes calls that are written as JSON.
func (c *console) batch(ctx context.Context, line string) {
	if !c.JSON {
		c.answer(c.unread(unreadablef(`a line of JSON is read with --json only; write: call NAME {…}`)))
		return
	}
	calls, err := callsOf([]byte(line))
	if err != nil {
		c.answer(c.unread(unreadablef(`the line is no call, and no array of calls, as {"id":"1","name":"fs_read","arguments":{"path":"README.md"}}: %w`, err)))
		return
	}
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = strconv.Itoa(c.number)
		}
	}
	c.make(ctx, calls)
}

// callsOf reads a call, or an array of them.
func callsOf(line []byte) (calls []harness.Call, err error) {
	if err := json.Unmarshal(line, new(any)); err != nil {
		return nil, err // Of all of the line; the decoder would stop where a call ends.
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields() // Arguments under a wrong name would be a call without any.
	if line[0] == '{' {
		calls = make([]harness.Call, 1)
		return calls, d.Decode(&calls[0])
	}
	return calls, d.Decode(&calls)
}
