package confine

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// nobody is a user who owns nothing here.
const nobody = 65534

// asPlainUser runs act with the rights of a user who is not root. The file system's idea of the user belongs to a thread,
// so nothing else in the process is touched, and act must start no goroutine. A plain user stays who he is.
func asPlainUser(t *testing.T, act func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		act()
		return
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // And never unlock: the thread ends with the goroutine.
		defer close(done)
		unix.SetfsgidRetGid(nobody)
		unix.SetfsuidRetUid(nobody)
		if uid, _ := unix.SetfsuidRetUid(-1); uid != nobody {
			done <- unix.EPERM
			return
		}
		act()
	}()
	if err := <-done; err != nil {
		t.Fatalf("become a plain user: %v", err)
	}
}

// inMountNamespace runs act where it may mount what it likes, and nobody else sees it.
func inMountNamespace(t *testing.T, act func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // And never unlock: the namespace ends with the thread.
		defer close(done)
		err := unix.Unshare(unix.CLONE_NEWNS)
		if err == nil {
			err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		}
		if err != nil {
			done <- err
			return
		}
		act()
	}()
	if err := <-done; err != nil {
		t.Skipf("a private mount namespace is not to be had: %v", err)
	}
}

// openDescriptors counts what this process has open, the counting itself left out.
func openDescriptors(t testing.TB) int {
	t.Helper()
	f, err := os.Open("/proc/self/fd")
	must(t, err)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	must(t, err)
	return len(names) - 1
}
