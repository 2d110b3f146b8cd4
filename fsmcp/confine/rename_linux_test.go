package confine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestRenameWithoutNoReplace covers the file systems that have no RENAME_NOREPLACE, of which there is none to try here.
func TestRenameWithoutNoReplace(t *testing.T) {
	for _, to := range []string{"new", "e/new", "g", "l", "dangling", "e", "full"} {
		for _, from := range []string{"f", "l", "dangling", "full", "e2", "fifo", "nothing"} {
			t.Run(from+" to "+to, func(t *testing.T) {
				var got [2]map[string]string
				var errs [2]error
				for i, rename := range []func(d fdDir, name string, to handle, toName string) error{
					fdDir.rename,
					func(d fdDir, name string, to handle, toName string) error {
						return renameChecked(d, name, to.(fdDir), toName)
					},
				} {
					dir := physicalTemp(t)
					plant(t, dir, "f", "g", "e/", "e2/", "full/x", "l => f", "dangling => nowhere")
					must(t, unix.Mkfifo(dir+"/fifo", 0o666))
					r := opener{"openat2", openRootHandle}.root(t, dir)
					if _, ok := r.dir.h.(fdDir); !ok {
						t.Skip("openat2 is not to be had here")
					}
					src, dst := entryOf(t, r, from), entryOf(t, r, to)
					errs[i] = rename(src.dir.h.(fdDir), src.Name(), dst.dir.h, dst.Name())
					got[i] = snapshot(t, dir)
				}
				if errs[0] != errs[1] {
					t.Errorf("got %v, want %v", errs[1], errs[0])
				}
				if diff := cmp.Diff(got[0], got[1]); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
}
