package revision

import (
	"context"
	"crypto/sha256"
	"hash"
	"io"
	"sync/atomic"

	"lookfirst/fsmcp/confine"
)

// bufferSize is the size of each of the two buffers of a traversal, in bytes.
const bufferSize = 64 << 10

// bufferFor is how large a buffer reads a file of the given size best: with one byte to spare, so that a single read
// shows the end of a small file.
func bufferFor(size int64) int64 { return min(max(size, 0)+1, bufferSize) }

// pass is one goroutine's hashing of one file or of many, with one buffer.
type pass struct {
	ctx  context.Context
	memo *memo
	why  occasion
	when moment        // read before the files were looked at
	left *atomic.Int64 // bytes that all passes of a traversal may still read; nil without a limit
	buf  []byte        // if nil, made with bufferSize when a file is read
	sum  hash.Hash     // made when a file does not fit in buf
	// found is the place in the memo of the last digest that was asked for there.
	found int
}

// file hashes a file that has just been opened, and remembers the digest if the file stood still meanwhile. A file that
// changes while it is read has the digest of what was read.
func (p *pass) file(f *confine.File) (d digest, err error) {
	if err := p.ctx.Err(); err != nil {
		return d, err
	}
	before := f.Info()
	if err := p.spend(before.Size); err != nil {
		return d, err
	}
	if p.buf == nil {
		p.buf = make([]byte, bufferSize)
	}
	n, err := f.Read(p.buf)
	if err != nil && err != io.EOF {
		return d, err
	}
	// One read that gave what the file had, with room for more, was the whole file: a second to see the end is spared.
	read := int64(n)
	if read == before.Size && n < len(p.buf) {
		d = sha256.Sum256(p.buf[:n])
	} else if d, read, err = p.stream(f, n, before.Size); err != nil {
		return d, err
	}
	if read == before.Size && p.when.covers(before) {
		if after, err := f.Stat(); err == nil && after.Same(before) {
			p.memo.put(after, d, p.when, p.why)
		}
	}
	return d, nil
}

// stream hashes the n bytes in buf and what follows them, and counts them. What a file has beyond paid bytes is taken
// from the budget as it comes: one that grows, or that does not tell its size, would have no bound otherwise.
func (p *pass) stream(f *confine.File, n int, paid int64) (d digest, read int64, err error) {
	if p.sum == nil {
		p.sum = sha256.New()
	}
	p.sum.Reset()
	for {
		p.sum.Write(p.buf[:n])
		read += int64(n)
		if read > paid {
			if err := p.spend(read - paid); err != nil {
				return d, read, err
			}
			paid = read
		}
		if err := p.ctx.Err(); err != nil {
			return d, read, err
		}
		n, err = f.Read(p.buf)
		if err == io.EOF {
			p.sum.Sum(d[:0])
			return d, read, nil
		}
		if err != nil {
			return d, read, err
		}
	}
}

func (p *pass) spend(n int64) error {
	if p.left != nil && p.left.Add(-n) < 0 {
		return errBudget
	}
	return nil
}
