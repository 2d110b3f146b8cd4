package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"unicode/utf8"
)

// defaultParallel is how many neighbouring calls run side by side unless a setting says otherwise (D20).
const defaultParallel = 4

// parallelism reads the setting: zero is the default, and there is always room for one.
func parallelism(setting int) int {
	if setting == 0 {
		return defaultParallel
	}
	return max(setting, 1)
}

// batch makes calls for a provider that can make one at a time. Neighbouring calls that may share run side by side, and
// every other call alone, in its place in line:
//
//	read read read │ write │ read grep │ unknown
//	└─ together ──┘  alone  └together┘   answered
//
// run waits at each bar until everything before it is over. A batch may be used from several goroutines.
type batch struct {
	tools    map[string]Tool
	parallel int // at least 1
	// one makes a call whose arguments are an object, and is given no other.
	one func(ctx context.Context, c Call) Result
}

// run returns one result a call, in their order.
func (b *batch) run(ctx context.Context, calls []Call) []Result {
	results := make([]Result, len(calls))
	for start := 0; start < len(calls); {
		end := b.neighbours(calls, start)
		b.sideBySide(ctx, calls[start:end], results[start:end])
		start = end
	}
	return results
}

// neighbours returns the end of the calls that may run together with the one at start, which are at least itself.
func (b *batch) neighbours(calls []Call, start int) int {
	end := start
	for end < len(calls) && b.tools[calls[end].Name].mayShare() {
		end++
	}
	return max(end, start+1)
}

// sideBySide fills in the results of neighbouring calls. Every call has a goroutine, also when it is alone: a handler that
// ends its goroutine then ends nothing else.
func (b *batch) sideBySide(ctx context.Context, calls []Call, results []Result) {
	first := map[string]int{} // of identical calls
	same := make([]int, len(calls))
	room := make(chan struct{}, b.parallel)
	var running sync.WaitGroup
	for i, c := range calls {
		arguments, err := object(c.Arguments)
		if err != nil {
			same[i], results[i] = i, b.refuse(c, err)
			continue
		}
		c.Arguments = arguments
		key := c.Name + "\x00" + string(arguments)
		if at, ok := first[key]; ok {
			same[i] = at
			continue
		}
		first[key], same[i] = i, i
		results[i] = refused("the call of %s ended without an answer; it is not known whether it did anything", quoted(c.Name))
		room <- struct{}{}
		running.Go(func() {
			defer func() { <-room }()
			b.guarded(ctx, c, &results[i])
		})
	}
	running.Wait()
	for i, c := range calls {
		results[i] = results[same[i]].answering(c)
	}
}

// refuse answers a call whose arguments cannot be read; but that there is no such tool is to be said first.
func (b *batch) refuse(c Call, err error) Result {
	if _, ok := b.tools[c.Name]; !ok {
		return unknownTool(c.Name)
	}
	return unreadable(c, err)
}

// guarded makes one call. If it panics, the result stays what it was.
func (b *batch) guarded(ctx context.Context, c Call, result *Result) {
	defer func() { reportPanic("call of "+c.Name, recover()) }()
	switch _, ok := b.tools[c.Name]; {
	case !ok:
		*result = unknownTool(c.Name)
	case ctx.Err() != nil:
		*result = refused("the call of %s was cancelled before it was made", quoted(c.Name))
	default:
		*result = b.one(ctx, c)
	}
}

// reportPanic tells the operator of a panic that a sentence was put in place of. A model can do nothing with its details.
func reportPanic(during string, p any) {
	if p != nil {
		fmt.Fprintf(os.Stderr, "%s: panic: %v\n%s", during, p, debug.Stack())
	}
}

func unknownTool(name string) Result {
	if name == "" {
		return refused("the call names no tool; send the name of a tool in the list")
	}
	return refused("there is no tool %s; choose one of the tools in the list", quoted(name))
}

func unreadable(c Call, err error) Result {
	return refused("the arguments of %s are %v; send one JSON object", quoted(c.Name), err)
}

// argumentsDepth is how many objects are around the arguments of a call in a message: the message and its params.
const argumentsDepth = 2

// object reads the arguments of a call: a JSON object, compacted, so that every layer judges the very bytes that the tool
// is given.
func object(arguments json.RawMessage) (json.RawMessage, error) {
	raw := bytes.TrimSpace(arguments)
	if !utf8.Valid(raw) {
		return nil, errors.New("not valid UTF-8") // Decoders repair it in different ways.
	}
	if isString(raw) {
		var held string
		if err := json.Unmarshal(raw, &held); err != nil {
			return nil, errors.New("not valid JSON")
		}
		raw = bytes.TrimSpace([]byte(held))
	}
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return json.RawMessage("{}"), nil
	case !json.Valid(raw):
		return nil, errors.New("not valid JSON")
	case raw[0] != '{':
		return nil, errors.New("no object")
	}
	// A server takes a message that nests deeper for a broken one, cannot say whose it is, and the connection is over.
	if _, err := (&scanner{src: raw}).value(argumentsDepth); err != nil {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth-argumentsDepth)
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, raw)
	return compact.Bytes(), err
}
