package revision

import "lookfirst/fsmcp/confine"

// aloneBatches is for how many batches the walk goes on alone. To hand a thousand remembered files over to workers makes
// them slower on a busy machine, and tens of thousands faster.
const aloneBatches = 32

// mayStayAlone says whether the batch is one of the first and not likely to have files that must be read.
func (t *traversal) mayStayAlone(b *batch) bool {
	if t.alone >= aloneBatches || !t.use.digests {
		return false
	}
	for _, e := range [...]batchEntry{b.entries[0], b.entries[len(b.entries)-1]} {
		if e.kind == confine.Regular && !t.memo.mayKnow(e.ino) {
			return false
		}
	}
	return true
}

// doAlone does a batch, and leaves it to be filled again.
func (t *traversal) doAlone(b *batch) error {
	if t.pass == nil {
		t.pass = t.newPass()
	}
	t.alone++
	t.pass.when = t.memo.clock()
	err := t.hashBatch(b, t.pass)
	t.sum.Write(b.records)
	b.records = b.records[:0]
	b.release()
	return err
}
