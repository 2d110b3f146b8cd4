package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// encoded returns a text as the encoder writes it when so many bytes are in its buffer before.
func encoded(before int, s string) string {
	var out bytes.Buffer
	e := newEncoder(&out)
	e.raw(strings.Repeat(" ", before))
	e.str(s)
	e.flush()
	return out.String()[before:]
}

func TestEncodeText(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"it writes an empty text", "", `""`},
		{"it leaves plain text alone", "plain text of more than eight bytes", `"plain text of more than eight bytes"`},
		{"it escapes what must be", "a\"b\\c\nd\te\rf\bg\fh\x00i\x1fj", `"a\"b\\c\nd\te\rf\bg\fh\u0000i\u001fj"`},
		{"it leaves what need not be", "<a href='x'>&\x7f/</a>", `"<a href='x'>&` + "\x7f" + `/</a>"`},
		{"it leaves characters beyond ASCII alone", "é漢字😀 ends", `"é漢字😀 ends"`},
		{"it escapes the two line separators", "a\u2028é\u2029\u202a", `"a\u2028é\u2029` + "\u202a" + `"`},
		{"it replaces what is no UTF-8", "a\xffb\xe6\xbcc\xed\xa0\x80", `"a` + "\ufffdb\ufffd\ufffdc\ufffd\ufffd\ufffd" + `"`},
		{"it keeps U+FFFD itself", "a\ufffdb", "\"a\ufffdb\""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, encoded(0, c.text)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

// Each text is written whatever is in the buffer, and whatever its length, so that its pieces end anywhere in it.
func TestEncodeTextInPieces(t *testing.T) {
	for _, unit := range []string{"a", "\x00", "é", "漢", "😀", "\u2028", "\xff", "ab\n漢\""} {
		for _, length := range []int{1, 7, 8, 9, 2000, sendBuffer / 6, sendBuffer, 3 * sendBuffer} {
			text := strings.Repeat(unit, length/len(unit)+1)
			for _, before := range []int{0, 1, 7, sendBuffer - 9, sendBuffer - 1, sendBuffer} {
				var got string
				if err := json.Unmarshal([]byte(encoded(before, text)), &got); err != nil {
					t.Fatalf("%q of %d bytes behind %d: %v", unit, length, before, err)
				}
				if want := strings.Join(strings.Split(text, "\xff"), "\ufffd"); got != want {
					t.Errorf("%q of %d bytes behind %d came back changed", unit, length, before)
				}
			}
		}
	}
}

func FuzzEncodeText(f *testing.F) {
	f.Add("a\"b\\c\n\x00é\u2028\xff", uint16(3))
	f.Fuzz(func(t *testing.T, text string, before uint16) {
		raw := encoded(int(before), text)
		var got string
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Fatalf("%v in %q", err, raw)
		}
		if want := string([]rune(text)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if strings.ContainsAny(raw, "\n\u2028\u2029") || !utf8.ValidString(raw) {
			t.Errorf("%q cannot stand on one line", raw)
		}
	})
}

func TestEncodeStopsAtAnError(t *testing.T) {
	writes := 0
	e := newEncoder(writerFunc(func([]byte) (int, error) {
		writes++
		return 0, io.ErrClosedPipe
	}))
	e.str(strings.Repeat("x", 10*sendBuffer))
	e.flush()
	if writes != 1 || e.err == nil {
		t.Errorf("got %d writes and error %v, want one and the writer's", writes, e.err)
	}
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(b []byte) (int, error) { return w(b) }

func TestOutputWritesAnAnswerAtOnce(t *testing.T) {
	var writes []int
	out := newOutput(writerFunc(func(b []byte) (int, error) {
		writes = append(writes, len(b))
		return len(b), nil
	}))
	for _, length := range []int{10, sendBuffer / 2, 10 * sendBuffer} {
		if err := out.send(func(e *encoder) { e.str(strings.Repeat("x", length)) }); err != nil {
			t.Fatal(err)
		}
	}
	if len(writes) < 3 || writes[0] != 13 || writes[1] != sendBuffer/2+3 {
		t.Errorf("got writes of %v bytes, want one each for the first two answers", writes)
	}
	if cap(out.enc.buf) != sendBuffer {
		t.Errorf("the buffer has grown to %d bytes", cap(out.enc.buf))
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 100)
	cases := []struct {
		name  string
		input string
		want  []string // "(too long)" for a line that is
	}{
		{name: "it reads lines", input: "a\nb\n", want: []string{"a", "b"}},
		{name: "it reads a last line without a line break", input: "a\nb", want: []string{"a", "b"}},
		{name: "it passes over blank lines", input: "\n \n\t\r\n\ufeff\na\n\n", want: []string{"a"}},
		{name: "it takes white space and marks away", input: "\ufeff a \r\n", want: []string{"a"}},
		{name: "it reads a line of the limit", input: long + "\n" + long, want: []string{long, long}},
		{name: "it passes over longer ones", input: "a\n" + long + "x\nb\n" + long + "x", want: []string{"a", "(too long)", "b", "(too long)"}},
		{name: "it passes over those much longer than the buffer", input: strings.Repeat("x", 3*readBuffer) + "\na\n", want: []string{"(too long)", "a"}},
		{name: "it reads nothing", input: ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in := newLines(strings.NewReader(c.input), len(long))
			var got []string
			for {
				line, err := in.next()
				if err != nil {
					if err != io.EOF {
						t.Error(err)
					}
					break
				}
				if line == nil {
					line = []byte("(too long)")
				}
				got = append(got, string(line))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
	t.Run("it reads a line longer than the buffer", func(t *testing.T) {
		want := strings.Repeat("0123456789", readBuffer)
		got, err := newLines(strings.NewReader(want+"\n"), maxLine).next()
		if err != nil || string(got) != want {
			t.Errorf("got %d bytes and %v", len(got), err)
		}
	})
}

func TestScannerAgreesWithTheStandardDecoder(t *testing.T) {
	for _, text := range scanSeeds() {
		checkScan(t, text)
	}
}

func FuzzScanner(f *testing.F) {
	for _, text := range scanSeeds() {
		f.Add(text)
	}
	f.Fuzz(checkScan)
}

func scanSeeds() []string {
	return []string{
		`{}`, `[]`, `{"a":[1,-0.5e+10,2E-3,true,false,null,"\u00e9\n"]}`, ` [ 1 , 2 ] `, `01`, `-`, `1.`, `1e`, `+1`, `.5`, `-01`, `0`, `-0`,
		`"`, `"\`, `"\u12`, `"\x"`, "\"\t\"", `"a" "b"`, `[1,]`, `{,}`, `{"a"}`, `{"a":}`, `{a:1}`, `tru`, `nulll`, ``, "\xff", "\"\xff\"", `[[`, `]`, `{"a":1,}`,
	}
}

// checkScan compares the scanner's judgement with that of the standard library.
func checkScan(t *testing.T, text string) {
	t.Helper()
	s := &scanner{src: []byte(text)}
	raw, err := s.value(0)
	ok := err == nil && s.peek() == 0 && s.pos == len(s.src)
	if ok != json.Valid([]byte(text)) && strings.Count(text, "[")+strings.Count(text, "{") < maxDepth {
		t.Errorf("%q: got %v and %v", text, ok, err)
	}
	if ok && string(raw) != strings.Trim(text, " \t\r\n") {
		t.Errorf("%q: got the value %q", text, raw)
	}
}

// Whatever a line holds, the session answers it or ignores it, and lives.
func FuzzServe(f *testing.F) {
	for _, line := range []string{
		hello, initialized, echoA, modern("1", "tools/call", `"name":"echo","arguments":{"text":"a"},`), modern(`"x"`, "server/discover", ""),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":null}`, `{"id":1.5`, "\ufeff", modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true},`),
	} {
		f.Add(line)
	}
	o := options(f, echo())
	f.Fuzz(func(t *testing.T, line string) {
		// What names the last call may cancel it, or stand in its way.
		last := fmt.Sprintf(`"the last call, %d"`, len(line))
		got := ask(t, o, line, modern(last, "tools/call", `"name":"echo","arguments":{"text":"a"},`))
		answered := false
		for _, answer := range got {
			if !json.Valid([]byte(answer)) || !utf8.ValidString(answer) {
				t.Errorf("%q was answered with %q", line, answer)
			}
			if strings.Contains(answer, `"code":0`) {
				t.Errorf("%q was answered with an error without a code: %s", line, answer)
			}
			answered = answered || strings.HasPrefix(answer, `{"jsonrpc":"2.0","id":`+last)
		}
		if !answered && !strings.Contains(line, "the last call") {
			t.Errorf("after %q a call was not answered: %q", line, got)
		}
	})
}
