//go:build unix

package confine

import "golang.org/x/sys/unix"

// ignoringEINTR repeats a system call that a signal has cut short; Go's own preemption is one.
func ignoringEINTR(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
