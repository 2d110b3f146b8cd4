package console

import (
	"context"
	"slices"
	"strings"

	"lookfirst/harness"
)

const (
	question       = "Do it? [y]es, [n]o, [a]lways for this tool until you quit "
	askAgain       = "Type y, n or a; nothing is no."
	nothingChanged = "Nothing was changed."
)

// allows says whether a call is to be made. The person is asked about one that changes something, or may.
func (c *console) allows(ctx context.Context, call harness.Call) bool {
	if !c.person || c.Yes || c.always[call.Name] {
		return true
	}
	tools, err := c.tools(ctx)
	if err == nil {
		at := slices.IndexFunc(tools, func(t harness.Tool) bool { return t.Name == call.Name })
		if at < 0 || tools[at].ReadOnly { // There is nobody to change anything, or nothing that is changed.
			return true
		}
	}
	shown, err := run(ctx, c, func(ctx context.Context) (string, error) { return c.preview(ctx, call), nil })
	if err != nil {
		shown = call.Name + " " + string(call.Arguments)
	}
	if c.interrupted {
		return false
	}
	c.talk.difference(shown)
	for {
		reply, err := c.lines.next(ctx, question)
		if err != nil {
			return false
		}
		switch strings.ToLower(strings.TrimSpace(reply)) {
		case "a", "always":
			c.always[call.Name] = true
			return true
		case "y", "yes":
			return true
		case "", "n", "no":
			return false
		}
		c.talk.note(askAgain) // What was typed may have been meant as a line.
	}
}
