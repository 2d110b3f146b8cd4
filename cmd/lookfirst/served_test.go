package main

import (
	"io"
	"testing"
)

// A reload that was under way when the program ends must put nothing in place that nobody would close.
func TestServedServesNothingOnceClosed(t *testing.T) {
	dir := t.TempDir()
	read := func() (config, error) { return parse(t, []string{dir}) }
	c, err := read()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServed(c, read, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.reload(t.Context()); err != nil {
		t.Fatalf("before it is closed: %v", err)
	}
	s.Close()
	if _, err := s.reload(t.Context()); err == nil || err.Error() != "the program is ending" {
		t.Errorf("got %v", err)
	}
	if roots := s.roots(); len(roots) > 0 {
		t.Errorf("it serves %v", roots)
	}
}
