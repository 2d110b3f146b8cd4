package revision

import (
	"slices"

	"lookfirst/fsmcp/confine"
)

// batch is a run of entries in the order of the walk.
type batch struct {
	entries []batchEntry
	paths   []byte         // of all entries, end to end
	dirs    []*confine.Dir // that hold its files and links, each retained once

	records []byte // what the worker made of them
	err     error
	done    chan struct{} // one value from the worker
}

type batchEntry struct {
	dir  *confine.Dir // for a file or a link
	kind confine.Kind
	name string
	nth  uint32
	ino  uint64
	path int // end of its path in paths
}

func newBatch() *batch {
	const path, record = 32, 96 // bytes of one, or less
	return &batch{
		entries: make([]batchEntry, 0, batchEntries),
		paths:   make([]byte, 0, path*batchEntries),
		records: make([]byte, 0, record*batchEntries),
		done:    make(chan struct{}, 1),
	}
}

// holds says whether the batch has retained the directory.
func (b *batch) holds(d *confine.Dir) bool { return slices.Contains(b.dirs, d) }

// add appends the record of an entry.
func (b *batch) add(kind byte, path, payload []byte) {
	b.records = append(append(b.records, kind, 0), path...)
	b.records = append(append(append(b.records, 0), payload...), 0)
}

// release gives back the directories and what else is not for the next filling.
func (b *batch) release() {
	for _, d := range b.dirs {
		d.Close()
	}
	clear(b.entries)
	clear(b.dirs)
	b.entries, b.dirs, b.paths = b.entries[:0], b.dirs[:0], b.paths[:0]
}
