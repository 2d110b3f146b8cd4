package repomap

import (
	"encoding/binary"
	"errors"
	"slices"
)

// errDamaged means that stored bytes are not what was written.
var errDamaged = errors.New("damaged")

// encode appends the stored form of tags: a byte that says whether there are any, then three lists, each after its
// length. Numbers are varints and strings stand after their lengths. A definition's text that is that of the one before
// is stored as an empty one.
func encode(b []byte, t *Tags) []byte {
	if t == nil {
		return append(b, 0)
	}
	b = binary.AppendUvarint(append(b, 1), uint64(len(t.Definitions)))
	last := ""
	for _, d := range t.Definitions {
		text := d.Text
		if text == last {
			text = ""
		}
		last = d.Text
		flags := uint64(d.Kind) << 1
		if d.Own {
			flags |= 1
		}
		b = appendString(b, d.Name)
		b = binary.AppendUvarint(b, uint64(d.Line))
		b = binary.AppendUvarint(b, flags)
		b = appendString(b, text)
	}
	b = binary.AppendUvarint(b, uint64(len(t.References)))
	for _, r := range t.References {
		b = appendString(b, r.Name)
		b = appendString(b, r.Package)
		b = binary.AppendUvarint(b, uint64(r.Count))
	}
	b = binary.AppendUvarint(b, uint64(len(t.Modules)))
	for _, m := range t.Modules {
		b = appendString(b, m)
	}
	return appendString(b, t.Package)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decode is the reverse of encode. It takes any bytes without harm, and says when they are damaged. The lists are made
// in the room that those of t have.
func decode(s string, t *Tags) (*Tags, error) {
	d := decoder{rest: s}
	if d.number(1) == 0 {
		return nil, d.end()
	}
	*t = Tags{Definitions: t.Definitions[:0], References: t.References[:0], Modules: t.Modules[:0]}
	last := ""
	count := d.length(4)
	t.Definitions = slices.Grow(t.Definitions, count)
	for range count {
		def := Definition{Name: d.string(), Line: int(d.number(maxFile + 1))}
		flags := d.number(2*uint64(ValueKind) + 1)
		def.Kind, def.Own, def.Text = Kind(flags>>1), flags&1 != 0, d.string()
		if def.Text == "" {
			def.Text = last
		}
		last = def.Text
		if len(def.Text) > maxText {
			return nil, errDamaged
		}
		t.Definitions = append(t.Definitions, def)
	}
	count = d.length(3)
	t.References = slices.Grow(t.References, count)
	for range count {
		t.References = append(t.References, Reference{Name: d.string(), Package: d.string(), Count: int(d.number(maxFile))})
	}
	for range d.length(1) {
		t.Modules = append(t.Modules, d.string())
	}
	t.Package = d.string()
	return t, d.end()
}

// maxText is more bytes than a definition's line can have: a number in the cache is that small.
const maxText = 1<<16 - 1

// decoder takes a stored form apart. After damage everything is empty.
type decoder struct {
	rest    string
	damaged bool
}

// number is the next number, which is at most limit.
func (d *decoder) number(limit uint64) uint64 {
	if len(d.rest) > 0 && d.rest[0] < 0x80 && uint64(d.rest[0]) <= limit {
		v := uint64(d.rest[0])
		d.rest = d.rest[1:]
		return v
	}
	var v uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		v |= uint64(d.rest[i]&0x7f) << (7 * i)
		if d.rest[i] < 0x80 {
			if v > limit {
				break
			}
			d.rest = d.rest[i+1:]
			return v
		}
	}
	d.damaged, d.rest = true, ""
	return 0
}

func (d *decoder) string() string {
	n := d.number(uint64(len(d.rest)))
	if n > uint64(len(d.rest)) {
		d.damaged, d.rest = true, ""
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

// length is the length of a list of which each item takes at least so many bytes: no more are promised than can be.
func (d *decoder) length(least int) int { return int(d.number(uint64(len(d.rest) / least))) }

func (d *decoder) end() error {
	if d.damaged || d.rest != "" {
		return errDamaged
	}
	return nil
}
