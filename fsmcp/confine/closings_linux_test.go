package confine

import (
	"os"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
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

func TestClosingsFindRuns(t *testing.T) {
	var got [][2]int
	for first, last := range runsOf([]int{9, 3, 4, 7, 5, 12, 8}) {
		got = append(got, [2]int{first, last})
	}
	if diff := gocmp.Diff([][2]int{{3, 5}, {7, 9}, {12, 12}}, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// As where the system cannot close a run.
func TestCloseEach(t *testing.T) {
	fds := descriptors(t, 5)
	slices.Sort(fds)
	if fds[4] != fds[0]+4 {
		t.Skip("the descriptors are no neighbours")
	}
	closeEach(fds[1], fds[3])
	for i, fd := range fds {
		if want := i == 0 || i == 4; isOpen(fd) != want {
			t.Errorf("descriptor %d is open: %t", i, !want)
		}
	}
	closeEach(fds[0], fds[0])
	closeEach(fds[4], fds[4])
}

// A search that has run out of descriptors closes those that wait for it.
func TestReadSeenWithoutDescriptors(t *testing.T) {
	dir := physicalTemp(t)
	plant(t, dir, "f")
	h, err := openRootHandle(dir)
	must(t, err)
	d := newDir(h)
	defer d.Close()
	var c Closings
	n := closingsRoom() - 1
	if n < 1 {
		t.Skip("the limit is too low for descriptors to wait")
	}
	for _, fd := range descriptors(t, n) {
		c.add(fd)
	}
	var before unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	fds := descriptors(t, 1)
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(fds[0]), Max: before.Max}))
	_, _, without := d.ReadSeen("f", make([]byte, 8), new(Closings))
	_, _, with := d.ReadSeen("f", make([]byte, 8), &c)
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &before))
	unix.Close(fds[0])
	c.Flush()
	if without != unix.EMFILE || with != nil {
		t.Errorf("got %v with nothing to close, and %v with something; want %v and none", without, with, unix.EMFILE)
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
