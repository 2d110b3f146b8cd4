package confine

import "golang.org/x/sys/unix"

func (d fdDir) mayRead(name string) error {
	return ignoringEINTR(func() error { return unix.Faccessat(int(d), name, unix.R_OK, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW) })
}
