package harness

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServeBadInput(t *testing.T) {
	refused := func(id string, code int, message string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
	}
	unreadable := func(what string) string {
		return refused("null", -32700, "parse error: "+what+"; a message is one JSON object on one line")
	}
	const (
		noObject = "a message must be a JSON object"
		noBatch  = "batches are not supported: send each message on a line of its own"
		noID     = "'id' must be a string or an integer of 64 bits; a notification has none"
	)
	call := func(id, params string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":` + params + `}`
	}
	echoed := func(id, text string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"` + text + `"}]}}`
	}
	toolError := func(text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%q}],"isError":true}}`, text)
	}
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	pong := `{"jsonrpc":"2.0","id":1,"result":{}}`

	cases := []struct {
		name string
		line string
		want string // nothing where there is no answer
	}{
		{name: "it refuses what is no JSON", line: `{nonsense`, want: unreadable("a name in double quotes is missing at byte 1")},
		{name: "it refuses what ends too soon", line: `{"jsonrpc":"2.0"`, want: unreadable("a comma or a closing bracket is missing at byte 16")},
		{name: "it refuses two objects on a line", line: ping + ping, want: unreadable(fmt.Sprintf("something follows the end of the message at byte %d", len(ping)))},
		{name: "it refuses each line of an object that is spread over lines", line: "{\n}", want: unreadable("a name in double quotes is missing at byte 1") + unreadable("a value is missing at byte 0")},
		{name: "it refuses a bad value deep in the arguments", line: call("1", `{"name":"echo","arguments":{"text":tru}}`), want: unreadable("a value is missing at byte 90")},
		{name: "it refuses a control character in a string", line: "{\"jsonrpc\":\"2.\x000\"}", want: unreadable("a control character stands in a string at byte 14")},
		{name: "it refuses what nests too deep", line: call("1", strings.Repeat("[", 1001)+strings.Repeat("]", 1001)), want: unreadable("arrays and objects nest too deep at byte 1054")},
		{name: "it refuses a number", line: `42`, want: refused("null", -32600, noObject)},
		{name: "it refuses a string", line: `"hello"`, want: refused("null", -32600, noObject)},
		{name: "it refuses null", line: `null`, want: refused("null", -32600, noObject)},
		{name: "it refuses a batch", line: `[` + ping + `]`, want: refused("null", -32600, noBatch)},
		{name: "it refuses an empty batch", line: `[]`, want: refused("null", -32600, noBatch)},
		{name: "it refuses a message without jsonrpc", line: `{"id":1,"method":"ping"}`, want: refused("1", -32600, "'jsonrpc' must be the string '2.0'")},
		{name: "it refuses another version of jsonrpc", line: `{"jsonrpc":"1.0","id":1,"method":"ping"}`, want: refused("1", -32600, "'jsonrpc' must be the string '2.0'")},
		{name: "it refuses a message without a method", line: `{"jsonrpc":"2.0","id":1}`, want: refused("1", -32600, "'method' is missing or is not a string")},
		{name: "it refuses a method that is no string", line: `{"jsonrpc":"2.0","id":1,"method":5}`, want: refused("1", -32600, "'method' is missing or is not a string")},
		{name: "it compares names byte for byte", line: `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, want: refused("1", -32600, "'method' is missing or is not a string")},
		{name: "it refuses a member given twice", line: `{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`, want: refused("1", -32600, "'method' is given twice in one message")},
		{name: "it refuses params given twice", line: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}`, want: refused("1", -32600, "'params' is given twice in one message")},
		{name: "it refuses null for an id", line: `{"jsonrpc":"2.0","id":null,"method":"ping"}`, want: refused("null", -32600, noID)},
		{name: "it refuses a fraction for an id, and sends it back", line: `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, want: refused("1.5", -32600, noID)},
		{name: "it refuses an integer of more than 64 bits for an id", line: `{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}`, want: refused("9223372036854775808", -32600, noID)},
		{name: "it refuses an object for an id", line: `{"jsonrpc":"2.0","id":{},"method":"ping"}`, want: refused("null", -32600, noID)},
		{name: "it refuses an id that is no UTF-8, and does not send it back", line: "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", want: refused("null", -32600, noID)},

		{name: "it accepts a byte order mark", line: "\ufeff" + ping, want: pong},
		{name: "it accepts CRLF", line: ping + "\r", want: pong},
		{name: "it accepts white space around", line: " \t" + ping + " \t ", want: pong},
		{name: "it passes over blank lines", line: "\n \n\r\n" + ping, want: pong},
		{name: "it passes over members that it does not know", line: `{"jsonrpc":"2.0","trace":[{}],"id":1,"method":"ping"}`, want: pong},
		{name: "it reads escapes in names and methods", line: `{"jsonrpc":"2.0","id":1,"m\u0065thod":"\u0070ing"}`, want: pong},
		{name: "it ignores a notification that it does not know", line: `{"jsonrpc":"2.0","method":"notifications/unheard"}`},
		{name: "it ignores a request without an id", line: `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}`},
		{name: "it ignores an answer to nothing", line: `{"jsonrpc":"2.0","id":99,"result":{}}`},
		{name: "it ignores an error that answers nothing", line: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}`},
		{name: "it ignores a malformed answer", line: `{"id":{},"error":5}`},
		{name: "it ignores a malformed cancellation", line: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","requestId":"b"}}`},

		{name: "it sends an integer back as it was written", line: call("-0", `{"name":"echo","arguments":{"text":"a"}}`), want: echoed("-0", "a")},
		{name: "it sends a large integer back as it was written", line: call("9007199254740993", `{"name":"echo","arguments":{"text":"a"}}`), want: echoed("9007199254740993", "a")},
		{name: "it sends a large integer back from the server", line: `{"jsonrpc":"2.0","id":-9223372036854775808,"method":"ping"}`, want: `{"jsonrpc":"2.0","id":-9223372036854775808,"result":{}}`},
		{name: "it sends a string back as it was written", line: call(`"\u0061\/\n é"`, `{"name":"echo","arguments":{"text":"a"}}`), want: echoed(`"\u0061\/\n é"`, "a")},
		{name: "it sends a string back from the server as it was written", line: `{"jsonrpc":"2.0","id":"\u0061\/","method":"ping"}`, want: `{"jsonrpc":"2.0","id":"\u0061\/","result":{}}`},

		{name: "it refuses a call without params", line: `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, want: refused("1", -32600, `missing required "params"`)},
		{name: "it refuses a call with null for params", line: call("1", `null`), want: refused("1", -32600, `missing required "params"`)},
		{name: "it refuses a call with an array for params", line: call("1", `[]`), want: refused("1", -32602, "the params of a tool call must be an object")},
		{name: "it refuses a name given twice", line: call("1", `{"name":"echo","name":"other"}`), want: refused("1", -32602, "'name' is given twice in the params")},
		{name: "it refuses arguments given twice", line: call("1", `{"name":"echo","arguments":{},"argum\u0065nts":{}}`), want: refused("1", -32602, "'arguments' is given twice in the params")},
		{name: "it refuses a name that is no string", line: call("1", `{"name":5}`), want: refused("1", -32602, "the name of a tool must be a string")},
		{name: "it refuses a _meta that is no object", line: call("1", `{"name":"echo","_meta":5}`), want: refused("1", -32602, "'_meta' must be an object")},
		{name: "it refuses a _meta with a key given twice", line: call("1", `{"name":"echo","_meta":{"progressToken":1,"progressToken":2}}`), want: refused("1", -32602, "invalid _meta: 'progressToken' is given twice")},
		{name: "it refuses a tool that there is not", line: call("1", `{"name":"no<such>"}`), want: refused("1", -32602, `unknown tool "no<such>"`)},
		{name: "it refuses a call without a name", line: call("1", `{}`), want: refused("1", -32602, `unknown tool ""`)},
		{name: "it cuts the name of a tool that there is not", line: call("1", `{"name":"`+strings.Repeat("x", 10000)+`"}`), want: refused("1", -32602, `unknown tool "`+strings.Repeat("x", 128)+`"`)},

		{name: "it takes null for no arguments", line: call("1", `{"name":"echo","arguments":null}`), want: toolError("the argument 'text' is missing; send a string")},
		{name: "it passes arguments of any kind to the tool", line: call("1", `{"name":"echo","arguments":"x"}`), want: toolError("the arguments are the string 'x'; send one JSON object with the arguments by name")},
		{name: "it passes bytes that are no UTF-8 to the tool", line: call("1", "{\"name\":\"echo\",\"arguments\":{\"text\":\"a\xff\"}}"), want: toolError("'text' is not usable JSON at byte 10 of the arguments: the byte 0xff is not UTF-8; send text in UTF-8")},
		{name: "it passes half of a character to the tool", line: call("1", `{"name":"echo","arguments":{"text":"a\ud800"}}`), want: toolError(`'text' is not usable JSON at byte 10 of the arguments: the escape \ud800 is a lone surrogate, half of a character; send the whole character`)},
		{name: "it passes an argument given twice to the tool", line: call("1", `{"name":"echo","arguments":{"text":"a","text":"b"}}`), want: toolError("the argument 'text' is given twice; send it once")},
		{name: "it accepts a null for _meta", line: call("1", `{"name":"echo","arguments":{"text":"a"},"_meta":null}`), want: echoed("1", "a")},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, echo())
			got := ask(t, o, hello, c.line)
			got = without(t, got, `{"jsonrpc":"2.0","id":"hello",`)
			slices.Sort(got) // Errors are not in order.
			if diff := cmp.Diff(c.want, strings.Join(got, "")); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			// The session lives on.
			if got := inTurn(t, o, hello, c.line+"\n"+echoA)[1:]; len(got) == 0 {
				t.Error("there is no answer any more")
			}
		})
	}
}

// without returns the lines but for the one with this start, which must be among them.
func without(t *testing.T, lines []string, start string) []string {
	t.Helper()
	var rest []string
	for _, line := range lines {
		if !strings.HasPrefix(line, start) {
			rest = append(rest, line)
		}
	}
	if len(rest) != len(lines)-1 {
		t.Errorf("there is not one line that starts with %s in %q", start, lines)
	}
	return rest
}

func TestServeSurvivesBadInput(t *testing.T) {
	bad := []string{`{nonsense`, `[]`, `42`, `{"id":1}`, "\xff\xfe", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, strings.Repeat("[", 100000)}
	got := ask(t, options(t, echo()), append(append([]string{hello}, bad...), echoA)...)
	if len(got) != len(bad)+2 {
		t.Errorf("got %d answers, want %d", len(got), len(bad)+2)
	}
	if !strings.Contains(strings.Join(got, "\n"), echoedA) {
		t.Errorf("the call behind them is not answered: %q", got)
	}
}

func TestServeLongLines(t *testing.T) {
	if testing.Short() {
		t.Skip("it sends 192 MiB, which is long")
	}
	frame := strings.Replace(echoA, `"a"`, `""`, 1)
	line := func(length int) string {
		return strings.Replace(echoA, `"a"`, `"`+strings.Repeat("x", length-len(frame))+`"`, 1)
	}
	size := &echoTool{}
	o := options(t, size.tool())
	got := ask(t, o, hello, line(maxLine))
	if len(got) != 2 || size.length != maxLine-len(frame) {
		t.Errorf("a line of the limit: got %d answers and a text of %d bytes", len(got), size.length)
	}
	got = ask(t, o, hello, line(maxLine+1), strings.Replace(echoA, `"id":1`, `"id":2`, 1))
	want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a line is longer than 64 MiB, which is the limit"}}`
	if all := strings.Join(got, "\n"); !strings.Contains(all, want) || !strings.Contains(all, `"id":2,"result"`) {
		t.Errorf("a line over the limit: got %q", got)
	}
}

func TestServeRefusesAnIDInUse(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	hold := gated(started, release)
	p := dial(t, options(t, hold, echo()))
	p.send("%s", modern("5", "tools/call", `"name":"hold",`))
	<-started
	for _, line := range []string{modern("5", "tools/call", `"name":"echo","arguments":{"text":"a"},`), modern("5", "tools/list", "")} {
		p.send("%s", line)
		same(t, `{"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":"the id 5 is in use by a request that has not been answered"}}`, p.read())
	}
	p.send("%s", modern(`"5"`, "tools/list", ""))
	if got := p.read(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":"5","result"`) {
		t.Errorf("another id: got %s", got)
	}
	close(release)
	if got := p.read(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":5,"result"`) {
		t.Errorf("the first call: got %s", got)
	}
	p.send("%s", modern("5", "tools/call", `"name":"echo","arguments":{"text":"a"},`))
	if got := p.read(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":5,"result"`) {
		t.Errorf("after its answer: got %s", got)
	}
}
