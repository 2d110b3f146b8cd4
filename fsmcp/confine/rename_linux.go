package confine

import (
	"errors"

	"golang.org/x/sys/unix"
)

func (d fdDir) rename(name string, to handle, toName string) error {
	dst, ok := to.(fdDir)
	if !ok {
		return errors.ErrUnsupported
	}
	err := ignoringEINTR(func() error {
		return unix.Renameat2(int(d), name, int(dst), toName, unix.RENAME_NOREPLACE)
	})
	if err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOTSUP {
		return renameChecked(d, name, dst, toName)
	}
	return err
}

// renameChecked renames where the file system has no RENAME_NOREPLACE (NFS, FUSE, 9p). A hard link never replaces, so
// a file moves safely. For a directory, and where there are no hard links either, a check comes first: an empty directory,
// or a file, that appears after it is replaced.
func renameChecked(from fdDir, name string, to fdDir, toName string) error {
	info, err := from.stat(name)
	if err != nil {
		return err
	}
	if info.Kind != Directory {
		err := ignoringEINTR(func() error { return unix.Linkat(int(from), name, int(to), toName, 0) })
		if err == nil {
			if err = from.remove(name, info.Kind); err != nil {
				to.remove(toName, info.Kind)
			}
			return err
		}
		if !noHardLinks(err) {
			return err
		}
	}
	if _, err := to.stat(toName); err != unix.ENOENT {
		if err == nil {
			err = unix.EEXIST
		}
		return err
	}
	return ignoringEINTR(func() error { return unix.Renameat(int(from), name, int(to), toName) })
}

// noHardLinks says whether an error of a link means that there are none to be had, or not for us: EPERM is also what a
// kernel that protects other users' files says, and EMLINK that a file has as many as it can.
func noHardLinks(err error) bool {
	return err == unix.EPERM || err == unix.EOPNOTSUPP || err == unix.ENOSYS || err == unix.EMLINK
}
