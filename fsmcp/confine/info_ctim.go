//go:build unix && !linux && !darwin && !freebsd && !netbsd

package confine

import "syscall"

func changeTime(st *syscall.Stat_t) int64 { return int64(st.Ctim.Sec)*1e9 + int64(st.Ctim.Nsec) }
