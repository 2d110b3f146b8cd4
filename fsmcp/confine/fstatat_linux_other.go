//go:build linux && !amd64 && !arm64

package confine

import "golang.org/x/sys/unix"

func fstatat(dir int, name string, st *unix.Stat_t, flags int) error {
	return unix.Fstatat(dir, name, st, flags)
}
