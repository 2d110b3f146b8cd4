package confine

import (
	"testing"

	"golang.org/x/sys/unix"
)

// openers are both handles, or the portable one alone where a sandbox knows no openat2.
func openers(t testing.TB) []opener {
	t.Helper()
	portable := opener{"os.Root", openPortable}
	h, err := openRootHandle("/")
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if _, ok := h.(fdDir); !ok {
		t.Log("openat2 is not to be had here")
		return []opener{portable}
	}
	return []opener{{"openat2", openRootHandle}, portable}
}

// makeDevice makes another /dev/null, which takes privileges.
func makeDevice(path string) error {
	return unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3)))
}
