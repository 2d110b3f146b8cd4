package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"lookfirst/fsmcp/revision"
)

// command is one command of the scripts: its implementation, how many arguments it takes at least and at most, and
// whether it can be negated.
type command struct {
	do       func(ts *testscript.TestScript, c *conversation, neg bool, args []string)
	min, max int
	negates  bool
}

func commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	table := map[string]command{
		"serve":           {do: doServe, max: 20},
		"restart":         {do: doRestart},
		"close":           {do: doClose},
		"terminate":       {do: doTerminate},
		"tools":           {do: doTools},
		"call":            {do: doCall, min: 1, max: 1},
		"answer":          {do: doAnswer, min: 1, max: 1},
		"answer-matches":  {do: doAnswerMatches, min: 1, max: 1},
		"answer-file":     {do: doAnswerFile, min: 1, max: 1},
		"blocks":          {do: doBlocks, min: 1, max: 1},
		"block":           {do: doBlock, min: 1, max: 1},
		"block-file":      {do: doBlockFile, min: 3, max: 3},
		"refused":         {do: doRefused, min: 1, max: 1},
		"refused-matches": {do: doRefusedMatches, min: 1, max: 1},
		"revision":        {do: doRevision, min: 2, max: 2},
		"no-revisions":    {do: doNoRevisions},
		"save-revision":   {do: doSaveRevision, min: 2, max: 2},
		"same-revision":   {do: doSameRevision, min: 2, max: 2, negates: true},
		"bytes":           {do: doBytes, min: 1, max: 1},
		"put":             {do: doPut, min: 1, max: 1},
		"same-bytes":      {do: doSameBytes, min: 2, max: 2, negates: true},
		"mode":            {do: doMode, min: 2, max: 2},
		"link":            {do: doLink, min: 2, max: 2},
		"fifo":            {do: doFIFO, min: 1, max: 1},
	}
	cmds := map[string]func(ts *testscript.TestScript, neg bool, args []string){}
	for name, cmd := range table {
		cmds[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			switch {
			case neg && !cmd.negates:
				ts.Fatalf("%s cannot be negated", name)
			case len(args) < cmd.min || len(args) > cmd.max:
				ts.Fatalf("%s has %d arguments and takes %d to %d", name, len(args), cmd.min, cmd.max)
			}
			cmd.do(ts, ts.Value(conversationKey{}).(*conversation), neg, args)
		}
	}
	return cmds
}

func doServe(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	if c.child != nil {
		ts.Fatalf("the program runs already; close it first")
	}
	child, err := start(ts.MkAbs("."), environment(ts), args, c.overHTTP)
	ts.Check(err)
	c.child, c.args, c.last = child, slices.Clone(args), nil
	c.check(ts, child.handshake())
}

// check fails the script, and forgets a program that can no longer be talked to.
func (c *conversation) check(ts *testscript.TestScript, err error) {
	if err == nil {
		return
	}
	c.child.kill()
	c.child = nil
	ts.Fatalf("%v", err)
}

func doRestart(ts *testscript.TestScript, c *conversation, neg bool, _ []string) {
	c.finish(ts, c.running(ts).wire.end)
	doServe(ts, c, neg, c.args)
}

func doClose(ts *testscript.TestScript, c *conversation, _ bool, _ []string) {
	c.finish(ts, c.running(ts).wire.end)
}

func doTerminate(ts *testscript.TestScript, c *conversation, _ bool, _ []string) {
	c.finish(ts, c.running(ts).terminate)
}

func (c *conversation) finish(ts *testscript.TestScript, stop func() error) {
	child := c.child
	c.child = nil
	if err := child.end(stop); err != nil {
		child.kill()
		ts.Fatalf("%v", err)
	}
	_, _ = ts.Stdout().Write(child.stdout.Bytes())
	_, _ = io.WriteString(ts.Stderr(), child.stderr.String())
}

func (c *conversation) running(ts *testscript.TestScript) *child {
	if c.child == nil {
		ts.Fatalf("the program does not run; serve starts it")
	}
	return c.child
}

func doTools(ts *testscript.TestScript, c *conversation, _ bool, _ []string) {
	raw, err := c.running(ts).request("tools/list", "{}")
	c.check(ts, err)
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	c.check(ts, json.Unmarshal(raw, &list))
	c.hear("tools/list", raw)
	for _, tool := range list.Tools {
		fmt.Fprintf(ts.Stdout(), "%s\n", tool)
	}
}

