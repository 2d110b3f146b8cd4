package harness

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// message is one line of a client, taken apart as far as we need it. Its parts are bytes of the line, as they were sent.
type message struct {
	line   []byte
	id     []byte // nil for a notification
	method string
	params params
	reply  *jsonrpc.Response // set for an answer to a request of ours, and then nothing else is
}

// params are the parameters of a request, and of these the three that a tool call has.
type params struct {
	raw                   []byte // nil when there are none
	name, arguments, meta []byte
	twice                 string // the first of the three that is given twice
}

// isObject reports whether the parameters are an object, which in this protocol they must be.
func (p *params) isObject() bool { return len(p.raw) > 0 && p.raw[0] == '{' }

// fault makes an error of the protocol. None of ours has the code 0, which means nothing to a client.
func fault(code int64, format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// parse takes a line apart. Where the line is no message, it returns the error to answer with, and with it an id as far as
// there is one that can be sent back.
func parse(line []byte) (*message, *jsonrpc.Error) {
	p := &parser{scanner: scanner{src: line}, message: message{line: line}}
	if line[0] != '{' {
		return p.other()
	}
	err := p.object(0, p.member)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return &message{}, p.unreadable(err)
	}
	return p.finish()
}

// parser reads one message.
type parser struct {
	scanner
	message
	version, rawMethod, result, failure []byte
	twice                               string // the first member that is given twice
}

// other answers what is JSON but no object, or no JSON.
func (p *parser) other() (*message, *jsonrpc.Error) {
	_, err := p.value(0)
	if err == nil {
		err = p.end()
	}
	switch {
	case err != nil:
		return &message{}, p.unreadable(err)
	case p.src[0] == '[':
		return &message{}, fault(jsonrpc.CodeInvalidRequest, "batches are not supported: send each message on a line of its own")
	}
	return &message{}, fault(jsonrpc.CodeInvalidRequest, "a message must be a JSON object")
}

func (p *parser) end() error {
	if p.peek(); p.pos < len(p.src) {
		return p.fault("something follows the end of the message")
	}
	return nil
}

func (p *parser) unreadable(err error) *jsonrpc.Error {
	return fault(jsonrpc.CodeParseError, "parse error: %v; a message is one JSON object on one line", err)
}

// member reads one member of the message. A member that we do not know is passed over.
func (p *parser) member(key []byte) (err error) {
	switch string(key) {
	case "jsonrpc":
		err = p.keep(&p.version, "jsonrpc")
	case "id":
		err = p.keep(&p.id, "id")
	case "method":
		err = p.keep(&p.rawMethod, "method")
	case "params":
		err = p.readParams()
	case "result":
		err = p.keep(&p.result, "result")
	case "error":
		err = p.keep(&p.failure, "error")
	default:
		_, err = p.value(1)
	}
	return err
}

// keep reads the value of a member that may stand there once.
func (p *parser) keep(into *[]byte, key string) error {
	if *into != nil && p.twice == "" {
		p.twice = key
	}
	raw, err := p.value(1)
	*into = raw
	return err
}

// readParams finds the members of a tool call on the way, so that a long content is not passed over twice.
func (p *parser) readParams() error {
	if p.params.raw != nil && p.twice == "" {
		p.twice = "params"
	}
	if p.peek() != '{' {
		return p.keep(&p.params.raw, "params")
	}
	start := p.pos
	outer := p.twice
	p.twice = ""
	err := p.object(1, func(key []byte) (err error) {
		switch string(key) {
		case "name":
			err = p.keep(&p.params.name, "name")
		case "arguments":
			err = p.keep(&p.params.arguments, "arguments")
		case "_meta":
			err = p.keep(&p.params.meta, "_meta")
		default:
			_, err = p.value(2)
		}
		return err
	})
	p.params.raw = p.src[start:p.pos]
	p.params.twice, p.twice = p.twice, outer
	return err
}

// finish judges what has been read.
func (p *parser) finish() (*message, *jsonrpc.Error) {
	m := p.message
	if p.rawMethod == nil && (p.result != nil || p.failure != nil) {
		return p.replied()
	}
	if !sendable(m.id) {
		m.id = nil
	}
	invalid := func(format string, args ...any) (*message, *jsonrpc.Error) {
		return &m, fault(jsonrpc.CodeInvalidRequest, format, args...)
	}
	switch {
	case p.twice != "":
		return invalid("'%s' is given twice in one message", p.twice)
	case string(p.version) != `"2.0"`:
		return invalid("'jsonrpc' must be the string '2.0'")
	case !isString(p.rawMethod):
		return invalid("'method' is missing or is not a string")
	case p.id != nil && idKey(p.id) == "":
		return invalid("'id' must be a string or an integer of 64 bits; a notification has none")
	}
	m.method = string(text(p.rawMethod))
	return &m, nil
}

// replied makes a message of an answer to us. It is never answered itself, however wrong it is.
func (p *parser) replied() (*message, *jsonrpc.Error) {
	m := &message{line: p.line, reply: &jsonrpc.Response{Result: p.result}}
	var id any
	if json.Unmarshal(p.id, &id) == nil {
		m.reply.ID, _ = jsonrpc.MakeID(id)
	}
	if p.failure != nil {
		failure := &jsonrpc.Error{}
		if json.Unmarshal(p.failure, failure) != nil {
			failure = fault(jsonrpc.CodeInternalError, "the client's error is malformed")
		}
		m.reply.Error = failure
	}
	return m, nil
}

// sendable reports whether an id can stand in an answer: anything but what was never a name for one request.
func sendable(id []byte) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || isDigit(id[0])) && utf8.Valid(id)
}

// idKey returns what is the same for all ways to write an id, or nothing for what is no id: null, a fraction, a number
// that does not fit into 64 bits, text that is no UTF-8.
func idKey(id []byte) string {
	switch {
	case !sendable(id):
		return ""
	case id[0] == '"':
		return `"` + string(text(id))
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// members reads an object whose keys must be unique, and returns the values of the wanted ones in their order. It returns
// false for anything but an object.
func members(raw []byte, wanted ...string) (values [][]byte, ok bool, err error) {
	s := &scanner{src: raw}
	if s.peek() != '{' {
		return nil, false, nil
	}
	values = make([][]byte, len(wanted))
	err = s.object(0, func(key []byte) error {
		value, err := s.value(1)
		for i, w := range wanted {
			if w != string(key) {
				continue
			}
			if values[i] != nil {
				return fmt.Errorf("'%s' is given twice", w)
			}
			values[i] = value
		}
		return err
	})
	return values, true, err
}
