package search

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestEnginesPassOverWhatIsUnreadable needs a user for whom something is. Started by root, it starts itself as nobody.
func TestEnginesPassOverWhatIsUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	loc := plant(t, map[string]string{"open": "TODO\n", "shut": "TODO\n", "d/f": "TODO\n", "e/open": "TODO\n"})
	dir, _ := loc.HostPath()
	shut := []string{filepath.Join(dir, "shut"), filepath.Join(dir, "d")}
	for _, path := range shut {
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(path, 0o700)
	}
	for name, backend := range engines(t) {
		t.Setenv("MCP_FS_GREP_BACKEND", backend)
		ResetSearchers()
		for range mostMisses + 1 {
			r, err := Run(t.Context(), loc, Query{Pattern: "TODO", Max: 50})
			if got := paths(r); err != nil || len(got) != 2 || got[0] != "open" || got[1] != "e/open" {
				t.Errorf("%s: found %q, error %v; want what can be read", name, got, err)
			}
		}
		if backend == "rg" || backend == "grep" {
			if binary, decided := standingOf(backend).verdict(); !decided || binary == "" {
				t.Errorf("%s is not believed any more", name)
			}
		}
	}
	for _, path := range shut {
		os.Chmod(path, 0o700)
	}
	if r, err := Run(t.Context(), loc, Query{Pattern: "TODO", Max: 50}); err != nil || r.Matches != 4 {
		t.Errorf("found %d once all is readable, error %v; want 4", r.Matches, err)
	}
}

// asNobody runs this test alone as a user who owns nothing, from a copy of the program that he can reach.
func asNobody(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "search")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "test")
	if err := errors.Join(os.Chmod(dir, 0o777), copyFile("/proc/self/exe", program)); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	cmd := exec.Command(program, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

func copyFile(from, to string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Chmod(0o755), w.Close())
}
