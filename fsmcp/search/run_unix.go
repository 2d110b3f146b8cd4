//go:build unix

package search

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a program and what it starts end together: a wrapper script's child would go on otherwise.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
