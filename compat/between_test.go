package compat

import (
	"errors"
	"testing"

	"lookfirst/readstate"
)

// What another program writes after the tracker was asked, and before the new file takes the name, is not overwritten.
func TestChangedInBetween(t *testing.T) {
	s := open(t, map[string]string{"f": "old"})
	p, err := s.pack.place("edit_file", "f")
	if err != nil {
		t.Fatal(err)
	}
	loc, err := p.resolve()
	if err != nil {
		t.Fatal(err)
	}
	defer loc.Close()
	if d, err := p.load(loc); err != nil || string(d.text) != "old" {
		t.Fatalf("%v %v", d, err)
	}
	s.put("f", "theirs")
	if _, err := p.load(loc); !errors.Is(err, readstate.ErrChanged) {
		t.Errorf("load: %v", err)
	}
	if _, err := p.store(t.Context(), loc, []byte("ours")); !errors.Is(err, readstate.ErrChanged) || s.content("f") != "theirs" {
		t.Errorf("store: %v, and the file holds %q", err, s.content("f"))
	}

	// The same for a file that nobody had made.
	if p, err = s.pack.place("write_file", "new"); err != nil {
		t.Fatal(err)
	}
	absent, err := p.resolve()
	if err != nil {
		t.Fatal(err)
	}
	defer absent.Close()
	s.put("new", "theirs")
	if _, err := p.store(t.Context(), absent, []byte("ours")); !errors.Is(err, readstate.ErrChanged) || s.content("new") != "theirs" {
		t.Errorf("create: %v, and the file holds %q", err, s.content("new"))
	}
}
