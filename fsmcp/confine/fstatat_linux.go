//go:build amd64 || arm64

package confine

import (
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fstatat is [unix.Fstatat] without a copy of the name in the heap: of the time in which a thousand files are looked at, that
// is a twentieth.
func fstatat(dir int, name string, st *unix.Stat_t, flags int) error {
	var path [unix.NAME_MAX + 1]byte // ends in a NUL, as it is zero where the name is not
	if len(name) >= len(path) || strings.IndexByte(name, 0) >= 0 {
		return unix.Fstatat(dir, name, st, flags) // A path or a rare long name; or it is refused.
	}
	copy(path[:], name)
	_, _, errno := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(dir), uintptr(unsafe.Pointer(&path)), uintptr(unsafe.Pointer(st)), uintptr(flags), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
