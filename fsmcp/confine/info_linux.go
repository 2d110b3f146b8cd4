package confine

import (
	"io/fs"
	"syscall"
)

// nonBlocking keeps an open from waiting for the other end of a FIFO.
const nonBlocking = syscall.O_NONBLOCK

func portableInfo(fi fs.FileInfo) Info {
	info := basicInfo(fi)
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		info.ID = ID{Dev: uint64(st.Dev), Ino: st.Ino}
		info.ChangeTime = st.Ctim.Nano()
		info.Links = uint64(st.Nlink)
		info.UID, info.GID = st.Uid, st.Gid
	}
	return info
}
