package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The floor counts only if its answers are right.
func TestServe(t *testing.T) {
	var all strings.Builder
	for c := rune(0); c < 0x250; c++ {
		all.WriteRune(c)
	}
	texts := map[string]string{"empty": "", "all": all.String(), "long": strings.Repeat("a\t\"line\"\n", 100_000)}
	t.Chdir(t.TempDir())
	for name, text := range texts {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range texts {
		t.Run("it reads a file: "+name, func(t *testing.T) {
			var out bytes.Buffer
			lines := `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
				`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read","arguments":{"path":"` + name + `"}}}` + "\n"
			if err := serve(strings.NewReader(lines), &out); err != nil {
				t.Fatal(err)
			}
			var answer struct {
				ID     int
				Result struct{ Content []struct{ Text string } }
			}
			if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			if answer.ID != 7 || len(answer.Result.Content) != 1 || answer.Result.Content[0].Text != text {
				t.Errorf("got %.200s", out.Bytes())
			}
		})
	}
}
