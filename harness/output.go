package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// output writes what a client reads, a message a line. It may be used from several goroutines.
type output struct {
	failed chan struct{} // closed after the first write that did not work; after it nothing is written
	reason error         // why it did not work; set before failed is closed

	mu  sync.Mutex // guards enc, which belongs to one message from its first byte to its line break
	enc *encoder
}

func newOutput(w io.Writer) *output {
	return &output{failed: make(chan struct{}), enc: newEncoder(w)}
}

// send writes the message that fill puts out.
func (o *output) send(fill func(e *encoder)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.enc.err != nil {
		return o.enc.err
	}
	fill(o.enc)
	o.enc.raw("\n")
	o.enc.flush()
	if o.enc.err != nil {
		o.reason = o.enc.err
		close(o.failed)
	}
	return o.enc.err
}

// err returns why a write did not work. It is nil when the client has closed its end, which is its right.
func (o *output) err() error {
	select {
	case <-o.failed:
	default:
		return nil
	}
	if errors.Is(o.reason, syscall.EPIPE) || errors.Is(o.reason, io.ErrClosedPipe) || isBrokenPipe(o.reason) {
		return nil
	}
	return fmt.Errorf("write: %w", o.reason)
}

// close returns a channel that is closed when nothing more will be written. That is at once, unless a message is being
// written to somebody who does not read.
func (o *output) close() <-chan struct{} {
	closed := make(chan struct{})
	end := func() {
		defer o.mu.Unlock()
		if o.enc.err == nil {
			o.enc.err = io.ErrClosedPipe
		}
		close(closed)
	}
	if o.mu.TryLock() {
		end()
		return closed
	}
	go func() {
		o.mu.Lock()
		end()
	}()
	return closed
}

// answer sends a result that is encoded already.
func (o *output) answer(id, result []byte) error {
	return o.send(func(e *encoder) {
		e.envelope(id, `,"result":`)
		e.bytes(result)
		e.raw("}")
	})
}

// refuse sends an error. Without an id, null stands in its place.
func (o *output) refuse(id []byte, fault *jsonrpc.Error) error {
	return o.send(func(e *encoder) {
		e.envelope(id, `,"error":`)
		e.fault(fault)
		e.raw("}")
	})
}

// envelope puts out what is around every answer, up to its result or error.
func (e *encoder) envelope(id []byte, next string) {
	e.raw(`{"jsonrpc":"2.0","id":`)
	if id == nil {
		e.raw("null")
	}
	e.bytes(id)
	e.raw(next)
}

// fault puts out the error of an answer.
func (e *encoder) fault(f *jsonrpc.Error) {
	e.raw(`{"code":`)
	e.value(f.Code)
	e.raw(`,"message":`)
	e.str(f.Message)
	if len(f.Data) > 0 {
		e.raw(`,"data":`)
		e.bytes(f.Data)
	}
	e.raw(`}`)
}

// value puts out a small value. It must be one that JSON can say.
func (e *encoder) value(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	e.bytes(b)
}
