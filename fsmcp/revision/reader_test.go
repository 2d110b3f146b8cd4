package revision

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReaderRevisionIsOfTheWholeFileHoweverMuchWasRead(t *testing.T) {
	for _, size := range []int{0, 1, 5000, bufferSize - 1, bufferSize, bufferSize + 1, 3*bufferSize + 5} {
		text := strings.Repeat("x", size)
		root, _ := planted(t, "f = "+text)
		want := mustFresh(t, NewHasher(Options{}), located(t, root, "f"))
		for _, part := range []int{0, 1, size / 2, size, size + 1} {
			r := NewHasher(Options{}).NewReader(t.Context(), opened(t, root, "f"))
			window, err := io.ReadAll(io.LimitReader(r, int64(part)))
			if err != nil || string(window) != text[:min(part, size)] {
				t.Errorf("%d of %d bytes: got %d bytes and %v", part, size, len(window), err)
			}
			if got := r.Revision(); got != want {
				t.Errorf("after %d of %d bytes: got %v, want %v", part, size, got, want)
			}
			if got := r.Revision(); got != want {
				t.Errorf("asked again after %d of %d bytes: got %v, want %v", part, size, got, want)
			}
		}
	}
}

func TestReaderRemembersAndIsSparedTheHashing(t *testing.T) {
	root, _ := planted(t, "f = text")
	h := NewHasher(Options{Now: later().now})
	want := h.NewReader(t.Context(), opened(t, root, "f")).Revision()
	if !reuses(t, h, located(t, root, "f")) {
		t.Error("what a reader hashed is not remembered for an observation")
	}
	r := h.NewReader(t.Context(), opened(t, root, "f"))
	if b, err := io.ReadAll(r); err != nil || string(b) != "text" {
		t.Errorf("got %q and %v", b, err)
	}
	if got := r.Revision(); got == want {
		t.Error("the bytes of a file whose digest is remembered are hashed")
	}
	h.Forget(opened(t, root, "f").Info().ID)
	if got := h.NewReader(t.Context(), opened(t, root, "f")).Revision(); got != want {
		t.Errorf("forgotten: got %v, want %v", got, want)
	}
}

func TestReaderOfARememberedFileThatChangesIsUnknown(t *testing.T) {
	root, dir := planted(t, "f = old")
	h := NewHasher(Options{Now: later().now})
	before := mustObserve(t, h, located(t, root, "f"))
	r := h.NewReader(t.Context(), opened(t, root, "f"))
	rewrite(t, filepath.Join(dir, "f"), "new")
	if got := r.Revision(); got != (Revision{State: Unknown}) {
		t.Errorf("got %v", got)
	}
	if got := h.NewReader(t.Context(), opened(t, root, "f")).Revision(); got == before || got.State != File {
		t.Errorf("opened after it: got %v", got)
	}
}

// The answer has the first half from before and the second from after: so has its token, which is no file's.
func TestReaderOfAFileThatChangesHasTheTokenOfWhatItRead(t *testing.T) {
	old, changed := bytes.Repeat([]byte("o"), 2*bufferSize), bytes.Repeat([]byte("n"), 2*bufferSize)
	root, dir := planted(t, "f = "+string(old), "torn = "+string(old[:bufferSize])+string(changed[:bufferSize]))
	want := mustFresh(t, NewHasher(Options{}), located(t, root, "torn"))
	h := NewHasher(Options{Now: later().now})
	r := h.NewReader(t.Context(), opened(t, root, "f"))
	if _, err := io.ReadFull(r, make([]byte, bufferSize)); err != nil {
		t.Fatal(err)
	}
	rewrite(t, filepath.Join(dir, "f"), string(changed))
	if got := r.Revision(); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := len(h.memo.entries); n != 0 {
		t.Errorf("%d digests remembered", n)
	}
}

func TestReaderThatFailedIsUnknown(t *testing.T) {
	root, _ := planted(t, "f")
	h := NewHasher(Options{})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := h.NewReader(ctx, opened(t, root, "f"))
		cancel()
		if n, err := r.Read(make([]byte, 10)); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("read %d, %v", n, err)
		}
		if got := r.Revision(); got != (Revision{State: Unknown}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("closed", func(t *testing.T) {
		f := opened(t, root, "f")
		r := h.NewReader(t.Context(), f)
		f.Close()
		if _, err := r.Read(make([]byte, 10)); err == nil {
			t.Error("read a closed file")
		}
		if got := r.Revision(); got != (Revision{State: Unknown}) {
			t.Errorf("got %v", got)
		}
	})
}

// What grows under the hashing is hashed as far as it got, and not taken for the file that it was.
func TestFileThatChangesWhileItIsHashed(t *testing.T) {
	old := strings.Repeat("o", 2*bufferSize)
	tests := []struct {
		name   string
		change func(t *testing.T, path string)
		torn   string
	}{
		{"grows", func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			must(t, err)
			_, err = f.WriteString("more")
			must(t, err)
			must(t, f.Close())
		}, old + "more"},
		{"shrinks", func(t *testing.T, path string) { must(t, os.Truncate(path, bufferSize+1)) }, old[:bufferSize+1]},
		{"has other bytes", func(t *testing.T, path string) { rewrite(t, path, strings.Repeat("n", 2*bufferSize)) }, old[:bufferSize] + strings.Repeat("n", bufferSize)},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			root, dir := planted(t, "f = "+old, "torn = "+tt.torn)
			want := mustFresh(t, NewHasher(Options{}), located(t, root, "torn"))
			h := NewHasher(Options{Now: later().now})
			// It is asked before the first read, and before the second.
			ctx := hookedContext{t.Context(), at(2, func() { tt.change(t, filepath.Join(dir, "f")) })}
			if got := h.Observe(ctx, located(t, root, "f")); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
			if n := len(h.memo.entries); n != 0 {
				t.Errorf("%d digests remembered", n)
			}
		})
	}
}
