package revision

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestBudgetBoundsAnObservationAndNoComparison(t *testing.T) {
	root, _ := planted(t, "d/a = 12345", "d/sub/b = 12345", "l => d", "big = 1234567890123")
	loc := located(t, root, "d")
	want := mustFresh(t, NewHasher(Options{}), loc)
	tests := []struct {
		name   string
		budget int64
		known  bool
	}{
		{"gives up for one byte too many", 9, false},
		{"is enough for just so many", 10, true},
		{"is four GiB when nothing is said", 0, true},
		{"is none when negative", -1, true},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			h := NewHasher(Options{Budget: tt.budget, Memo: -1})
			got := h.Observe(t.Context(), loc)
			if known := got == want; known != tt.known || !known && got != (Revision{State: Unknown}) {
				t.Errorf("observed %v, want known: %v", got, tt.known)
			}
			if known := h.Observe(t.Context(), located(t, root, "l")).State == Symlink; known != tt.known {
				t.Errorf("through a link: known: %v, want %v", known, tt.known)
			}
			if got := mustFresh(t, h, loc); got != want {
				t.Errorf("fresh: got %v, want %v", got, want)
			}
			big := located(t, root, "big")
			if known := h.Observe(t.Context(), big).State == File; known != (tt.budget <= 0) {
				t.Errorf("a file of 13 bytes alone: known: %v", known)
			}
			if got := h.Named(t.Context(), big); got.State != File {
				t.Errorf("to decide about a change: got %v", got)
			}
		})
	}
	if got := NewHasher(Options{}).budget; got != DefaultBudget {
		t.Errorf("the budget is %d by default, want %d", got, int64(DefaultBudget))
	}
}

func TestBudgetIsOfBytesReadAndNotOfBytesRemembered(t *testing.T) {
	root, _ := planted(t, "d/a = 12345", "d/b = 12345")
	h := NewHasher(Options{Budget: 5, Now: later().now})
	loc := located(t, root, "d")
	if got := h.Observe(t.Context(), loc); got.State != Unknown {
		t.Fatalf("got %v", got)
	}
	mustObserve(t, h, located(t, root, "d/a"))
	mustObserve(t, h, loc)
	mustObserve(t, h, loc)
}

// A file that grows, or one that does not tell its size, is charged for what is read of it.
func TestBudgetCountsWhatAFileHasBeyondItsSize(t *testing.T) {
	text := strings.Repeat("x", 3*bufferSize)
	root, dir := planted(t, "f = short")
	for _, tt := range []struct {
		left int64
		want error
	}{{3 * bufferSize, nil}, {3*bufferSize - 1, errBudget}} {
		rewrite(t, filepath.Join(dir, "f"), "short")
		f := opened(t, root, "f")
		rewrite(t, filepath.Join(dir, "f"), text)
		p := pass{ctx: t.Context(), memo: newMemo(-1, later().now), left: new(atomic.Int64), buf: make([]byte, bufferSize)}
		p.left.Store(tt.left)
		if _, err := p.file(f); !errors.Is(err, tt.want) {
			t.Errorf("with %d bytes left: got %v, want %v", tt.left, err, tt.want)
		}
	}
}

func TestCancelledBefore(t *testing.T) {
	root, _ := planted(t, "d/f", "l => d", "f")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := NewHasher(Options{})
	for _, arg := range []string{".", "d", "l", "f"} {
		loc := located(t, root, arg)
		if got := h.Observe(ctx, loc); got != (Revision{State: Unknown}) {
			t.Errorf("%s: observed %v", arg, got)
		}
		if got, err := h.Fresh(ctx, loc); got != (Revision{}) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v and %v", arg, got, err)
		}
		mustFresh(t, h, loc)
	}
}

// The bubble panics if a goroutine of the traversal is left waiting when the test ends. The tree has more batches than
// may be in flight, so that the walk has to wait when the others stop.
func TestTraversalThatEndsMidwayLeavesNothingBehind(t *testing.T) {
	var tree []string
	for i := range (batchesAhead + 6) * batchEntries {
		tree = append(tree, fmt.Sprintf("%02d/%d = x", i%20, i))
	}
	root, _ := planted(t, tree...)
	for _, n := range []int{1, 2, 10, 20} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := later()
			c.onNow = at(n, cancel)
			h := NewHasher(Options{Now: c.now})
			if got, err := h.Fresh(ctx, located(t, root, ".")); got != (Revision{}) || !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled at batch %d: got %v and %v", n, got, err)
			}
			mustFresh(t, h, located(t, root, "."))
		})
	}
	for _, budget := range []int64{1, 100, 1000} {
		synctest.Test(t, func(t *testing.T) {
			h := NewHasher(Options{Budget: budget})
			if got := h.Observe(t.Context(), located(t, root, ".")); got != (Revision{State: Unknown}) {
				t.Errorf("with a budget of %d: got %v", budget, got)
			}
		})
	}
}

func TestTreeOfMoreLevelsThanAWalkHoldsOpen(t *testing.T) {
	root, dir := planted(t)
	deep := strings.Repeat("d/", 300)
	plant(t, dir, deep+"f")
	if got, want := mustFresh(t, NewHasher(Options{}), located(t, root, ".")), slowToken(t, dir); got != want {
		t.Errorf("300 levels: got %v, want %v", got, want)
	}
}
