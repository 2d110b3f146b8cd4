package confine

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watchOpens counts how often the given files have been opened since it was called.
func watchOpens(t *testing.T, paths ...string) (count func() int) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	must(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	for _, path := range paths {
		_, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN)
		must(t, err)
	}
	return func() int {
		opens := 0
		buf := make([]byte, 64<<10)
		for {
			n, err := unix.Read(fd, buf)
			if err != nil || n == 0 {
				return opens
			}
			for rest := buf[:n]; len(rest) > 0; opens++ {
				e := (*unix.InotifyEvent)(unsafe.Pointer(&rest[0]))
				rest = rest[unix.SizeofInotifyEvent+int(e.Len):]
			}
		}
	}
}

// TestSpecialFilesAreNeverOpened asks the kernel, since opening a device may act: rewind a tape, hang up a line (D12).
func TestSpecialFilesAreNeverOpened(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string, o opener) {
		names := plantEveryKind(t, dir+"/root")
		var special, paths []string
		for name, kind := range names {
			if kind != Regular && kind != Directory && kind != Link {
				special, paths = append(special, name), append(paths, dir+"/root/"+name)
			}
		}
		r := o.root(t, dir+"/root")
		opens := watchOpens(t, paths...)
		for _, name := range special {
			opened(t, r, dir, name)
			loc := entryOf(t, r, name)
			loc.Open()
			loc.OpenDir()
			loc.Access()
			loc.Parent().OpenFile(name)
			loc.Parent().OpenDir(name)
		}
		must(t, r.dir.Walk(t.Context(), ByPath, func(s *Step) error { return s.Err }))
		if n := opens(); n != 0 {
			t.Errorf("they have been opened %d times", n)
		}
		fd, err := unix.Open(dir+"/root/fifo", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		must(t, err)
		unix.Close(fd)
		if n := opens(); n != 1 {
			t.Errorf("an open that there was is counted as %d", n)
		}
	})
}

// TestUnknownKinds covers the file systems that tell no kind with the names of a directory.
func TestUnknownKinds(t *testing.T) {
	dir := physicalTemp(t)
	names := plantEveryKind(t, dir)
	h, err := openRootHandle(dir)
	must(t, err)
	defer h.close()
	d, ok := h.(fdDir)
	if !ok {
		t.Skip("openat2 is not to be had here")
	}
	list, err := d.entries(t.Context(), nil)
	must(t, err)
	for i := range list {
		list[i].Kind = kindUnknown
	}
	list = append(list, Entry{Name: "gone", Kind: kindUnknown})
	got, err := d.resolveUnknown(t.Context(), list)
	must(t, err)
	if len(got) != len(names) {
		t.Errorf("got %v, want %v", got, names)
	}
	for _, e := range got {
		if e.Kind != names[e.Name] {
			t.Errorf("%s: got a %s, want a %s", e.Name, e.Kind, names[e.Name])
		}
	}
}
