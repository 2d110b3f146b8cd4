package toolkit

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seen is what a handler reads from its arguments.
type seen struct {
	Path, Old string
	All       bool
	Limit     int64
	Sent      string // the names for which Has is true, in the order of the parameters
	Expected  map[string]string
}

// edit returns a tool with a parameter of each kind, and a place where its handler leaves what it read.
func edit(t *testing.T) (*Tool, *seen) {
	t.Helper()
	var s seen
	e := tool(t, func(_ context.Context, a *Args) (*Answer, error) {
		s = seen{a.String("path"), a.String("old-string"), a.Bool("replace-all"), a.Int("limit"), "", a.Expected()}
		for _, name := range []string{"path", "old-string", "replace-all", "limit"} {
			if a.Has(name) {
				s.Sent += name + " "
			}
		}
		return &Answer{Text: "ok"}, nil
	})
	e.Name = "edit"
	e.Params = []Param{
		{Name: "path", Type: "string", Required: true},
		{Name: "old-string", Type: "string", Default: "?"},
		{Name: "replace-all", Type: "boolean", Default: true},
		{Name: "limit", Type: "integer", Default: 7, Min: new(int64(-10)), Max: new(int64(1 << 60))},
	}
	return e, &s
}

func TestCallReadsArguments(t *testing.T) {
	base := seen{Path: "a", Old: "?", All: true, Limit: 7, Sent: "path "}
	limit := func(n int64) seen {
		s := base
		s.Limit, s.Sent = n, "path limit "
		return s
	}
	old := func(text string) seen {
		s := base
		s.Old, s.Sent = text, "path old-string "
		return s
	}
	expecting := func(m map[string]string) seen {
		s := base
		s.Expected = m
		return s
	}
	cases := []struct {
		name string
		raw  string
		want seen
	}{
		{"it gives defaults for what was not sent", `{"path":"a"}`, base},
		{"it passes over white space", " {\t\"path\" :\r\n\"a\" } \n", base},
		{"it counts null as not sent", `{"path":"a","old-string":null,"replace-all":null,"limit":null}`, base},
		{"it takes arguments in any order", `{"limit":3,"path":"a"}`, limit(3)},
		{
			"it gives false where the default is true", `{"path":"a","replace-all":false}`,
			seen{Path: "a", Old: "?", All: false, Limit: 7, Sent: "path replace-all "},
		},
		{
			"it gives true", `{"path":"a","replace-all":true}`,
			seen{Path: "a", Old: "?", All: true, Limit: 7, Sent: "path replace-all "},
		},
		{"it tells an empty string from none", `{"path":"a","old-string":""}`, old("")},
		{"it reads every escape", `{"path":"a","old-string":"\"\\\/\b\f\n\r\t\u00e9\u00E9"}`, old("\"\\/\b\f\n\r\té\u00e9")},
		{"it reads a character written as two escapes", `{"path":"a","old-string":"\ud83d\ude00"}`, old("😀")},
		{"it leaves NUL to the rules for paths", `{"path":"a","old-string":"x\u0000y"}`, old("x\x00y")},
		{"it keeps text in UTF-8 byte for byte", `{"path":"a","old-string":"é, 漢字, 😀, �"}`, old("é, 漢字, 😀, �")},
		{"it knows a name by its characters", `{"p\u0061th":"a"}`, base},
		{"it reads an integer", `{"path":"a","limit":40}`, limit(40)},
		{"it reads an integer with a fraction of zero", `{"path":"a","limit":40.00}`, limit(40)},
		{"it reads an integer with an exponent", `{"path":"a","limit":4e1}`, limit(40)},
		{"it reads an integer whose exponent makes it whole", `{"path":"a","limit":12.5E+1}`, limit(125)},
		{"it reads an integer with a negative exponent", `{"path":"a","limit":400e-1}`, limit(40)},
		{"it reads a negative integer", `{"path":"a","limit":-4}`, limit(-4)},
		{"it reads minus zero", `{"path":"a","limit":-0.0}`, limit(0)},
		{"it reads zero with any exponent", `{"path":"a","limit":0e999999999999}`, limit(0)},
		{"it does not round a large integer", `{"path":"a","limit":1152921504606846975}`, limit(1<<60 - 1)},
		{"it takes the least", `{"path":"a","limit":-10}`, limit(-10)},
		{"it takes the most", `{"path":"a","limit":1152921504606846976}`, limit(1 << 60)},
		{"it reads a decimal string", `{"path":"a","limit":"40"}`, limit(40)},
		{"it reads a decimal string below zero", `{"path":"a","limit":"-10"}`, limit(-10)},
		{"it takes the expected revisions out", `{"path":"a","_expected-revisions":{"path":"t"}}`, expecting(map[string]string{"path": "t"})},
		{"it tells no expected revisions from none sent", `{"path":"a","_expected-revisions":{}}`, expecting(map[string]string{})},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e, got := edit(t)
			if r := e.Call(t.Context(), json.RawMessage(c.raw)); r.IsError {
				t.Fatalf("refused: %s", r.Text)
			}
			if diff := cmp.Diff(c.want, *got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestCallRefusesArguments(t *testing.T) {
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	names := "{"
	for i := range 101 {
		names += `"` + strings.Repeat("x", i+1) + `":1,`
	}
	cases := []struct {
		name string
		raw  string
		want string
	}{
		// The whole.
		{"it wants what is required when nothing is sent", ``, "the argument 'path' is missing; send a string"},
		{"it wants what is required when null is sent", ` null `, "the argument 'path' is missing; send a string"},
		{"it wants what is required in an empty object", `{}`, "the argument 'path' is missing; send a string"},
		{"it wants an object and not an array", `["a"]`, "the arguments are an array; send one JSON object with the arguments by name"},
		{"it wants an object and not one in a string", `"{}"`, "the arguments are the string '{}'; send one JSON object with the arguments by name"},
		{"it wants an object and not a number", `4`, "the arguments are the number 4; send one JSON object with the arguments by name"},
		{"it wants an object and not true", `true`, "the arguments are true; send one JSON object with the arguments by name"},
		{"it reads one object alone", `{"path":"a"}{}`, "the arguments are not usable JSON at byte 12: something follows the end of the arguments"},
		{"it wants the object closed", `{"path":"a"`, "the arguments are not usable JSON at byte 11: ',' or '}' is missing here"},
		{"it wants no comma at the end", `{"path":"a",}`, "the arguments are not usable JSON at byte 12: a name in double quotes is missing here"},
		{"it wants no byte order mark", "\ufeff{}", "the arguments are not usable JSON at byte 0: a value is missing here"},
		{"it wants no NUL after the end", "{\"path\":\"a\"}\x00", "the arguments are not usable JSON at byte 12: something follows the end of the arguments"},
		{"it bounds the depth", `{"path":` + deep + `}`, "'path' is not usable JSON at byte 107 of the arguments: arrays and objects nest more than 100 deep; send fewer levels"},
		{"it bounds the number of names", names, "the arguments are not usable JSON at byte 5551: there are more than 100 names in one object; send fewer"},

		// Names.
		{"it refuses a name given twice", `{"path":"a","path":"a"}`, "the argument 'path' is given twice; send it once"},
		{"it refuses a name given twice in two spellings", `{"path":"a","p\u0061th":"b"}`, "the argument 'path' is given twice; send it once"},
		{"it refuses a name given twice with null", `{"path":"a","path":null}`, "the argument 'path' is given twice; send it once"},
		{"it refuses an unknown name given twice", `{"x":1,"x":1}`, "the argument 'x' is given twice; send it once"},
		{"it compares names with their case", `{"PATH":"a"}`, "there is no argument 'PATH'; send it as 'path'"},
		{"it does not fold long s into s", `{"path":"a","old-ſtring":"x"}`, "there is no argument 'old-ſtring'; send it as 'old-string'"},
		{"it does not cut a name at NUL", `{"path\u0000":"a"}`, `there is no argument 'path\x00'; send it as 'path'`},
		{"it takes underscores for a slip", `{"path":"a","old_string":"x"}`, "there is no argument 'old_string'; send it as 'old-string'"},
		{"it takes capitals for a slip", `{"path":"a","replaceAll":true}`, "there is no argument 'replaceAll'; send it as 'replace-all'"},
		{"it takes a wrong letter for a slip", `{"path":"a","limits":1}`, "there is no argument 'limits'; send it as 'limit'"},
		{"it knows other tools' names", `{"file_path":"a"}`, "there is no argument 'file_path'; send it as 'path'"},
		{"it knows other tools' names for files", `{"filename":"a"}`, "there is no argument 'filename'; send it as 'path'"},
		{"it does not suggest what was sent", `{"path":"a","file_path":"a"}`, "there is no argument 'file_path'; edit takes 'path', 'old-string', 'replace-all' and 'limit'"},
		{"it lists the names when none is near", `{"path":"a","backup":true}`, "there is no argument 'backup'; edit takes 'path', 'old-string', 'replace-all' and 'limit'"},
		{"it keeps a name on one line", `{"a\nb":1}`, `there is no argument 'a\nb'; edit takes 'path', 'old-string', 'replace-all' and 'limit'`},
		{"it cuts a long name", `{"` + strings.Repeat("é", 90) + `":1}`, "there is no argument '" + strings.Repeat("é", 80) + "…'; edit takes 'path', 'old-string', 'replace-all' and 'limit'"},
		{"it answers an unknown name before a missing one", `{"nonsense":1}`, "there is no argument 'nonsense'; edit takes 'path', 'old-string', 'replace-all' and 'limit'"},

		// Types.
		{"it counts null as missing where required", `{"path":null}`, "the argument 'path' is missing; send a string"},
		{"it wants a string and not a number", `{"path":1}`, "'path' is the number 1; send a string"},
		{"it wants a string and not true", `{"path":true}`, "'path' is true; send a string"},
		{"it wants a string and not an array", `{"path":["a"]}`, "'path' is an array; send a string"},
		{"it wants a string and not an object", `{"path":{}}`, "'path' is an object; send a string"},
		{"it wants a boolean and not its name", `{"path":"a","replace-all":"true"}`, "'replace-all' is the string 'true'; send true or false"},
		{"it wants a boolean and not 1", `{"path":"a","replace-all":1}`, "'replace-all' is the number 1; send true or false"},
		{"it wants a boolean and not an empty array", `{"path":"a","replace-all":[]}`, "'replace-all' is an array; send true or false"},
		{"it does not take true for 1", `{"path":"a","limit":true}`, "'limit' is true; send an integer from -10 to 1152921504606846976"},
		{"it wants a whole number", `{"path":"a","limit":2.5}`, "'limit' is the number 2.5; send an integer from -10 to 1152921504606846976"},
		{"it wants a whole number after its exponent", `{"path":"a","limit":25e-1}`, "'limit' is the number 25e-1; send an integer from -10 to 1152921504606846976"},
		{"it wants digits in a string", `{"path":"a","limit":"forty"}`, "'limit' is the string 'forty'; send an integer from -10 to 1152921504606846976"},
		{"it wants digits alone in a string", `{"path":"a","limit":" 40"}`, "'limit' is the string ' 40'; send an integer from -10 to 1152921504606846976"},
		{"it wants no plus in a string", `{"path":"a","limit":"+4"}`, "'limit' is the string '+4'; send an integer from -10 to 1152921504606846976"},
		{"it wants no empty string", `{"path":"a","limit":""}`, "'limit' is the string ''; send an integer from -10 to 1152921504606846976"},
		{"it refuses what 64 bits do not hold", `{"path":"a","limit":9223372036854775808}`, "'limit' is the number 9223372036854775808, which is too large for 64 bits; send an integer from -10 to 1152921504606846976"},
		{"it refuses a huge exponent", `{"path":"a","limit":1e999999999999}`, "'limit' is the number 1e999999999999, which is too large for 64 bits; send an integer from -10 to 1152921504606846976"},
		{"it refuses a tiny exponent", `{"path":"a","limit":1e-999999999999}`, "'limit' is the number 1e-999999999999; send an integer from -10 to 1152921504606846976"},
		{"it refuses a long string of digits", `{"path":"a","limit":"99999999999999999999"}`, "'limit' is the string '99999999999999999999', which is too large for 64 bits; send an integer from -10 to 1152921504606846976"},
		{"it refuses less than the least", `{"path":"a","limit":-11}`, "'limit' is the number -11; send an integer from -10 to 1152921504606846976"},
		{"it refuses more than the most", `{"path":"a","limit":1152921504606846977}`, "'limit' is the number 1152921504606846977; send an integer from -10 to 1152921504606846976"},
		{"it cuts a long string", `{"path":"a","limit":"` + strings.Repeat("z", 1000) + `"}`, "'limit' is the string '" + strings.Repeat("z", 80) + "…'; send an integer from -10 to 1152921504606846976"},

		// Text that decoders repair.
		{"it refuses the first half of a character", `{"path":"a\ud800"}`, `'path' is not usable JSON at byte 10 of the arguments: the escape \ud800 is a lone surrogate, half of a character; send the whole character`},
		{"it refuses the second half of a character", `{"path":"\udc00a"}`, `'path' is not usable JSON at byte 9 of the arguments: the escape \udc00 is a lone surrogate, half of a character; send the whole character`},
		{"it refuses halves in the wrong order", `{"path":"\ude00\ud83d"}`, `'path' is not usable JSON at byte 9 of the arguments: the escape \ude00 is a lone surrogate, half of a character; send the whole character`},
		{"it refuses half a character before another escape", `{"path":"\ud83d\u0041"}`, `'path' is not usable JSON at byte 9 of the arguments: the escape \ud83d is a lone surrogate, half of a character; send the whole character`},
		{"it refuses half a character in a name", `{"\ud800":"a"}`, `the arguments are not usable JSON at byte 2: the escape \ud800 is a lone surrogate, half of a character; send the whole character`},
		{"it refuses half a character in what it passes over", `{"path":"a","x":[{"y":"\ud800"}]}`, `'x' is not usable JSON at byte 23 of the arguments: the escape \ud800 is a lone surrogate, half of a character; send the whole character`},
		{"it refuses bytes that are not UTF-8", "{\"path\":\"a\xffb\"}", "'path' is not usable JSON at byte 10 of the arguments: the byte 0xff is not UTF-8; send text in UTF-8"},
		{"it refuses UTF-8 that is longer than needed", "{\"path\":\"\xc0\xaf\"}", "'path' is not usable JSON at byte 9 of the arguments: the byte 0xc0 is not UTF-8; send text in UTF-8"},
		{"it refuses a surrogate in UTF-8", "{\"path\":\"\xed\xa0\x80\"}", "'path' is not usable JSON at byte 9 of the arguments: the byte 0xed is not UTF-8; send text in UTF-8"},
		{"it refuses a raw line break in a string", "{\"path\":\"a\nb\"}", `'path' is not usable JSON at byte 10 of the arguments: a control character in a string must be written as an escape, a line break as \n`},
		{"it refuses an escape that there is not", `{"path":"C:\dir"}`, `'path' is not usable JSON at byte 11 of the arguments: there is no such escape; a backslash itself is written \\`},
		{"it refuses an escape of too few digits", `{"path":"\u12"}`, `'path' is not usable JSON at byte 9 of the arguments: \u must be followed by four hexadecimal digits`},

		// Expected revisions.
		{"it refuses null as expected revisions", `{"path":"a","_expected-revisions":null}`, "'_expected-revisions' is null; send an object with a revision token for each location"},
		{"it refuses a token alone", `{"path":"a","_expected-revisions":"t"}`, "'_expected-revisions' is the string 't'; send an object with a revision token for each location"},
		{"it refuses an array of tokens", `{"path":"a","_expected-revisions":["t"]}`, "'_expected-revisions' is an array; send an object with a revision token for each location"},
		{"it refuses a token that is no string", `{"path":"a","_expected-revisions":{"path":null}}`, "'_expected-revisions' gives null for 'path'; send a revision token, which is a string"},
		{"it refuses the object of an answer as a token", `{"path":"a","_expected-revisions":{"path":{"token":"t"}}}`, "'_expected-revisions' gives an object for 'path'; send a revision token, which is a string"},
		{"it refuses a location given twice", `{"path":"a","_expected-revisions":{"path":"t","path":"u"}}`, "'_expected-revisions' gives 'path' twice; send it once"},
		{"it refuses expected revisions given twice", `{"path":"a","_expected-revisions":{},"_expected-revisions":{}}`, "the argument '_expected-revisions' is given twice; send it once"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e, _ := edit(t)
			got := e.Call(t.Context(), json.RawMessage(c.raw))
			if diff := cmp.Diff(&Result{Text: c.want, IsError: true}, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestExpectedRevisionsAreForMutatorsAlone(t *testing.T) {
	const raw = `{"path":"a","_expected-revisions":{"path":"t"}}`
	e, got := edit(t)
	if r := e.Call(t.Context(), json.RawMessage(raw)); r.IsError || got.Expected["path"] != "t" {
		t.Errorf("a mutator got %v and answered %q", got.Expected, r.Text)
	}
	e.ReadOnly = true
	want := &Result{Text: "'_expected-revisions' is only for tools that change something; call edit without it", IsError: true}
	if diff := cmp.Diff(want, e.Call(t.Context(), json.RawMessage(raw))); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if strings.Contains(string(e.Schema()), "_expected") {
		t.Error("the schema shows the reserved argument")
	}
}

func TestWanted(t *testing.T) {
	cases := []struct {
		name   string
		params []Param
		raw    string
		want   string
	}{
		{
			"it names the least",
			[]Param{{Name: "n", Type: "integer", Min: new(int64(1))}},
			`{"n":0}`,
			"'n' is the number 0; send an integer of at least 1",
		},
		{
			"it names the most",
			[]Param{{Name: "n", Type: "integer", Max: new(int64(9))}},
			`{"n":10}`,
			"'n' is the number 10; send an integer of at most 9",
		},
		{
			"it names no bound where there is none",
			[]Param{{Name: "n", Type: "integer"}},
			`{"n":"x"}`,
			"'n' is the string 'x'; send an integer",
		},
		{
			"it names the one parameter",
			[]Param{{Name: "n", Type: "integer"}},
			`{"zzz":1}`,
			"there is no argument 'zzz'; touch takes 'n' alone",
		},
		{"it says when there are no parameters", nil, `{"n":1}`, "there is no argument 'n'; touch takes no arguments"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			touch := tool(t, func(context.Context, *Args) (*Answer, error) { return &Answer{}, nil })
			touch.Params = c.params
			got := touch.Call(t.Context(), json.RawMessage(c.raw))
			if diff := cmp.Diff(&Result{Text: c.want, IsError: true}, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestArgsReadUnboundedIntegers(t *testing.T) {
	var got []int64
	touch := tool(t, func(_ context.Context, a *Args) (*Answer, error) {
		got = append(got, a.Int("n"), a.Int("m"), a.Int("o"))
		return &Answer{}, nil
	})
	touch.Params = []Param{
		{Name: "n", Type: "integer"},
		{Name: "m", Type: "integer", Default: int64(1) << 40},
		{Name: "o", Type: "integer"},
	}
	if r := touch.Call(t.Context(), json.RawMessage(`{"n":-9223372036854775808}`)); r.IsError {
		t.Fatal(r.Text)
	}
	if diff := cmp.Diff([]int64{-1 << 63, 1 << 40, 0}, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}
