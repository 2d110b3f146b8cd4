package confine

import (
	"os"
	"strings"
	"testing"
)

// TestPermissions acts as a user to whom the modes mean something.
func TestPermissions(t *testing.T) {
	const denied = "permission denied: ARG"
	tests := []struct {
		arg           string
		open, at      string
		portable      string // what an os.Root gives for both, where that is not the same
		whyNotTheSame string
	}{
		{arg: "open/f", open: "root/open/f", at: "open/f: file"},
		{arg: "open/private", open: denied, at: "open/private: file"},
		{arg: "noread/f", open: "root/noread/f", at: "noread/f: file", portable: denied, whyNotTheSame: "it opens each directory for reading"},
		{arg: "noread/new", open: missingText, at: "noread/new: nothing", portable: denied, whyNotTheSame: "as above"},
		{arg: "to-noread", open: "root/noread/f (linked)", at: "noread/f: file (linked)", portable: denied, whyNotTheSame: "as above"},
		{arg: "noread", open: isDirText, at: "noread: directory"},
		{arg: "nosearch/f", open: denied, at: denied},
		{arg: "nosearch/new/new", open: denied, at: denied},
		{arg: "to-nosearch", open: denied, at: denied},
		{arg: "nosearch", open: isDirText, at: "nosearch: directory"},
		{arg: "to-private", open: leavesText, at: leavesText},
		{arg: "to-shut", open: leavesText, at: leavesText},
		{arg: "to-shut-missing", open: leavesText, at: leavesText},
	}
	onBoth(t, func(t *testing.T, dir string, o opener) {
		plantModes(t, dir)
		r := o.root(t, dir+"/root")
		for _, tt := range tests {
			if o.name == "os.Root" && tt.portable != "" {
				tt.open, tt.at = tt.portable, tt.portable
			}
			look := contractCase{arg: tt.arg, open: tt.open, at: tt.at}
			var open, at string
			asPlainUser(t, func() {
				open = opened(t, r, dir, tt.arg)
				loc, err := r.Resolve("path", tt.arg)
				at = located(t, dir, tt.arg, loc, err)
			})
			for got, want := range map[string]string{open: look.open, at: look.at} {
				if want = strings.ReplaceAll(want, "ARG", Quote(tt.arg)); got != want {
					t.Errorf("%s: got %s, want %s", tt.arg, got, want)
				}
			}
		}
		for _, arg := range []string{"noread", "nosearch"} {
			asPlainUser(t, func() {
				loc, err := r.Resolve("path", arg)
				must(t, err)
				defer loc.Close()
				d, err := loc.OpenDir()
				if err == nil {
					_, err = d.Entries()
					d.Close()
				}
				if got, want := refusal(t, dir, arg, Explain(arg, err)), "permission denied: '"+arg+"'"; got != want {
					t.Errorf("list: got %s, want %s", got, want)
				}
			})
		}
	})
}

func plantModes(t *testing.T, dir string) {
	t.Helper()
	plant(
		t, dir, "root/open/f", "root/open/private", "root/noread/f", "root/nosearch/f", "root/to-noread => noread/f",
		"root/to-nosearch => nosearch/f", "shut/f", "private", "root/to-private => ../private", "root/to-shut => ../shut/f",
		"root/to-shut-missing => ../shut/new",
	)
	// A temporary directory is its maker's own.
	must(t, os.Chmod(dir+"/..", 0o755))
	for path, mode := range map[string]os.FileMode{
		"root/open/private": 0o200, "root/noread": 0o311, "root/nosearch": 0o644, "private": 0o200, "shut": 0o600,
	} {
		must(t, os.Chmod(dir+"/"+path, mode))
	}
	t.Cleanup(func() {
		for _, path := range []string{"root/noread", "root/nosearch", "shut"} {
			os.Chmod(dir+"/"+path, 0o777)
		}
	})
}
