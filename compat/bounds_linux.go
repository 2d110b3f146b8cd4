package compat

import "golang.org/x/sys/unix"

const (
	// maxProgramMemory is how much address space a program that reads a PDF may take, in bytes.
	maxProgramMemory = 1 << 30
	// maxProgramTime is how long it may compute, in seconds.
	maxProgramTime = 10
)

// bound sets the limits of another process of ours, of its memory too if it is not one that watches itself: Go reserves
// more address space than it uses. How long it is waited for is bound elsewhere, so nothing hangs on this.
func bound(pid int, memory bool) {
	limit := func(resource int, n uint64) {
		_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: n, Max: n}, nil)
	}
	limit(unix.RLIMIT_CPU, maxProgramTime)
	limit(unix.RLIMIT_FSIZE, 0)
	limit(unix.RLIMIT_CORE, 0)
	if memory {
		limit(unix.RLIMIT_AS, maxProgramMemory)
	}
}

// boundSelf sets the limit of this process, should nobody be left to end it.
func boundSelf() {
	_ = unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: maxProgramTime, Max: maxProgramTime})
}
