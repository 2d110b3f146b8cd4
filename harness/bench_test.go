package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/toolkit"
)

// BenchmarkCall measures one tool call after the other from the line to the whole answer, over pipes of the operating
// system, whose far end reads the answer as one line and does nothing with it. The tool does nothing but give a text, of
// source code, back. In turn it measures Serve, the library's own transport with the same tool, and the least that a
// program can do: decode a line, look at two fields, encode an answer with the standard library, write it.
//
// The three take turns within one run, so that a busy machine spoils the times and not the ratios, which are what to look
// at: times-floor is Serve's time over that of the least, library-times-floor the library's.
func BenchmarkCall(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"empty", 0}, {"1KB", 1 << 10}, {"1MB", 1 << 20}} {
		b.Run(size.name, func(b *testing.B) {
			tool := giving(sourceCode(size.bytes))
			o := options(b, tool)
			ours := newCaller(b, func(in, out *os.File) {
				o.In, o.Out = in, out
				_ = Serve(b.Context(), o)
			})
			library := newCaller(b, func(in, out *os.File) {
				_ = options(b, tool).Server.Run(b.Context(), &mcp.IOTransport{Reader: in, Writer: out})
			})
			floor := newCaller(b, func(in, out *os.File) { bare(tool, in, out) })
			var ourTime, libraryTime, floorTime time.Duration
			b.SetBytes(int64(size.bytes))
			for b.Loop() {
				ourTime += ours.call()
				libraryTime += library.call()
				floorTime += floor.call()
			}
			b.ReportMetric(float64(ourTime.Microseconds())/float64(b.N), "us/call")
			b.ReportMetric(float64(libraryTime)/float64(floorTime), "library-times-floor")
			b.ReportMetric(float64(ourTime)/float64(floorTime), "times-floor")
			b.ReportMetric(0, "ns/op") // It would be of the three together.
		})
	}
}

// BenchmarkServe measures Serve alone, for its allocations.
func BenchmarkServe(b *testing.B) {
	for name, bytes := range map[string]int{"empty": 0, "1MB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			o := options(b, giving(sourceCode(bytes)))
			c := newCaller(b, func(in, out *os.File) {
				o.In, o.Out = in, out
				_ = Serve(b.Context(), o)
			})
			b.ReportAllocs()
			for b.Loop() {
				c.call()
			}
		})
	}
}

func giving(text string) *toolkit.Tool {
	t := named("give")[0]
	t.ReadOnly = true
	t.Params = []toolkit.Param{{Name: "path", Type: "string"}}
	t.Handle = func(context.Context, *toolkit.Args) (*toolkit.Answer, error) { return &toolkit.Answer{Text: text}, nil }
	return t
}

// sourceCode returns so many bytes that look like a program: short lines, tabs, quotes, a rare character beyond ASCII.
func sourceCode(bytes int) string {
	const lines = "func (s *server) handle(ctx context.Context, r *request) error {\n\tif r.name == \"\" {\n" +
		"\t\treturn fmt.Errorf(\"a name is missing in <%s>\", r.where) // été\n\t}\n\treturn s.next(ctx, r)\n}\n\n"
	return strings.Repeat(lines, bytes/len(lines)+1)[:bytes]
}

// caller is the far end of a session over pipes of the operating system.
type caller struct {
	b   *testing.B
	in  *os.File
	out *bufio.Reader
}

func newCaller(b *testing.B, serve func(in, out *os.File)) *caller {
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve(inR, outW)
	}()
	b.Cleanup(func() {
		inW.Close()
		<-done
		for _, f := range []*os.File{inR, outR, outW} {
			f.Close()
		}
	})
	c := &caller{b, inW, bufio.NewReaderSize(outR, 64<<10)}
	c.exchange(hello)
	return c
}

func (c *caller) call() time.Duration {
	start := time.Now()
	c.exchange(`{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{"name":"give","arguments":{"path":"src/main.go"},"_meta":{"progressToken":7}}}`)
	return time.Since(start)
}

func (c *caller) exchange(line string) {
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.b.Fatal(err)
	}
	for {
		_, err := c.out.ReadSlice('\n')
		if err == nil {
			return
		}
		if err != bufio.ErrBufferFull {
			c.b.Fatal(err)
		}
	}
}

// bare serves calls of one tool without a protocol.
func bare(tool *toolkit.Tool, in, out *os.File) {
	lines := bufio.NewScanner(in)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for lines.Scan() {
		var request struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil {
			return
		}
		type content struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		text := tool.Call(context.Background(), request.Params.Arguments).Text
		_ = encoder.Encode(map[string]any{"jsonrpc": "2.0", "id": request.ID, "result": map[string]any{"content": []content{{"text", text}}}})
	}
}
