//go:build unix

package compat

import (
	"os"
	"syscall"
	"testing"
)

func TestSpecialFiles(t *testing.T) {
	s := open(t, map[string]string{"l": "=> pipe"})
	if err := syscall.Mkfifo(s.path("pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "l"} {
		s.want(s.call("read_file", args{"path": name}), true, "Cannot read '"+name+"': this device file would block or produce infinite output.")
		s.want(s.call("write_file", args{"path": name, "content": "x"}), true, "Cannot write '"+name+"': this device file would block or produce infinite output.")
		s.want(s.call("edit_file", args{"path": name, "old_string": "x", "new_string": "y"}), true, "Cannot read '"+name+"': this device file would block or produce infinite output.")
	}
	everywhere := open(t, nil, func(o *Options) { o.Confine = func() bool { return false } })
	everywhere.want(everywhere.call("read_file", args{"path": "/dev/zero"}), true, "Cannot read '/dev/zero': this device file would block or produce infinite output.")
}

func TestRootGone(t *testing.T) {
	s := open(t, map[string]string{"f": "x"})
	if err := os.Rename(s.root, s.root+"-moved"); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(s.root + "-moved")
	for tool, a := range map[string]args{"read_file": {"path": "f"}, "list_files": {"path": "."}, "write_file": {"path": "f", "content": ""}} {
		s.want(s.call(tool, a), true, "the root directory has gone")
	}
}
