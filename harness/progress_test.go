package harness

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/toolkit"
)

func TestServeReportsProgress(t *testing.T) {
	hash := named("hash")[0]
	hash.Handle = func(ctx context.Context, _ *toolkit.Args) (*toolkit.Answer, error) {
		report := toolkit.Progress(ctx)
		report(1, 0, "at once") // nobody has waited yet
		for i := range int64(10) {
			time.Sleep(100 * time.Millisecond)
			report((i+1)*10, 100, "hash\ning")
		}
		time.Sleep(progressInterval)
		report(50, 100, "backwards")
		report(200, 0, "")
		go func() { // and never after the answer
			time.Sleep(time.Second)
			report(300, 0, "late")
		}()
		return &toolkit.Answer{Text: "done"}, nil
	}
	with := func(token string) string {
		return strings.Replace(modern("1", "tools/call", `"name":"hash",`), `"_meta":{`, `"_meta":{"progressToken":`+token+`,`, 1)
	}
	step := func(token, rest string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,` + rest + `}}`
	}
	done := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"lookfirst","version":"1.2.3"}}}}`
	cases := []struct {
		name  string
		token string
		want  []string
	}{
		{name: "it reports about four times a second", token: `"a\u0062"`, want: []string{
			step(`"a\u0062"`, `"progress":30,"total":100,"message":"hash\ning"`),
			step(`"a\u0062"`, `"progress":60,"total":100,"message":"hash\ning"`),
			step(`"a\u0062"`, `"progress":90,"total":100,"message":"hash\ning"`),
			step(`"a\u0062"`, `"progress":200`), done,
		}},
		{name: "it takes a number for a token", token: `0`, want: []string{
			step(`0`, `"progress":30,"total":100,"message":"hash\ning"`), step(`0`, `"progress":60,"total":100,"message":"hash\ning"`),
			step(`0`, `"progress":90,"total":100,"message":"hash\ning"`), step(`0`, `"progress":200`), done,
		}},
		{name: "it reports nothing to who did not ask", token: `null`, want: []string{done}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := dial(t, options(t, hash))
				p.send("%s", with(c.token))
				var got []string
				for range c.want {
					got = append(got, p.read())
				}
				time.Sleep(2 * time.Second) // in the time of the test, for what comes late
				p.send("%s", modern("2", "tools/list", ""))
				if next := p.read(); !strings.HasPrefix(next, `{"jsonrpc":"2.0","id":2,`) {
					t.Errorf("after the answer came %s", next)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("want -, got +:\n%s", diff)
				}
			})
		})
	}
}
