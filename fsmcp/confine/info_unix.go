//go:build unix && !linux

package confine

import (
	"io/fs"
	"os"
	"syscall"
)

// nonBlocking keeps an open from waiting for the other end of a FIFO.
const nonBlocking = syscall.O_NONBLOCK

func openRootHandle(path string) (handle, error) { return openPortable(path) }

func portableInfo(fi fs.FileInfo) Info {
	info := basicInfo(fi)
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		info.ID = ID{Dev: uint64(st.Dev), Ino: uint64(st.Ino)}
		info.ChangeTime = changeTime(st)
		info.Links = uint64(st.Nlink)
		info.UID, info.GID = st.Uid, st.Gid
	}
	return info
}

// identify says what is at a physical path now, for comparison with what was opened.
func identify(path string) (ID, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return ID{}, err
	}
	return portableInfo(fi).ID, nil
}
