//go:build !linux

package confine

func readSeen(h handle, name string, buf []byte) (int, *File, error) {
	return readSeenSlowly(h, name, buf)
}
