package fsmcp

import "sync"

const (
	// leastKept is the size from which a buffer is kept, in bytes. Smaller ones cost less than keeping them.
	leastKept = 64 << 10
	// mostKept is the size up to which one is kept: a single large file must not hold memory for good.
	mostKept = 4 << 20
)

// buffers keeps those that files were read into, for the next ones. A buffer of a megabyte that is made anew for each read
// costs a third of the read's time: the system fills it with zeros page by page, and the collector runs after every few.
// It may be used from several goroutines.
type buffers struct{ pool sync.Pool }

// take gives an empty buffer with room for size bytes, and one more to notice the end.
func (p *buffers) take(size int64) []byte {
	if size >= leastKept && size < mostKept {
		if b, ok := p.pool.Get().(*[]byte); ok && int64(cap(*b)) > size {
			return (*b)[:0]
		}
		size = (size/leastKept+1)*leastKept - 1 // Files of about the same size can use it.
	}
	return make([]byte, 0, size+1)
}

// giveBack makes the function that gives a buffer back, when nobody has a part of it any more. For one that is not worth
// it, that is nil.
func (p *buffers) giveBack(b []byte) func() {
	if cap(b) < leastKept || cap(b) > mostKept {
		return nil
	}
	return func() { p.pool.Put(&b) }
}
