package confine

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// direntBuffers holds buffers for getdents64; 32 KiB take about a thousand names a call.
var direntBuffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

func (d fdDir) entries(ctx context.Context, told listener) ([]Entry, error) {
	// The descriptor may be an O_PATH one, which needs no read permission and cannot list.
	h, err := d.enter(".", unix.O_RDONLY|always, anyMount)
	if err != nil {
		return nil, err
	}
	defer h.close()
	return readEntries(ctx, h.(fdDir), told)
}

func (d fdDir) list(ctx context.Context, name string, within mounts) (handle, []Entry, error) {
	h, err := d.enter(name, unix.O_RDONLY|always, within)
	if err != nil {
		return nil, nil, err
	}
	list, err := readEntries(ctx, h.(fdDir), nil)
	if err != nil {
		h.close()
		return nil, nil, err
	}
	return h, list, nil
}

// readEntries looks at the context between two calls, each of which gives about a thousand names, or a piece of them.
func readEntries(ctx context.Context, d fdDir, told listener) ([]Entry, error) {
	const piece = 8 << 10 // bytes; the first names are told of after a quarter of the time
	pooled := direntBuffers.Get().(*[]byte)
	defer direntBuffers.Put(pooled)
	buf := *pooled
	if told != nil {
		buf = buf[:piece]
	}
	room := getRoom()
	defer room.put()
	for {
		n, err := unix.Getdents(int(d), buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, err
		case n == 0:
			list, err := d.resolveUnknown(ctx, room.list)
			return slices.Clone(list), err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		from := len(room.list)
		room.list = appendEntries(room.list, buf[:n])
		if told != nil && len(room.list) > from {
			told(room.list[from:])
		}
	}
}

// kindUnknown stands in a list until resolveUnknown has looked: some file systems tell no type with the name.
const kindUnknown Kind = 0xff

// appendEntries reads linux_dirent64 records: inode (8 bytes), offset (8), record length (2), type (1), name, NUL. The names
// are parts of one text: to make one of each takes as long as the system takes to tell them.
func appendEntries(list []Entry, b []byte) []Entry {
	const usual = 32 // bytes of a record, for a name of 5 to 12 bytes
	text := string(b)
	list = slices.Grow(list, len(b)/usual)
	for len(b) > 19 {
		size := int(binary.NativeEndian.Uint16(b[16:]))
		name := text[19:size]
		if end := strings.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if name != "." && name != ".." {
			list = append(list, Entry{Name: name, Kind: direntKind(b[18]), Nth: uint32(len(list)), ID: binary.NativeEndian.Uint64(b)})
		}
		b, text = b[size:], text[size:]
	}
	return list
}

func direntKind(t byte) Kind {
	switch t {
	case unix.DT_REG:
		return Regular
	case unix.DT_DIR:
		return Directory
	case unix.DT_LNK:
		return Link
	case unix.DT_FIFO:
		return FIFO
	case unix.DT_SOCK:
		return Socket
	case unix.DT_CHR, unix.DT_BLK:
		return Device
	}
	return kindUnknown
}

// resolveUnknown looks at the entries without a kind, and drops those that have gone meanwhile.
func (d fdDir) resolveUnknown(ctx context.Context, list []Entry) ([]Entry, error) {
	known := list[:0]
	for _, e := range list {
		if e.Kind == kindUnknown {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			info, err := d.stat(e.Name)
			if err == unix.ENOENT {
				continue
			}
			if err != nil {
				return nil, err
			}
			e.Kind = info.Kind
		}
		known = append(known, e)
	}
	return known, nil
}
