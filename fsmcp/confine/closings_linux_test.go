package confine

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// descriptors opens some files, whose numbers are mostly neighbours.
func descriptors(t *testing.T, n int) []int {
	t.Helper()
	fds := make([]int, n)
	for i := range fds {
		fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		fds[i] = fd
	}
	return fds
}

func isOpen(fd int) bool {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil
}

func TestClosingsSpareOthers(t *testing.T) {
	fds := descriptors(t, 40)
	theirs := map[int]bool{fds[0]: true, fds[7]: true, fds[8]: true, fds[39]: true}
	var ours []int
	for i := range fds {
		if fd := fds[len(fds)-1-i]; !theirs[fd] {
			ours = append(ours, fd)
		}
	}
	closeAll(ours)
	for _, fd := range ours {
		if isOpen(fd) {
			t.Errorf("descriptor %d is still open", fd)
		}
	}
	for fd := range theirs {
		if !isOpen(fd) {
			t.Errorf("descriptor %d is somebody else's and was closed", fd)
		}
		unix.Close(fd)
	}
}

func TestClosingsKeepFew(t *testing.T) {
	var c Closings
	fds := descriptors(t, 3*closingsRoom()+1)
	for i, fd := range fds {
		c.add(fd)
		if len(c.fds) >= closingsRoom() {
			t.Fatalf("%d descriptors are kept after %d", len(c.fds), i+1)
		}
	}
	if !isOpen(fds[len(fds)-1]) && closingsRoom() > 1 {
		t.Error("the last descriptor was closed by itself")
	}
	c.Flush()
	c.Flush()
	for _, fd := range fds {
		if isOpen(fd) {
			t.Errorf("descriptor %d is still open", fd)
		}
	}
}
