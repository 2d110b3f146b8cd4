package compat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
	"time"

	"lookfirst/fsmcp/toolkit"
	"lookfirst/readstate"
)

// token is that of a file's bytes.
func (s *session) token(name string) string {
	sum := sha256.Sum256([]byte(s.content(name)))
	return "sha256-v1:file:" + hex.EncodeToString(sum[:])
}

// grow makes a file so long, with zeros that take no room on the disk.
func (s *session) grow(name string, size int64) {
	s.t.Helper()
	if err := os.Truncate(s.path(name), size); err != nil {
		s.t.Fatal(err)
	}
}

// caller calls the tools of a pack, in one session, for as long as all goes well.
func caller(t testing.TB, f *FileTools) func(tool, raw string) {
	ctx := readstate.With(context.Background(), readstate.New())
	tools := map[string]*toolkit.Tool{}
	for _, tool := range f.Tools() {
		tools[tool.Name] = tool
	}
	return func(tool, raw string) {
		t.Helper()
		if r := tools[tool].Call(ctx, json.RawMessage(raw)); r.IsError {
			t.Fatal(r.Text)
		}
	}
}

// cancelled is a context that somebody cancels after a while.
func cancelled(ctx context.Context, after time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(after, cancel)
	return ctx, func() { timer.Stop(); cancel() }
}
