package harness

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"lookfirst/fsmcp/toolkit"
)

// call is one tool call, from its line to its answer.
type call struct {
	c         *connection
	request   *request
	ctx       context.Context
	tool      *toolkit.Tool
	served    *generation // to which tool belongs
	arguments []byte      // as they were sent, which a guard in front of us may have judged
	reply     reply
	progress  *progress // nil where nobody asked
}

// toolName returns the name of the tool that a call is for, or what is wrong with the call.
func toolName(p *params) ([]byte, *jsonrpc.Error) {
	switch {
	case isAbsent(p.raw):
		return nil, fault(jsonrpc.CodeInvalidRequest, `missing required "params"`)
	case !p.isObject():
		return nil, fault(jsonrpc.CodeInvalidParams, "the params of a tool call must be an object")
	case p.twice != "":
		return nil, fault(jsonrpc.CodeInvalidParams, "'%s' is given twice in the params", p.twice)
	case !isAbsent(p.name) && !isString(p.name):
		return nil, fault(jsonrpc.CodeInvalidParams, "the name of a tool must be a string")
	case !isAbsent(p.meta) && p.meta[0] != '{':
		return nil, fault(jsonrpc.CodeInvalidParams, "'_meta' must be an object")
	}
	if isString(p.name) {
		return text(p.name), nil
	}
	return nil, nil
}

func unknown(name string) *jsonrpc.Error {
	return fault(jsonrpc.CodeInvalidParams, "unknown tool %q", name[:min(len(name), maxToolName)])
}

// call makes a tool call, or puts it in line, and reports whether this goroutine is the reader still.
func (c *connection) call(m *message, e era) (reader bool) {
	name, wrong := toolName(&m.params)
	if wrong != nil {
		c.refuse(m, wrong)
		return true
	}
	served := c.Tools.acquire()
	tool := served.tools[string(name)]
	if tool == nil {
		c.Tools.release(served, 1)
		c.refuse(m, unknown(string(name)))
		return true
	}
	ctx, cancel := context.WithCancel(c.ctx)
	r := &request{id: m.id, method: m.method, size: len(m.line), cancel: cancel}
	if !c.register(r) {
		cancel()
		c.Tools.release(served, 1)
		c.refuse(m, inUse(m))
		return true
	}
	k := &call{
		c: c, request: r, ctx: ctx, tool: tool, served: served, arguments: m.params.arguments,
		reply: c.replyTo(m, e),
	}
	if c.Revisions.isAuto() && k.reply.placement == PlaceMeta {
		k.ctx = toolkit.WithoutTreeRevisions(k.ctx)
	}
	if e.progressToken != nil {
		k.progress = newProgress(func(done, total int64, message string) {
			_ = c.out.send(func(out *encoder) { out.progress(e.progressToken, done, total, message) })
		})
		k.ctx = toolkit.WithProgress(k.ctx, k.progress.report)
	}
	j := job{readOnly: tool.ReadOnly, run: k.run, dropped: func() { c.Tools.release(served, 1) }}
	if !c.queue.enter(j) {
		return true
	}
	return c.relay.run(func() {
		defer c.queue.leave(j)
		k.run()
	})
}

// replyTo begins the answer to a call as its client wants it.
func (c *connection) replyTo(m *message, e era) reply {
	p := reply{id: m.id}
	client := c.client
	if e.modern {
		p.serverInfo = c.serverInfo
		if e.client != "" {
			client = e.client
		}
	}
	p.placement = c.Revisions.For(client)
	return p
}

// run makes the call when its turn has come. A call that was cancelled before that is not made.
func (k *call) run() {
	var result *toolkit.Result
	defer func() { k.finish(result) }() // also when the handler has ended its goroutine
	if k.ctx.Err() == nil {
		result = k.tool.Call(k.ctx, k.arguments)
	}
}

// finish answers the call, within its turn: so no more answers are in memory than calls run.
func (k *call) finish(result *toolkit.Result) {
	if k.progress != nil {
		k.progress.end()
	}
	k.c.finish(k.request, func() error {
		if result == nil {
			return k.c.out.refuse(k.reply.id, fault(jsonrpc.CodeInternalError, "the call was not made"))
		}
		return k.c.out.send(func(e *encoder) { e.result(&k.reply, result) })
	})
	if result != nil && result.Done != nil {
		result.Done() // It has been encoded, or never will be.
	}
	k.c.Tools.release(k.served, 1)
}

// progress puts out how far a call has come.
func (e *encoder) progress(token []byte, done, total int64, message string) {
	e.raw(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`)
	e.bytes(token)
	e.raw(`,"progress":`)
	e.value(done)
	if total > 0 {
		e.raw(`,"total":`)
		e.value(total)
	}
	if message != "" {
		e.raw(`,"message":`)
		e.str(message)
	}
	e.raw(`}}`)
}
