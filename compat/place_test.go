package compat

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/textfile"
)

// The tools' own words are short. What is said below them is kept where it says more than they can.
func TestExplain(t *testing.T) {
	s := open(t, map[string]string{"f": "x"})
	p, err := s.pack.place("write_file", "f")
	if err != nil {
		t.Fatal(err)
	}
	const sentence = "'f' is what it is"
	of := func(kinds ...error) error {
		return &confine.Error{Arg: "f", Err: errors.Join(kinds...), Text: sentence}
	}
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"puts a denial into its own words", of(syscall.EACCES), fmt.Sprintf("EACCES: permission denied, open '%s'", s.path("f"))},
		{"puts a conflict into its own words", of(textfile.ErrConflict), changed},
		{"keeps the sentence about a damaged file, whatever damaged it", of(textfile.ErrTouched, syscall.EACCES), sentence},
		{"keeps it when the file has gone since", of(textfile.ErrTouched, syscall.ENOENT), sentence},
		{"keeps the sentence about hard links", of(textfile.ErrLinked), sentence},
		{"keeps what it has no words for", of(syscall.ENOSPC), sentence},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			if got := p.explain(tt.err).Error(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
