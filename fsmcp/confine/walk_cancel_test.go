package confine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// lookedAt is a context that counts the looks at it, and ends with one of them.
type lookedAt struct {
	context.Context
	cancel context.CancelFunc
	looks  int
	last   int // the look that ends it; 0 for none
}

func newLookedAt(t *testing.T, last int) *lookedAt {
	ctx, cancel := context.WithCancel(t.Context())
	return &lookedAt{Context: ctx, cancel: cancel, last: last}
}

func (l *lookedAt) Err() error {
	if l.looks++; l.looks == l.last {
		l.cancel()
	}
	return l.Context.Err()
}

// TestWalkOfALargeDirectoryCanBeCancelled counts looks at the context, since a clock would tell of the machine.
func TestWalkOfALargeDirectoryCanBeCancelled(t *testing.T) {
	dir := t.TempDir()
	const files = 5000
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	openers := map[string]func(string) (handle, error){"best": openRootHandle, "portable": openPortable}
	for name, open := range openers {
		t.Run(name, func(t *testing.T) {
			path, err := filepath.EvalSymlinks(dir)
			if err != nil {
				t.Fatal(err)
			}
			h, err := open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer h.close()
			ctx := newLookedAt(t, 0)
			list, err := h.entries(ctx, nil)
			if len(list) != files || err != nil || ctx.looks < files/2000 {
				t.Errorf("listed %d after %d looks, error %v; want %d after one for each of some thousands", len(list), ctx.looks, err, files)
			}
			ctx = newLookedAt(t, 2)
			if list, err := h.entries(ctx, nil); list != nil || !errors.Is(err, context.Canceled) || ctx.looks > 3 {
				t.Errorf("listed %d after %d looks, error %v; want none after 2", len(list), ctx.looks, err)
			}
			visits := 0
			err = newDir(h).Walk(newLookedAt(t, 2), FilesFirst, func(*Step) error { visits++; return nil })
			if visits > 0 || !errors.Is(err, context.Canceled) {
				t.Errorf("visited %d, error %v; want none", visits, err)
			}
		})
	}
}

func TestSortOfALargeDirectoryCanBeCancelled(t *testing.T) {
	const n = 200_000
	list := make([]Entry, n)
	for i := range list {
		list[i].Name = strconv.Itoa(i * 7919 % n)
	}
	ctx := newLookedAt(t, 0)
	w := walker{ctx: ctx, order: FilesFirst}
	items := w.plan(slices.Clone(list))
	if !slices.IsSortedFunc(items, filesFirst) || ctx.looks < 100 {
		t.Errorf("looked %d times on the way to a sorted list, want more than 100", ctx.looks)
	}
	ctx = newLookedAt(t, 3)
	w = walker{ctx: ctx, order: FilesFirst}
	mixed := w.plan(list)
	if slices.IsSortedFunc(mixed, filesFirst) || ctx.looks > 30 {
		t.Errorf("looked %d times, want an end soon after 3", ctx.looks)
	}
}
