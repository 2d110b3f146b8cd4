package confine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// reachable is a directory with the places that TestReach names.
func reachable(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs symbolic links, which an ordinary user of Windows may not make")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"base/d/e", "base/nested", "extra", "extras", "away/deep"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"base/f", "base/d/f", "base/nested/f", "extra/f", "extras/f", "away/f"} {
		if err := os.WriteFile(filepath.Join(top, file), []byte(file), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"base/toExtra": top + "/extra", "base/toAway": "../away", "base/dangling": top + "/away/new", "base/back": "../base/d/f",
		"base/up": "d/e", "base/loop": "loop", "base/inside": top + "/base/new",
	} {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func TestReach(t *testing.T) {
	top := reachable(t)
	tests := []struct {
		name, arg string
		all       bool
		want      string // the place below top; empty for a refusal
		missing   int
		err       error
	}{
		{name: "starts at the base", arg: "f", want: "base/f"},
		{name: "takes the base itself", arg: ".", want: "base"},
		{name: "takes the base by its absolute path", arg: top + "/base", want: "base"},
		{name: "takes an absolute path in the base", arg: top + "/base/d/../f", want: "base/f"},
		{name: "takes an absolute path in another root", arg: top + "/extra/f", want: "extra/f"},
		{name: "takes .. that goes out and comes back", arg: "../extra/f", want: "extra/f"},
		{name: "takes .. behind a link as the system does", arg: "up/../f", want: "base/d/f"},
		{name: "follows a link to another root", arg: "toExtra/f", want: "extra/f"},
		{name: "follows a link that leaves and comes back", arg: "back", want: "base/d/f"},
		{name: "tells a missing file", arg: "d/new", want: "base/d/new", missing: 1},
		{name: "tells missing directories", arg: "new/deep/x", want: "base/new/deep/x", missing: 3},
		{name: "follows a dangling link that stays inside", arg: "inside", want: "base/new", missing: 1},
		{name: "refuses a dangling link that leads outside", arg: "dangling", err: ErrOutside},
		{name: "refuses what is missing below a link that leads outside", arg: "toAway/new/x", err: ErrOutside},
		{name: "refuses a link that leads outside", arg: "toAway/f", err: ErrOutside},
		{name: "refuses an absolute path outside", arg: top + "/away/f", err: ErrOutside},
		{name: "refuses an absolute path outside where nothing is", arg: top + "/away/none/f", err: ErrOutside},
		{name: "compares whole names", arg: top + "/extras/f", err: ErrOutside},
		{name: "refuses .. that leads outside", arg: "../away/f", err: ErrOutside},
		{name: "refuses the directory above", arg: "..", err: ErrOutside},
		{name: "refuses .. behind what does not exist", arg: "none/../f", err: fs.ErrNotExist},
		{name: "refuses a path through a file", arg: "f/x", err: ErrNotDirectory},
		{name: "refuses a slash behind a file", arg: "f/", err: ErrNotDirectory},
		{name: "refuses a circle", arg: "loop", err: ErrTooManyLinks},
		{name: "refuses an empty path", arg: "", err: ErrName},
		{name: "refuses a NUL", arg: "f\x00", err: ErrName},
		{name: "takes a tilde as it stands", arg: "~/f", want: "base/~/f", missing: 2},
		{name: "goes anywhere when it may", arg: "toAway/f", all: true, want: "away/f"},
		{name: "creates through a dangling link when it may", arg: "dangling", all: true, want: "away/new", missing: 1},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			s := NewRoots()
			defer s.Close()
			v, err := s.Reach(top+"/base", []string{top + "/extra", top + "/none", top + "/base/f", top + "/base/nested"}, tt.all)
			if err != nil {
				t.Fatal(err)
			}
			loc, err := v.Resolve(tt.arg)
			if tt.err != nil {
				if !errors.Is(err, tt.err) {
					t.Errorf("got %v, want %v", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer loc.Close()
			if got := loc.Physical(); got != filepath.Join(top, tt.want) || loc.Missing() != tt.missing {
				t.Errorf("got %s with %d missing, want %s with %d", got, loc.Missing(), tt.want, tt.missing)
			}
			if loc.Info.Kind != Regular {
				return
			}
			file, err := loc.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			b := make([]byte, 99)
			if n, _ := file.Read(b); string(b[:n]) != tt.want || file.Physical() != loc.Physical() {
				t.Errorf("opened %s at %s", b[:n], file.Physical())
			}
		})
	}
}

// The lock is that of the innermost root, so two toolkits that share a root share its lock.
func TestReachPicksTheInnermostRoot(t *testing.T) {
	top := reachable(t)
	s := NewRoots()
	defer s.Close()
	v, err := s.Reach(top+"/base", []string{top + "/base/nested"}, true)
	if err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{"f": top + "/base", "nested/f": top + "/base/nested", "nested": top + "/base/nested", "../away/f": "/"} {
		loc, err := v.Resolve(arg)
		if err != nil {
			t.Fatal(err)
		}
		if got := loc.Root().Path(); got != want {
			t.Errorf("%s is in %s, want %s", arg, got, want)
		}
		loc.Close()
	}
}

// The entry of a location is asked of what resolved it, or a link to another root could not be named.
func TestReachEntry(t *testing.T) {
	top := reachable(t)
	s := NewRoots()
	defer s.Close()
	v, err := s.Reach(top+"/base", []string{top + "/extra"}, false)
	if err != nil {
		t.Fatal(err)
	}
	loc, err := v.Resolve("toExtra")
	if err != nil || !loc.Linked || loc.Root().Path() != top+"/extra" {
		t.Fatalf("%v %v", loc, err)
	}
	defer loc.Close()
	entry, err := loc.Entry()
	if err != nil {
		t.Fatal(err)
	}
	defer entry.Close()
	if target, err := entry.ReadLink(); err != nil || target != top+"/extra" || entry.Info.Kind != Link {
		t.Errorf("%q %v", target, err)
	}
	again, err := entry.Target()
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Physical() != loc.Physical() {
		t.Errorf("the target is %s", again.Physical())
	}
}

// Directories that are asked for no longer are closed at some time, and those that are stay open.
func TestRootsPrune(t *testing.T) {
	top := t.TempDir()
	s := NewRoots()
	defer s.Close()
	for i := range 3 * maxIdleRoots {
		dir := filepath.Join(top, string(rune('a'+i%26))+string(rune('a'+i/26)))
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Reach(top, []string{dir}, false); err != nil {
			t.Fatal(err)
		}
		if n := len(s.open); n > maxIdleRoots+2 {
			t.Fatalf("%d directories are open", n)
		}
	}
	v, err := s.Reach(top, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	loc, err := v.Resolve(".")
	if err != nil {
		t.Fatal(err)
	}
	loc.Close()
}

func TestReachWithoutBase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	s := NewRoots()
	defer s.Close()
	if _, err := s.Reach(dir, nil, false); err == nil {
		t.Error("a base that does not exist was taken")
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reach(dir, nil, false); err != nil {
		t.Error(err)
	}
}

func TestMkdirAll(t *testing.T) {
	root, err := OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	dir, err := root.current()
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	there := func(path ...string) bool {
		_, err := os.Stat(filepath.Join(append([]string{root.Path()}, path...)...))
		return err == nil
	}
	end, err := dir.MkdirAll([]string{"a", "b"})
	if err != nil || !there("a", "b") {
		t.Fatal(err)
	}
	end(true)
	end, err = dir.MkdirAll([]string{"a", "c", "d"})
	if err != nil || !there("a", "c", "d") {
		t.Fatal(err)
	}
	if end(false); !there("a", "b") || there("a", "c") {
		t.Error("it took back what it had not made, or kept what it had")
	}
	if err := os.WriteFile(filepath.Join(root.Path(), "f"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.MkdirAll([]string{"f", "x"}); err == nil || there("f", "x") {
		t.Error("a file was taken for a directory")
	}
	if _, err := dir.MkdirAll([]string{"new", "..", "x"}); err == nil || there("new") {
		t.Errorf("it left a directory behind: %v", err)
	}
}
