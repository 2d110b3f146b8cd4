package repomap

import (
	"slices"
	"strings"
)

// nameID stands for a name. Numbers make the graph a matter of flat arrays; keyed by strings it took forty times as long.
type nameID uint32

// noName is the number of the empty name.
const noName nameID = 0

// names numbers names. It only grows; see [cache.renumber].
type names struct {
	ids map[string]nameID
	of  []string
}

func newNames() *names { return &names{ids: map[string]nameID{}, of: []string{""}} }

// expect makes room for about so many, before there are any: growing step by step takes as long as the rest.
func (n *names) expect(count int) {
	if len(n.ids) == 0 {
		n.ids = make(map[string]nameID, count)
		n.of = slices.Grow(n.of, count)
	}
}

// id is the number of a name, which may be part of a larger text: that is not kept alive.
func (n *names) id(name string) nameID {
	if name == "" {
		return noName
	}
	if id, ok := n.ids[name]; ok {
		return id
	}
	name = strings.Clone(name)
	id := nameID(len(n.of))
	n.ids[name] = id
	n.of = append(n.of, name)
	return id
}
