package compat

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

const (
	nobody = 65534

	mayNotBeRead = "'f' may not be read, so it cannot be told whether it has changed; nothing was changed; it can be written once it may be read"
)

// asNobody does something as a user to whom permissions mean something: all that asks for them there has to happen in
// this goroutine, since the kernel keeps the user of file accesses by the thread.
func (s *session) asNobody(do func()) {
	s.t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	for _, dir := range []string{s.root, filepath.Dir(s.root)} {
		if err := os.Chmod(dir, 0o777); err != nil {
			s.t.Fatal(err)
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		s.t.Fatal(err)
	}
	defer unix.SetfsuidRetUid(0)
	do()
}

// set gives a file content and permissions, and to the user of [session.asNobody].
func (s *session) set(name, content string, mode os.FileMode) {
	s.t.Helper()
	s.put(name, content)
	err := os.Chmod(s.path(name), mode)
	if err == nil && os.Geteuid() == 0 {
		err = os.Chown(s.path(name), nobody, -1)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func TestPermissions(t *testing.T) {
	s := open(t, nil)
	s.set("secret", "x", 0)
	s.set("fixed", "x", 0o444)
	s.asNobody(func() {
		s.want(s.call("read_file", args{"path": "secret"}), true, "EACCES: permission denied, open 'ROOT/secret'")
		s.works(s.call("read_file", args{"path": "fixed"}))
		s.want(s.call("write_file", args{"path": "fixed", "content": "y"}), true, "EACCES: permission denied, open 'ROOT/fixed'")
	})
	s.set("fixed", "x", 0o644) // Nothing but its permissions was in the way.
	s.asNobody(func() {
		s.works(s.call("read_file", args{"path": "fixed"}))
		s.works(s.call("write_file", args{"path": "fixed", "content": "y"}))
	})
}

// A file that may be written and not read has no token by which the session's own writing could be known again.
func TestWriteOnlyFile(t *testing.T) {
	write := writing{"write_file", args{"content": "new"}}
	for _, tt := range []struct {
		name   string
		before func(s *session)
		want   string // a refusal; empty where the file is written
	}{
		{"writes again what the session wrote", func(*session) {}, ""},
		{"writes no file that someone changed since", func(s *session) { s.set("f", "bad", 0o222) }, mayNotBeRead},
		{"calls it changed once that can be told", func(s *session) { s.set("f", "bad", 0o666) }, changed},
		{"writes it when the bytes turn out to be the same", func(s *session) { s.set("f", "own", 0o666) }, ""},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			s := both(t, map[string]string{"f": "old"}, false)
			s.set("f", "old", 0o222)
			s.asNobody(func() {
				s.want(s.write(write, "f", nil), true, unread)
				s.works(s.call("fs_write", args{"path": "f", "content": "own"})) // which is not guarded
			})
			tt.before(s)
			s.asNobody(func() {
				r := s.write(write, "f", nil)
				if tt.want == "" {
					s.works(r)
					return
				}
				s.want(r, true, tt.want)
			})
			want := "new"
			if tt.want != "" {
				want = "bad"
			}
			if got := s.content("f"); got != want {
				t.Errorf("the file holds %q, want %q", got, want)
			}
		})
	}
}

// What the store says of a file that has other names outside is more than that something was denied.
func TestHardLinksInAFixedDirectory(t *testing.T) {
	s := open(t, map[string]string{"d/": ""})
	s.set("d/f", "old", 0o666)
	if err := os.Link(s.path("d/f"), s.path("g")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.path("d"), 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(s.path("d"), 0o777)
	s.asNobody(func() {
		s.works(s.call("read_file", args{"path": "d/f"}))
		s.want(s.call("write_file", args{"path": "d/f", "content": "new"}), true,
			"'d/f' can only be written in place (the directory is not writable), and would change under all of its 2 hard links; it is unchanged")
	})
	if s.content("d/f") != "old" || s.content("g") != "old" {
		t.Errorf("got %q and %q", s.content("d/f"), s.content("g"))
	}
	if err := os.Remove(s.path("g")); err != nil {
		t.Fatal(err)
	}
	s.asNobody(func() {
		s.want(s.call("write_file", args{"path": "d/f", "content": "new"}), false,
			"The file d/f has been updated successfully."+currentState+" (not atomic: the directory is not writable)")
	})
}
