package repomap

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The store keeps parse results for the next process (D28). Each root has a file of its own in one directory, whose
// paths no caller has a say in. What a file of the tree says is kept under a hash of its bytes, so that no clock, copy
// or checkout can make it wrong; the store's file is read whole, and written whole beside the old one, which it then
// replaces. Several processes may do that at once: each adds what it knows to what it finds, and the last one wins,
// which loses nothing that a parse does not bring back.
const (
	// maxStore bounds the directory, and each file in it, in bytes. What has not been used for longest goes first.
	maxStore = 256 << 20
	// worthSaving is how many bytes of source must have been parsed for the store to be written before the end: a tenth
	// of a second's work.
	worthSaving = 256 << 10
	// strayAge is how old a file must be to have been left by a process that is gone.
	strayAge = time.Hour
)

// store is one root's file. It is used by the map that is being drawn; lookups may run side by side.
type store struct {
	dir  string
	name string
	max  int64 // maxStore, but for tests
	now  func() time.Time

	content contents // between open and close
}

func newStore(dir, root string) *store {
	return &store{dir: dir, name: fmt.Sprintf("%x.map", sha256.Sum256([]byte(root))), max: maxStore, now: time.Now}
}

// open reads the file for lookups. A file that cannot be read is as an empty one.
func (s *store) open() {
	if s == nil {
		return
	}
	s.content = s.read()
	if len(s.content.entries) > 0 {
		// The time of the file is that of its last use; bound goes by it. Without it the file only goes earlier.
		now := s.now()
		_ = os.Chtimes(s.path(), now, now)
	}
}

// close gives up what open has read.
func (s *store) close() {
	if s != nil {
		s.content = contents{}
	}
}

// isStocked says whether there is anything to find. A nil store is empty.
func (s *store) isStocked() bool { return s != nil && len(s.content.entries) > 0 }

// lookup finds the tags that a key was given; they are nil when the file is to be left out. They are made in the room of
// what the caller has no more use for, and good until the store is closed.
func (s *store) lookup(k key, room *Tags) (*Tags, bool) {
	e, ok := s.content.entries[k]
	if !ok {
		return nil, false
	}
	t, err := decode(s.content.text[e.at:][:e.size], room)
	return t, err == nil
}

func (s *store) path() string { return filepath.Join(s.dir, s.name) }

// read reads the file as it is now.
func (s *store) read() contents {
	info, err := os.Stat(s.path())
	if err != nil || !info.Mode().IsRegular() || info.Size() > s.max {
		return contents{}
	}
	f, err := os.Open(s.path())
	if err != nil {
		return contents{}
	}
	defer f.Close()
	// It may have grown: whatever is beyond what there was is damage, or another process's business.
	var text strings.Builder
	text.Grow(int(info.Size()))
	if _, err := io.CopyN(&text, f, info.Size()); err != nil {
		return contents{}
	}
	c, err := parseContents(text.String())
	if err != nil {
		return contents{}
	}
	return c
}

// save writes what the cache knows, and what the file already holds, if the cache knows anything new.
func (s *store) save(c *cache) error {
	if c.unkept == 0 {
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the map's cache directory: %w", err)
	}
	if err := s.replace(s.merge(c)); err != nil {
		return fmt.Errorf("write the map's cache: %w", err)
	}
	c.unkept = 0
	s.bound()
	return nil
}

// record is an entry to be written.
type record struct {
	key  key
	hour uint32
	tags []byte
}

// merge is the new content of the file: everything that the cache holds, used now, and of what the file holds what was
// used last, as far as there is room.
func (s *store) merge(c *cache) []byte {
	hour := uint32(s.now().Unix() / 3600)
	var records []record
	known := map[key]bool{{}: true}
	for _, e := range c.files {
		if !known[e.key] {
			known[e.key] = true
			records = append(records, record{e.key, hour, encode(nil, c.tags(e))})
		}
	}
	old := s.read()
	for k, e := range old.entries {
		if !known[k] {
			records = append(records, record{k, e.hour, []byte(old.text[e.at:][:e.size])})
		}
	}
	slices.SortFunc(records, func(a, b record) int {
		return cmp.Or(cmp.Compare(b.hour, a.hour), slices.Compare(a.key[:], b.key[:]))
	})
	b := []byte(storeHeader())
	for _, r := range records {
		if int64(len(b)+entryHead+len(r.tags)+crc32.Size) > s.max {
			break
		}
		b = append(b, r.key[:]...)
		b = binary.LittleEndian.AppendUint32(b, r.hour)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(r.tags)))
		b = append(b, r.tags...)
	}
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

// replace writes the file beside the old one and puts it in its place: a reader sees the one or the other. It is not
// synced: what a power cut leaves is caught by the checksum.
func (s *store) replace(content []byte) error {
	f, err := os.CreateTemp(s.dir, "*.new")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), s.path())
	}
	if err != nil {
		_ = os.Remove(f.Name()) // or bound does it, an hour later
	}
	return err
}

// bound removes the files of other roots that have not been used for longest, until the directory is small enough, and
// what a process that was killed has left half written. Whoever removes first has the better of it: no error here is of
// any consequence.
func (s *store) bound() {
	list, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	var files []os.FileInfo
	total := int64(0)
	for _, e := range list {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		switch {
		case strings.HasSuffix(e.Name(), ".new"):
			if s.now().Sub(info.ModTime()) > strayAge {
				_ = os.Remove(filepath.Join(s.dir, e.Name()))
			}
		case strings.HasSuffix(e.Name(), ".map"):
			total += info.Size()
			if e.Name() != s.name {
				files = append(files, info)
			}
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= s.max {
			return
		}
		total -= f.Size()
		_ = os.Remove(filepath.Join(s.dir, f.Name()))
	}
}