func doCall(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	tool, arguments, _ := strings.Cut(args[0], " ")
	params := fmt.Sprintf(`{"name":%q`, tool)
	if arguments = strings.TrimSpace(arguments); arguments != "" {
		params += `,"arguments":` + c.expand(arguments)
	}
	raw, err := c.running(ts).request("tools/call", params+"}")
	c.check(ts, err)
	c.hear(args[0], raw)
	c.last = &answer{}
	c.check(ts, json.Unmarshal(raw, c.last))
	for _, b := range c.last.Content {
		ts.Logf("[%s, error %v]\n%s", b.Type, c.last.IsError, b.Text)
	}
}

// expand puts saved tokens in the place of their names. Any other $ is itself: code is full of them.
func (c *conversation) expand(text string) string {
	return regexp.MustCompile(`\$[A-Z][A-Z0-9_]*`).ReplaceAllStringFunc(text, func(name string) string {
		if token, ok := c.saved[name[1:]]; ok {
			return token
		}
		return name
	})
}

// literal is the text of an argument that is written as it is, or in double quotes as a Go string.
func (c *conversation) literal(ts *testscript.TestScript, arg string) string {
	if !strings.HasPrefix(arg, `"`) {
		return c.expand(arg)
	}
	text, err := strconv.Unquote(arg)
	if err != nil {
		ts.Fatalf("%s is not a Go string: %v", arg, err)
	}
	return c.expand(text)
}

// outcome returns the text of the latest answer, after checking that the call worked or did not, and that there is nothing
// but a text.
func (c *conversation) outcome(ts *testscript.TestScript, refused bool) string {
	c.ended(ts, refused)
	if len(c.last.Content) != 1 || c.last.Content[0].Type != "text" {
		ts.Fatalf("the answer is not one text: %+v", c.last.Content)
	}
	return c.last.Content[0].Text
}

// ended checks that the latest call worked, or that it was refused and gives no revisions.
func (c *conversation) ended(ts *testscript.TestScript, refused bool) {
	switch {
	case c.last == nil:
		ts.Fatalf("nothing was called yet")
	case c.last.IsError != refused:
		ts.Fatalf("an error is %v and should be %v: %+v", c.last.IsError, refused, c.last.Content)
	case refused && c.last.Structured != nil:
		ts.Fatalf("a refusal carries revisions: %+v", c.last.Structured)
	}
}

// blockAt returns one of several blocks of the latest answer, the first of which is 1.
func (c *conversation) blockAt(ts *testscript.TestScript, number string) block {
	c.ended(ts, false)
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(c.last.Content) {
		ts.Fatalf("there is no block %s among %d", number, len(c.last.Content))
	}
	return c.last.Content[n-1]
}

func doBlock(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	number, text, _ := strings.Cut(args[0], " ")
	b := c.blockAt(ts, number)
	if b.Type != "text" {
		ts.Fatalf("block %s is of the type %s", number, b.Type)
	}
	compare(ts, c.literal(ts, strings.TrimSpace(text)), b.Text)
}

func doBlockFile(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	b := c.blockAt(ts, args[0])
	want := block{Type: "image", MediaType: args[1], Data: []byte(ts.ReadFile(args[2]))}
	if !strings.HasPrefix(args[1], "image/") {
		want = block{Type: "resource", Resource: resource{URI: b.Resource.URI, MediaType: args[1], Blob: want.Data}}
		if !strings.HasPrefix(b.Resource.URI, "file://") {
			ts.Fatalf("the URI is %q", b.Resource.URI)
		}
	}
	if diff := cmp.Diff(want, b); diff != "" {
		ts.Fatalf("block %s: want -, got +:\n%s", args[0], diff)
	}
}

func doBlocks(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	c.ended(ts, false)
	if got := strconv.Itoa(len(c.last.Content)); got != args[0] {
		ts.Fatalf("there are %s blocks, not %s", got, args[0])
	}
}

func doAnswer(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	compare(ts, c.literal(ts, args[0]), c.outcome(ts, false))
}

func doRefused(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	compare(ts, c.literal(ts, args[0]), c.outcome(ts, true))
}

