package toolkit

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProgress(t *testing.T) {
	type step struct {
		Done, Total int64
		Message     string
	}
	var got []step
	ctx := WithProgress(t.Context(), func(done, total int64, message string) {
		got = append(got, step{done, total, message})
	})
	tool := &Tool{Name: "hash", Handle: func(ctx context.Context, _ *Args) (*Answer, error) {
		report := Progress(ctx)
		report(1, 2, "hashing")
		report(2, 2, "hashing")
		return &Answer{}, nil
	}}
	if r := tool.Call(ctx, nil); r.IsError {
		t.Fatal(r.Text)
	}
	if r := tool.Call(t.Context(), nil); r.IsError {
		t.Errorf("without a receiver: %s", r.Text)
	}
	if diff := cmp.Diff([]step{{1, 2, "hashing"}, {2, 2, "hashing"}}, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestTreeRevisions(t *testing.T) {
	ctx := WithProgress(t.Context(), func(int64, int64, string) {})
	if !TreeRevisions(ctx) {
		t.Error("got false where nothing was said, want true")
	}
	ctx, cancel := context.WithCancel(WithoutTreeRevisions(ctx))
	defer cancel()
	if TreeRevisions(ctx) {
		t.Error("got true, want false in a context made without them")
	}
}
