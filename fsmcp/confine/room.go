package confine

import "sync"

// mostRoom bounds what is kept to be used again, in entries.
const mostRoom = 1 << 12

// rooms holds room for entries that are in no one's hands for long: what a list needs while it is read or sorted is more than
// the list.
var rooms = sync.Pool{New: func() any { return new(room) }}

type room struct{ list []Entry }

// getRoom gives an empty one.
func getRoom() *room { return rooms.Get().(*room) }

// put gives it back, with no name in it: a name keeps all that it was read with.
func (r *room) put() {
	if cap(r.list) > mostRoom {
		return
	}
	clear(r.list)
	r.list = r.list[:0]
	rooms.Put(r)
}
