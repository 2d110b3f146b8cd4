// Command loop is the floor that package bench measures lookfirst against: JSON in, a file read, JSON out, in turn.
//
// It serves the current directory over standard input and output, to a client that it trusts: it knows no other tool than
// reading a text whole, looks at no argument but the path, asks nothing about the file or its text, and names no revision.
// What it leaves out is no part of any server that could be used; what it does is done with as little as plain Go takes:
// buffers are kept, a text is escaped once, an answer is one write.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// request is as much of a message as is looked at.
type request struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Arguments struct{ Path string }
	}
}

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "loop:", err)
		os.Exit(1)
	}
}

func serve(stdin io.Reader, stdout io.Writer) error {
	in := bufio.NewReaderSize(stdin, 64<<10)
	var text, answer []byte
	for {
		line, err := in.ReadSlice('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if r.ID == nil {
			continue
		}
		answer = append(append(append(answer[:0], `{"jsonrpc":"2.0","id":`...), r.ID...), `,"result":`...)
		if r.Method == "initialize" {
			answer = append(answer, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"loop","version":"0"}}`...)
		} else {
			if text, err = read(r.Params.Arguments.Path, text[:0]); err != nil {
				return err
			}
			answer = append(answer, `{"content":[{"type":"text","text":"`...)
			answer = append(escape(answer, text), `"}]}`...)
		}
		if _, err := stdout.Write(append(answer, "}\n"...)); err != nil {
			return err
		}
	}
}

// read appends the file to b.
func read(path string, b []byte) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return b, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return b, err
	}
	if size := int(info.Size()) + 1; cap(b) < size {
		b = make([]byte, 0, size)
	}
	for {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// escape appends what stands for the text inside a JSON string.
func escape(b, text []byte) []byte {
	from := 0
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, text[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
	}
	return append(b, text[from:]...)
}
