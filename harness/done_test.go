package harness

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"lookfirst/fsmcp/toolkit"
)

// The memory of an answer is given back once, and not before the answer is written: here it is scribbled over then.
func TestServeGivesMemoryBack(t *testing.T) {
	var calls, done atomic.Int64
	tool := named("give")[0]
	tool.ReadOnly = true
	tool.Handle = func(context.Context, *toolkit.Args) (*toolkit.Answer, error) {
		n := calls.Add(1)
		memory := bytes.Repeat([]byte(strconv.FormatInt(n%10, 10)), 3*sendBuffer)
		var given atomic.Bool
		return &toolkit.Answer{
			Text: unsafe.String(unsafe.SliceData(memory), len(memory)),
			Done: func() {
				if given.Swap(true) {
					t.Error("it was given back twice")
				}
				done.Add(1)
				clear(memory)
			},
		}, nil
	}
	var lines []string
	const asked = 40
	for id := range asked {
		lines = append(lines, modern(strconv.Itoa(id), "tools/call", `"name":"give",`))
	}
	texts := answers(t, ask(t, options(t, tool), lines...))
	if len(texts) != asked || calls.Load() != asked || done.Load() != asked {
		t.Errorf("%d answers to %d calls, of which %d were given back; want %d each", len(texts), calls.Load(), done.Load(), asked)
	}
	for id, text := range texts {
		if len(text) != 3*sendBuffer || strings.Trim(text, text[:1]) != "" || text[0] == 0 {
			t.Errorf("answer %d is not as it was given", id)
		}
	}
}
