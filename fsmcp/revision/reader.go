package revision

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"

	"lookfirst/fsmcp/confine"
)

// Reader reads a file and hashes it on the way, so that an answer and its token are of the same bytes. Where the
// digest is remembered the hashing is spared. It is for one goroutine.
type Reader struct {
	ctx  context.Context
	memo *memo
	f    *confine.File
	when moment

	sum   hash.Hash // nil when the digest was remembered
	known digest    // what was remembered
	read  int64
	end   bool
}

// NewReader starts reading f, which must just have been opened and stays the caller's to close.
func (h *Hasher) NewReader(ctx context.Context, f *confine.File) *Reader {
	r := &Reader{ctx: ctx, memo: h.memo, f: f, when: h.memo.clock()}
	var place int
	if r.known, place = h.memo.get(f.Info(), r.when, none); place == none {
		r.sum = sha256.New()
	}
	return r
}

// Read is that of [io.Reader]. It fails with ctx's error when that is done.
func (r *Reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.f.Read(p)
	if r.sum != nil {
		r.sum.Write(p[:n])
	}
	r.read += int64(n)
	// One read that gave what the file had, with room for more, has reached its end, unless it has grown since: that is
	// found in the end, or is a change after the read.
	if err == nil && n < len(p) && r.read == r.f.Info().Size {
		err = io.EOF
	}
	r.end = r.end || err == io.EOF
	return n, err
}

// Revision is that of the whole file; what has not been read yet is read now. It is of the file itself: where a link
// led to it, [Hasher.Through] gives the location's. A file that cannot be read on is [Unknown], and so is one whose
// digest was remembered when it was opened and that has changed since.
func (r *Reader) Revision() Revision {
	d, err := r.finish()
	if err != nil {
		return Revision{State: Unknown}
	}
	return revisionOf(File, d)
}

// finish reads to the end and remembers the digest if the file stood still meanwhile. A file that changes while it is
// read has the digest of what was read: that is the answer's, and no other's.
func (r *Reader) finish() (d digest, err error) {
	if r.sum == nil {
		return r.known, r.stillSame()
	}
	if err := r.readOn(); err != nil {
		return d, err
	}
	r.sum.Sum(d[:0])
	if r.when.covers(r.f.Info()) && r.read == r.f.Info().Size && r.stillSame() == nil {
		r.memo.put(r.f.Info(), d, r.when, alone)
	}
	return d, nil
}

func (r *Reader) readOn() error {
	if r.end {
		return nil
	}
	buf := make([]byte, bufferFor(r.f.Info().Size-r.read))
	for !r.end {
		if _, err := r.Read(buf); err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}

func (r *Reader) stillSame() error {
	after, err := r.f.Stat()
	if err == nil && !after.Same(r.f.Info()) {
		err = errChanged
	}
	return err
}

// errChanged means that a file whose digest was remembered changed while it was read: then nothing was hashed.
var errChanged = errors.New("changed while it was read")
