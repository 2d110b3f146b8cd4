package fsmcp

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBuffers(t *testing.T) {
	cases := []struct {
		name string
		size int64
		kept bool
	}{
		{"it makes one for nothing", 0, false},
		{"it keeps none that is small", leastKept - 2, false},
		{"it keeps one that is worth it", leastKept, true},
		{"it keeps the largest that it may", mostKept - 1, true},
		{"it keeps none that is very large", mostKept, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var p buffers
			b := p.take(c.size)
			if len(b) != 0 || int64(cap(b)) <= c.size {
				t.Errorf("got %d bytes with room for %d, want 0 with room for more than %d", len(b), cap(b), c.size)
			}
			if kept := p.giveBack(b) != nil; kept != c.kept {
				t.Errorf("it is kept: %t, want %t", kept, c.kept)
			}
		})
	}
}

// What a read has given stays as it is while others read, until it is said to be done with; and from then on its memory
// may be used for files of any size.
func TestReadsShareNoMemory(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i := range 8 {
		text := strings.Repeat(fmt.Sprintf("file %d\n", i), 40_000-4_000*i)
		want = append(want, text)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := New(Options{Root: dir, LockDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	read := f.readTool()
	for range 20 {
		var done []func()
		var got []string
		for i := range want {
			r := read.Call(t.Context(), fmt.Appendf(nil, `{"path":"%d"}`, i))
			got = append(got, r.Text)
			if r.Done == nil {
				t.Fatalf("a read of %d bytes has nothing to give back", len(r.Text))
			}
			done = append(done, r.Done)
		}
		for i := range want {
			if got[i] != want[i] {
				at := 0
				for at < min(len(got[i]), len(want[i])) && got[i][at] == want[i][at] {
					at++
				}
				t.Fatalf("file %d is %d bytes, want %d; they differ from byte %d on", i, len(got[i]), len(want[i]), at)
			}
			done[i]()
		}
	}
}

// A file that grows while it is read, and one that tells no size, are read to their end, beyond the buffer's.
func TestReadIntoGrows(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789"), 50_000)
	var p buffers
	for _, limit := range []int64{int64(len(text)), int64(len(text)) + 1, 100} {
		got, err := readInto(p.take(leastKept), bytes.NewReader(text), limit)
		if want := text[:min(int64(len(text)), max(limit+1, int64(len(got))))]; err != nil || !bytes.Equal(got, want) || int64(len(got)) <= min(limit, int64(len(text))-1) {
			t.Errorf("with a limit of %d, got %d bytes and %v", limit, len(got), err)
		}
	}
}