func doAnswerFile(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	compare(ts, strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), c.outcome(ts, false))
}

func compare(ts *testscript.TestScript, want, got string) {
	if got != want {
		ts.Fatalf("the text is\n  %q\nand should be\n  %q\n%s", got, want, cmp.Diff(want, got))
	}
}

func doAnswerMatches(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	match(ts, c.literal(ts, args[0]), c.outcome(ts, false))
}

func doRefusedMatches(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	match(ts, c.literal(ts, args[0]), c.outcome(ts, true))
}

func match(ts *testscript.TestScript, pattern, got string) {
	re, err := regexp.Compile(pattern)
	ts.Check(err)
	if !re.MatchString(got) {
		ts.Fatalf("the text is\n  %q\nand should match\n  %s", got, pattern)
	}
}

// revisionOf returns the state and the token of a location in the latest answer.
func (c *conversation) revisionOf(ts *testscript.TestScript, key string) (state, token string) {
	c.ended(ts, false)
	s := c.last.Structured
	if s == nil || s.Scheme != revision.Scheme {
		ts.Fatalf("the answer carries no revisions of the scheme %s: %+v", revision.Scheme, s)
	}
	r, ok := s.Revisions[key]
	if !ok {
		ts.Fatalf("the answer carries no revision of '%s': %+v", key, s.Revisions)
	}
	return r.State, r.Token
}

func doRevision(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	state, token := c.revisionOf(ts, args[0])
	if state != args[1] {
		ts.Fatalf("'%s' is '%s' and should be '%s'", args[0], state, args[1])
	}
	if state == string(revision.Unknown) {
		if token != "" {
			ts.Fatalf("'%s' is unknown and has the token %q", args[0], token)
		}
		return
	}
	if !strings.HasPrefix(token, revision.Scheme+":"+state) {
		ts.Fatalf("'%s' is '%s' and has the token %q", args[0], state, token)
	}
}

func doNoRevisions(ts *testscript.TestScript, c *conversation, _ bool, _ []string) {
	if c.last == nil || c.last.Structured != nil {
		ts.Fatalf("there is no answer, or it carries structured content: %+v", c.last)
	}
}

func doSaveRevision(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	_, token := c.revisionOf(ts, args[0])
	if token == "" || !regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`).MatchString(args[1]) {
		ts.Fatalf("the token %q cannot be saved as %s; a name is in capitals", token, args[1])
	}
	c.saved[args[1]] = token
}

func doSameRevision(ts *testscript.TestScript, c *conversation, neg bool, args []string) {
	_, token := c.revisionOf(ts, args[0])
	saved, ok := c.saved[args[1]]
	if !ok || (token == saved) == neg {
		ts.Fatalf("the token of '%s' is %q, that of %s is %q", args[0], token, args[1], saved)
	}
}

func doBytes(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	file, text, _ := strings.Cut(args[0], " ")
	want, got := c.literal(ts, strings.TrimSpace(text)), ts.ReadFile(file)
	if got != want {
		ts.Fatalf("%s holds\n  %q\nand should hold\n  %q", file, got, want)
	}
}

func doPut(ts *testscript.TestScript, c *conversation, _ bool, args []string) {
	file, text, _ := strings.Cut(args[0], " ")
	ts.Check(os.WriteFile(ts.MkAbs(file), []byte(c.literal(ts, strings.TrimSpace(text))), 0o644))
}

func doSameBytes(ts *testscript.TestScript, _ *conversation, neg bool, args []string) {
	a, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	if bytes.Equal(a, b) == neg {
		ts.Fatalf("%s and %s: the same bytes is %v", args[0], args[1], !neg)
	}
}

func doMode(ts *testscript.TestScript, _ *conversation, _ bool, args []string) {
	want, err := strconv.ParseUint(args[1], 8, 32)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := info.Mode().Perm(); got != os.FileMode(want) {
		ts.Fatalf("%s has the mode %#o and should have %#o", args[0], got, want)
	}
}

func doLink(ts *testscript.TestScript, _ *conversation, _ bool, args []string) {
	ts.Check(os.Symlink(args[1], ts.MkAbs(args[0])))
}

func doFIFO(ts *testscript.TestScript, _ *conversation, _ bool, args []string) {
	ts.Check(makeFIFO(ts.MkAbs(args[0])))
}
