package readstate

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/revision"
)

const (
	one revision.Token = "sha256-v1:file:1"
	two revision.Token = "sha256-v1:file:2"
)

// at spells a physical path as the system does.
func at(path string) string { return filepath.FromSlash(path) }

func TestTracker(t *testing.T) {
	tests := []struct {
		name string
		did  func(*Tracker)
		path string
		now  revision.Token
		want error
	}{
		{"refuses a file that was never seen", func(*Tracker) {}, "/r/a", one, ErrUnread},
		{"lets a file be written that was seen as it is", func(s *Tracker) { s.Saw(at("/r/a"), one) }, "/r/a", one, nil},
		{"refuses a file that has changed since it was seen", func(s *Tracker) { s.Saw(at("/r/a"), one) }, "/r/a", two, ErrChanged},
		{"goes by the latest reading", func(s *Tracker) { s.Saw(at("/r/a"), one); s.Saw(at("/r/a"), two) }, "/r/a", two, nil},
		{"keeps what it knew when a reading told no token", func(s *Tracker) { s.Saw(at("/r/a"), one); s.Saw(at("/r/a"), "") }, "/r/a", one, nil},
		{"counts the session's own writing as seen", func(s *Tracker) { s.Wrote(at("/r/a"), one, confine.Info{}) }, "/r/a", one, nil},
		{"forgets a file of which nobody knows what was written", func(s *Tracker) { s.Saw(at("/r/a"), one); s.Wrote(at("/r/a"), "", confine.Info{}) }, "/r/a", one, ErrUnread},
		{"refuses a file that has gone", func(s *Tracker) { s.Saw(at("/r/a"), one) }, "/r/a", revision.AbsentToken, ErrChanged},
		{"forgets what was deleted", func(s *Tracker) { s.Saw(at("/r/a"), one); s.Forget(at("/r/a")) }, "/r/a", one, ErrUnread},
		{"forgets all below a directory that was deleted", func(s *Tracker) { s.Saw(at("/r/d/e/a"), one); s.Forget(at("/r/d")) }, "/r/d/e/a", one, ErrUnread},
		{"keeps a neighbour whose name only begins alike", func(s *Tracker) { s.Saw(at("/r/dd"), one); s.Forget(at("/r/d")) }, "/r/dd", one, nil},
		{"carries a file along", func(s *Tracker) { s.Saw(at("/r/a"), one); s.Moved(at("/r/a"), at("/r/b")) }, "/r/b", one, nil},
		{"leaves nothing behind", func(s *Tracker) { s.Saw(at("/r/a"), one); s.Moved(at("/r/a"), at("/r/b")) }, "/r/a", one, ErrUnread},
		{"carries along what is below a directory", func(s *Tracker) { s.Saw(at("/r/d/a"), one); s.Moved(at("/r/d"), at("/r/e/f")) }, "/r/e/f/a", one, nil},
		{"carries along that a file has changed", func(s *Tracker) { s.Saw(at("/r/a"), one); s.Moved(at("/r/a"), at("/r/b")) }, "/r/b", two, ErrChanged},
		{"does not take an unseen file for the one that its new place once held", func(s *Tracker) { s.Saw(at("/r/b"), one); s.Moved(at("/r/a"), at("/r/b")) }, "/r/b", one, ErrUnread},
		{"carries a directory to a place below its old name", func(s *Tracker) { s.Saw(at("/r/d"), one); s.Moved(at("/r/d"), at("/r/d/d")) }, "/r/d/d", one, nil},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			s := New()
			tt.did(s)
			if got := s.Check(at(tt.path), tt.now); !errors.Is(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if has := s.Has(at(tt.path)); has == errors.Is(tt.want, ErrUnread) {
				t.Errorf("Has says %v beside %v", has, tt.want)
			}
		})
	}
}

// A refused write must not count as a reading: else the second try of a careless model would pass.
func TestLeft(t *testing.T) {
	left := confine.Info{ID: confine.ID{Dev: 1, Ino: 2}, Kind: confine.Regular, Mode: 0o222, Size: 3, ModTime: 4, ChangeTime: 5}
	touched := left
	touched.ChangeTime++
	tests := []struct {
		name string
		did  func(*Tracker)
		now  confine.Info
		want bool
	}{
		{"knows the file that the session wrote", func(s *Tracker) { s.Wrote(at("/r/a"), one, left) }, left, true},
		{"knows none that was touched since", func(s *Tracker) { s.Wrote(at("/r/a"), one, left) }, touched, false},
		{"knows none that was only read", func(s *Tracker) { s.Saw(at("/r/a"), one) }, confine.Info{}, false},
		{"knows none that was read after it was written", func(s *Tracker) { s.Wrote(at("/r/a"), one, left); s.Saw(at("/r/a"), two) }, left, false},
		{"knows none that was never there", func(*Tracker) {}, confine.Info{}, false},
		{"knows it under its new name", func(s *Tracker) { s.Wrote(at("/r/b"), one, left); s.Moved(at("/r/b"), at("/r/a")) }, left, true},
		{"knows none that was forgotten", func(s *Tracker) { s.Wrote(at("/r/a"), one, left); s.Forget(at("/r")) }, left, false},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			s := New()
			tt.did(s)
			if got := s.Left(at("/r/a"), tt.now); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	var none *Tracker
	if none.Left(at("/r/a"), left) {
		t.Error("it lets nobody write who belongs to no session")
	}
}

func TestRefusalTeachesNothing(t *testing.T) {
	s := New()
	s.Saw(at("/r/a"), one)
	for range 3 {
		if err := s.Check(at("/r/a"), two); !errors.Is(err, ErrChanged) {
			t.Fatalf("changed file: %v", err)
		}
		if err := s.Check(at("/r/b"), one); !errors.Is(err, ErrUnread) {
			t.Fatalf("unread file: %v", err)
		}
	}
	if err := s.Check(at("/r/a"), one); err != nil {
		t.Errorf("the old bytes are back: %v", err)
	}
	if diff := cmp.Diff([]string{at("/r/a")}, s.Seen()); diff != "" {
		t.Error(diff)
	}
}

func TestSession(t *testing.T) {
	ctx := context.Background()
	if From(ctx) != nil {
		t.Error("a context without a session has a tracker")
	}
	if err := From(ctx).Check(at("/r/a"), one); !errors.Is(err, ErrNoSession) {
		t.Errorf("without a session: %v", err)
	}
	if From(ctx).Has(at("/r/a")) {
		t.Error("nobody has seen something")
	}
	first, second := New(), New()
	From(With(ctx, first)).Saw(at("/r/a"), one)
	if err := From(With(ctx, second)).Check(at("/r/a"), one); !errors.Is(err, ErrUnread) {
		t.Errorf("another session's reading counts: %v", err)
	}
	if err := From(With(ctx, first)).Check(at("/r/a"), one); err != nil {
		t.Error(err)
	}
}

func TestTrackerFromSeveralGoroutines(t *testing.T) {
	s := New()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			path := at("/r/" + string(rune('a'+i)))
			for range 200 {
				s.Saw(path, one)
				s.Moved(path, path+"x")
				s.Moved(path+"x", path)
				if err := s.Check(path, one); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := s.Seen(); len(got) != 8 || !slices.Contains(got, at("/r/a")) {
		t.Errorf("seen: %q", got)
	}
}

// The sentences are an interface: clients and models know them.
func TestTexts(t *testing.T) {
	got := []string{ErrUnread.Error(), ErrChanged.Refusal()}
	want := []string{
		"File has not been read yet. Read it first before writing to it.",
		"File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
