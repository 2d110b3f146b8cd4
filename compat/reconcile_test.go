package compat

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"lookfirst/fsmcp"
	"lookfirst/fsmcp/toolkit"
	"lookfirst/readstate"
)

// both is a session with both packs on one root: the file tools by their names, the other pack's with fs_ in front.
func both(t *testing.T, files map[string]string, guarded bool) *session {
	t.Helper()
	s := open(t, files)
	s.add(t, guarded)
	return s
}

func (s *session) add(t *testing.T, guarded bool) {
	t.Helper()
	f, err := fsmcp.New(fsmcp.Options{Root: s.root, ReadBeforeWrite: guarded, NoSync: true, LockDir: s.pack.opt.LockDir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	for _, tool := range f.Tools() {
		tool.Report = func(err error) { t.Error(err) }
		s.tools["fs_"+tool.Name] = tool
	}
}

// writing is a way to change the file f, which holds "old".
type writing struct {
	tool string
	args args
}

func writings() map[string]writing {
	return map[string]writing{
		"write_file": {"write_file", args{"content": "new"}},
		"edit_file":  {"edit_file", args{"old_string": "old", "new_string": "new"}},
		"multi_edit": {"multi_edit", args{"edits": []args{{"old_string": "old", "new_string": "new"}}}},
		"fs_write":   {"fs_write", args{"content": "new"}},
		"fs_edit":    {"fs_edit", args{"old-string": "old", "new-string": "new"}},
	}
}

func (s *session) write(w writing, path string, token any) *toolkit.Result {
	s.t.Helper()
	a := args{"path": path}
	for name, value := range w.args {
		a[name] = value
	}
	if token != nil {
		a["_expected-revisions"] = args{"path": token}
	}
	return s.call(w.tool, a)
}

// TestReconciliation is the table of D7: what was seen by one vocabulary counts for every write of either.
func TestReconciliation(t *testing.T) {
	read := func(tool, path string) func(*session) {
		return func(s *session) { s.works(s.call(tool, args{"path": path})) }
	}
	outside := func(content string) func(*session) { return func(s *session) { s.put("f", content) } }
	tests := []struct {
		name   string
		before []func(*session)
		path   string // written to
		want   string // the refusal; empty where it works
	}{
		{"refuses a file that was not read", nil, "f", unread},
		{"writes what read_file has read", []func(*session){read("read_file", "f")}, "f", ""},
		{"writes what fs_read has read", []func(*session){read("fs_read", "f")}, "f", ""},
		{"counts a window of read_file", []func(*session){func(s *session) { s.works(s.call("read_file", args{"path": "f", "offset": 9})) }}, "f", ""},
		{"counts a window of fs_read", []func(*session){func(s *session) { s.works(s.call("fs_read", args{"path": "f", "offset": 1, "limit": 1})) }}, "f", ""},
		{"writes through a link what was read", []func(*session){read("read_file", "f")}, "l", ""},
		{"writes what read_file has read through a link", []func(*session){read("read_file", "l")}, "f", ""},
		{"writes what fs_read has read through a link", []func(*session){read("fs_read", "l")}, "f", ""},
		{"counts no list, stat or glob", []func(*session){read("fs_stat", "f"), read("fs_list", "."), read("list_files", "."), func(s *session) { s.works(s.call("fs_glob", args{"pattern": "*"})) }}, "f", unread},
		{"refuses what has changed since read_file", []func(*session){read("read_file", "f"), outside("old, other")}, "f", changed},
		{"refuses what has changed since fs_read", []func(*session){read("fs_read", "f"), outside("old, other")}, "f", changed},
		{"takes a new reading", []func(*session){read("read_file", "f"), outside("old, other"), read("fs_read", "f")}, "f", ""},
		{"takes the old bytes when they are back", []func(*session){read("read_file", "f"), outside("other"), outside("old")}, "f", ""},
		{"takes the same bytes under a newer time", []func(*session){read("fs_read", "f"), func(s *session) {
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(s.path("f"), later, later); err != nil {
				s.t.Fatal(err)
			}
		}}, "f", ""},
		{"refuses a file that was deleted and made again by someone else", []func(*session){read("read_file", "f"), func(s *session) {
			if err := os.Remove(s.path("f")); err != nil {
				s.t.Fatal(err)
			}
			s.put("f", "old, made again")
		}}, "f", changed},
		{"is not emptied by a refusal", []func(*session){read("read_file", "f"), outside("other"), func(s *session) {
			for _, w := range writings() {
				if r := s.write(w, "f", nil); !r.IsError {
					s.t.Errorf("%s changed a file that has changed", w.tool)
				}
			}
		}, outside("old")}, "f", ""},
		{"counts no reading that was refused", []func(*session){func(s *session) {
			s.put("f", "\x00old")
			for _, tool := range []string{"read_file", "fs_read"} {
				if r := s.call(tool, args{"path": "f"}); !r.IsError {
					s.t.Errorf("%s read a binary file", tool)
				}
			}
			s.put("f", "old")
		}}, "f", unread},
		{"counts the session's own write_file", []func(*session){func(s *session) {
			os.Remove(s.path("f"))
			s.works(s.call("write_file", args{"path": "f", "content": "old"}))
		}}, "f", ""},
		{"counts the session's own fs_write", []func(*session){func(s *session) {
			os.Remove(s.path("f"))
			s.works(s.call("fs_write", args{"path": "f", "content": "old"}))
		}}, "f", ""},
		{"counts an edit", []func(*session){read("read_file", "f"), func(s *session) {
			s.works(s.call("edit_file", args{"path": "f", "old_string": "old", "new_string": "x"}))
			s.works(s.call("fs_edit", args{"path": "f", "old-string": "x", "new-string": "y"}))
			s.works(s.call("multi_edit", args{"path": "f", "edits": []args{{"old_string": "y", "new_string": "old"}}}))
		}}, "f", ""},
		{"refuses what someone changed after the session's own edit", []func(*session){read("read_file", "f"), func(s *session) {
			s.works(s.call("edit_file", args{"path": "f", "old_string": "old", "new_string": "x"}))
		}, outside("old\n")}, "f", changed},
		{"carries what was read along with a move", []func(*session){read("read_file", "f"), func(s *session) { s.works(s.call("fs_move", args{"from": "f", "to": "d/g"})) }}, "d/g", ""},
		{"carries it along with its directory", []func(*session){func(s *session) { s.put("d/e/f", "old") }, read("fs_read", "d/e/f"), func(s *session) { s.works(s.call("fs_move", args{"from": "d", "to": "h"})) }}, "h/e/f", ""},
		{"does not count as read what was only moved", []func(*session){func(s *session) { s.works(s.call("fs_move", args{"from": "f", "to": "g"})) }}, "g", unread},
		{"does not take a moved file for what its new name once held", []func(*session){func(s *session) { s.put("g", "old") }, read("read_file", "g"), func(s *session) {
			os.Remove(s.path("g"))
			s.works(s.call("fs_move", args{"from": "f", "to": "g"}))
		}}, "g", unread},
		{"forgets what it has deleted", []func(*session){read("read_file", "f"), func(s *session) { s.works(s.call("fs_delete", args{"path": "f"})) }, outside("old")}, "f", unread},
		{"forgets what it has deleted with its directory", []func(*session){func(s *session) { s.put("d/f", "old") }, read("read_file", "d/f"), func(s *session) {
			s.works(s.call("fs_delete", args{"path": "d", "recursive": true}))
			s.put("d/f", "old")
		}}, "d/f", unread},
		{"knows another session's reading not", []func(*session){func(s *session) {
			mine := s.ctx
			s.ctx = readstate.With(mine, readstate.New())
			s.works(s.call("read_file", args{"path": "f"}))
			s.ctx = mine
		}}, "f", unread},
		{"asks a call of no session for revisions", []func(*session){func(s *session) { s.ctx = s.t.Context() }}, "f", readstate.ErrNoSession.Error()},
	}
	for _, tt := range tests {
		for by, w := range writings() {
			t.Run("it "+tt.name+"/"+by, func(t *testing.T) {
				s := both(t, map[string]string{"f": "old", "l": "=> f", "d/": ""}, true)
				for _, act := range tt.before {
					act(s)
				}
				before := s.content(tt.path)
				r := s.write(w, tt.path, nil)
				if tt.want != "" {
					s.want(r, true, tt.want)
					if after := s.content(tt.path); after != before {
						t.Errorf("refused, and yet the file holds %q", after)
					}
					// Without the rule it would have been done.
					s.works(s.write(w, tt.path, s.expected(tt.path)))
					return
				}
				s.works(r)
				if got := s.content(tt.path); got == before {
					t.Errorf("the file still holds %q", got)
				}
			})
		}
	}
}

// expected is the token that a reading gives for a path.
func (s *session) expected(path string) string {
	s.t.Helper()
	r := s.works(s.call("fs_stat", args{"path": path}))
	return string(r.Revisions["path"].Token)
}

// TestTokensDecide is the right column of the table: with a token the tracker is not asked, whatever it knows.
func TestTokensDecide(t *testing.T) {
	for by, w := range writings() {
		for _, guarded := range []bool{true, false} {
			t.Run(by, func(t *testing.T) {
				s := both(t, map[string]string{"f": "old", "l": "=> f"}, guarded)
				right := s.expected("f")
				s.works(s.write(w, "f", right)) // It was never read.
				s.put("f", "old")
				s.works(s.call("read_file", args{"path": "f"}))
				const wrong = "sha256-v1:file:0000000000000000000000000000000000000000000000000000000000000000"
				s.want(s.write(w, "f", wrong), true, "'f' has changed since the revision that was expected; nothing was changed; read it again and use its new revision")
				s.want(s.write(w, "f", s.expected("l")), true, "'f' has changed since the revision that was expected; nothing was changed; read it again and use its new revision")
				s.works(s.write(w, "l", s.expected("l")))
				s.put("f", "old")
				if r := s.call(w.tool, args{"path": "f", "_expected-revisions": args{}}); !r.IsError {
					t.Error("no token for the location, and yet it was written")
				}
				if r := s.write(w, "f", 1); !r.IsError || s.content("f") != "old" {
					t.Error("a number was taken for a token")
				}
				s.ctx = s.t.Context() // of no session
				s.works(s.write(w, "f", right))
			})
		}
	}
}

// TestUnguarded is the third row: the pack by itself acts, and what it writes counts as seen all the same.
func TestUnguarded(t *testing.T) {
	for _, by := range []string{"fs_write", "fs_edit"} {
		t.Run(by, func(t *testing.T) {
			s := both(t, map[string]string{"f": "old"}, false)
			s.works(s.write(writings()[by], "f", nil))
			s.works(s.call("write_file", args{"path": "f", "content": "known"}))
			s.put("f", "old, other")
			s.works(s.write(writings()[by], "f", nil))
			s.ctx = t.Context()
			s.works(s.call(by, map[string]args{"fs_write": {"path": "f", "content": "x"}, "fs_edit": {"path": "f", "old-string": "new", "new-string": "x"}}[by]))
		})
	}
}

// The last row: nothing is asked of mkdir, move and delete.
func TestNotGuarded(t *testing.T) {
	s := both(t, map[string]string{"f": "a", "g": "b"}, true)
	s.ctx = t.Context()
	s.works(s.call("fs_mkdir", args{"path": "d"}))
	s.works(s.call("fs_move", args{"from": "f", "to": "d/f"}))
	s.works(s.call("fs_delete", args{"path": "g"}))
	s.works(s.call("fs_write", args{"path": "new", "content": "x"}))
	s.works(s.call("write_file", args{"path": "new2", "content": "x"}))
}

// What counts as read, and what does not, of the file tools' own kinds.
func TestWhatCountsAsRead(t *testing.T) {
	s := both(t, map[string]string{"empty": "", "n.ipynb": `{"cells":[]}`, "i.png": string(pngOf(t, 3, 3)), "p.pdf": string(pdfOf("page"))}, true)
	for name, counts := range map[string]bool{"empty": true, "n.ipynb": true, "i.png": false, "p.pdf": false} {
		s.works(s.call("read_file", args{"path": name}))
		if r := s.call("write_file", args{"path": name, "content": "x"}); r.IsError == counts {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
}

// A host that embeds the packs hands in one tracker, and needs no contexts.
func TestTrackerOfTheHost(t *testing.T) {
	tracker := readstate.New()
	s := open(t, map[string]string{"f": "old"}, func(o *Options) { o.ReadState = tracker })
	s.ctx = t.Context()
	s.want(s.call("write_file", args{"path": "f", "content": "x"}), true, unread)
	pack, err := fsmcp.New(fsmcp.Options{Root: s.root, ReadBeforeWrite: true, ReadState: tracker, LockDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer pack.Close()
	for _, tool := range pack.Tools() {
		s.tools["fs_"+tool.Name] = tool
	}
	s.works(s.call("fs_read", args{"path": "f"}))
	s.works(s.call("write_file", args{"path": "f", "content": "x"}))
	s.works(s.call("fs_write", args{"path": "f", "content": "y"}))
	if seen := tracker.Seen(); len(seen) != 1 || seen[0] != filepath.Join(s.root, "f") {
		t.Errorf("seen: %q", seen)
	}
}
