package confine

import "io/fs"

// Kind is what a name stands for. It is never what a link leads to.
type Kind uint8

// The kinds of entry.
const (
	Absent Kind = iota
	Regular
	Directory
	Link
	FIFO
	Socket
	Device
)

func (k Kind) String() string {
	switch k {
	case Absent:
		return "nothing"
	case Regular:
		return "file"
	case Directory:
		return "directory"
	case Link:
		return "symbolic link"
	case FIFO:
		return "fifo"
	case Socket:
		return "socket"
	}
	return "device"
}

// ID identifies a file for as long as it exists, whatever its name. The zero ID means that the platform tells none.
type ID struct{ Dev, Ino uint64 }

// Info is what the operating system says of one entry, without following it.
type Info struct {
	ID         ID
	Kind       Kind
	Mode       fs.FileMode // permission bits, setuid, setgid and sticky; no type bits
	Size       int64       // bytes
	ModTime    int64       // nanoseconds since 1970, UTC
	ChangeTime int64       // nanoseconds since 1970, UTC; ModTime where the platform has none
	Links      uint64      // hard links; 0 where unknown
	UID, GID   uint32
}

// Same says whether both describe one unchanged file: identity, size and both times agree.
func (i Info) Same(j Info) bool {
	return i.ID == j.ID && i.Kind == j.Kind && i.Size == j.Size && i.ModTime == j.ModTime && i.ChangeTime == j.ChangeTime
}

// Entry is a name in a directory.
type Entry struct {
	Name string // the bytes on disk, which need not be UTF-8
	Kind Kind
	deed deed   // of a walk; it has room beside the kind
	Nth  uint32 // how many the directory told of before it
	ID   uint64 // inode number; 0 where the platform tells none
}

func kindOf(m fs.FileMode) Kind {
	switch {
	case m.IsRegular():
		return Regular
	case m.IsDir():
		return Directory
	case m&fs.ModeSymlink != 0:
		return Link
	case m&fs.ModeNamedPipe != 0:
		return FIFO
	case m&fs.ModeSocket != 0:
		return Socket
	}
	return Device
}

// basicInfo is what every platform tells; identity, change time, links and owner are added where there are any.
func basicInfo(fi fs.FileInfo) Info {
	modified := fi.ModTime().UnixNano()
	return Info{
		Kind:       kindOf(fi.Mode()),
		Mode:       fi.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky),
		Size:       fi.Size(),
		ModTime:    modified,
		ChangeTime: modified,
	}
}
