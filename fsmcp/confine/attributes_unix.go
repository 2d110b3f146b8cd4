//go:build linux || darwin

package confine

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// accessList is the attribute in which Linux keeps the access list of a file. What else stands under "system." are
// access lists of other file systems. On macOS an access list is no attribute and is not kept.
const (
	accessList   = "system.posix_acl_access"
	systemPrefix = "system."
)

// aboutContent are attributes that vouch for the bytes of the old file and must not vouch for others: the kernel takes
// file capabilities off at every write, and IMA and EVM keep hashes.
var aboutContent = [...]string{"security.capability", "security.ima", "security.evm"}

// keepAttributes gives f the extended attributes of old. An access list is given or the error is a [KeepError]; so is one
// taken off that f has from its directory's default and old has not. Other attributes come along where they can.
func keepAttributes(f, old *os.File) error {
	to, from := int(f.Fd()), int(old.Fd())
	names, err := attributes(from)
	if err != nil {
		return &KeepError{What: "access list", Err: err}
	}
	for _, name := range names {
		if slices.Contains(aboutContent[:], name) {
			continue
		}
		value, err := attribute(from, name)
		if err == nil {
			err = ignoringEINTR(func() error { return unix.Fsetxattr(to, name, value, 0) })
		}
		if err != nil && strings.HasPrefix(name, systemPrefix) {
			return &KeepError{What: "access list", Err: err}
		}
	}
	if slices.Contains(names, accessList) {
		return nil
	}
	return dropAccessList(to)
}

func dropAccessList(fd int) error {
	inherited, err := attributes(fd)
	if err == nil && slices.Contains(inherited, accessList) {
		err = ignoringEINTR(func() error { return unix.Fremovexattr(fd, accessList) })
	}
	if err != nil {
		return &KeepError{What: "access list", Err: err}
	}
	return nil
}

// attributes lists the names. A file system without attributes has none.
func attributes(fd int) ([]string, error) {
	list, err := grown(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
		return nil, nil
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return strings.Split(string(bytes.TrimSuffix(list, []byte{0})), "\x00"), nil
}

func attribute(fd int, name string) ([]byte, error) {
	return grown(func(buf []byte) (int, error) { return unix.Fgetxattr(fd, name, buf) })
}

// grown calls read with a buffer that is large enough. Lists and values are at most 64 KiB on Linux; macOS has longer
// ones, and what is longer than a megabyte is an error.
func grown(read func([]byte) (int, error)) ([]byte, error) {
	for size := 256; ; size *= 16 {
		buf := make([]byte, size)
		var n int
		err := ignoringEINTR(func() (err error) {
			n, err = read(buf)
			return err
		})
		if err == nil {
			return buf[:n], nil
		}
		if !errors.Is(err, unix.ERANGE) || size > 1<<20 {
			return nil, err
		}
	}
}
