package repomap

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"runtime"
)

// A store's file:
//
//	header   "lookfirst map", and a hash of everything that decides what a file is parsed to
//	entry*   key, hour of the last use (4 bytes), length (4 bytes), the stored form of the tags (codec.go)
//	trailer  CRC-32C of what stands before it (4 bytes)
//
// Numbers are little-endian. A file that is damaged, cut short or of another version counts as empty.
const (
	storeMagic = "lookfirst map"
	// storeVersion is raised with every change of what a file is parsed to that the queries do not show.
	storeVersion = 2

	// usualEntry is what an entry takes in the middle, in bytes.
	usualEntry = 1 << 10

	headerSize = len(storeMagic) + sha256.Size
	entryHead  = len(key{}) + 8
)

// key names what is parsed: a language and bytes.
type key [sha256.Size]byte

func keyOf(l Language, text []byte) key {
	h := newKeyHash(l)
	h.Write(text)
	return key(h.Sum(nil))
}

// newKeyHash is a hash to which the text is still to be written.
func newKeyHash(l Language) hash.Hash {
	h := sha256.New()
	h.Write([]byte{byte(l)})
	return h
}

// contents is what a store's file holds.
type contents struct {
	text    string
	entries map[key]stored
}

// stored is where the tags of an entry are, and the hour since 1970 in which it was last used.
type stored struct {
	at, size int
	hour     uint32
}

// parseContents finds the entries of a file.
func parseContents(text string) (contents, error) {
	header := storeHeader()
	end := len(text) - crc32.Size
	if end < len(header) || text[:len(header)] != header {
		return contents{}, errDamaged
	}
	if checksum(text[:end]) != binary.LittleEndian.Uint32([]byte(text[end:])) {
		return contents{}, errDamaged
	}
	c := contents{text: text, entries: make(map[key]stored, len(text)/usualEntry)}
	for at := len(header); at < end; {
		if end-at < entryHead {
			return contents{}, errDamaged
		}
		head := []byte(text[at:][:entryHead])
		k := key(head[:len(key{})])
		e := stored{
			at:   at + entryHead,
			hour: binary.LittleEndian.Uint32(head[len(k):]),
			size: int(binary.LittleEndian.Uint32(head[len(k)+4:])),
		}
		if e.size > end-e.at {
			return contents{}, errDamaged
		}
		c.entries[k] = e
		at = e.at + e.size
	}
	return c, nil
}

// storeHeader is what a file must begin with to be of use: it differs where anything may be parsed differently.
func storeHeader() string {
	h := sha256.New()
	fmt.Fprintln(h, storeVersion, maxLine, maxNesting, hasGrammars, runtime.Version())
	hashQueries(h)
	return storeMagic + string(h.Sum(nil))
}

// checksum goes through a buffer, since a string would have to be copied as a whole.
func checksum[T string | []byte](text T) uint32 {
	table, sum := crc32.MakeTable(crc32.Castagnoli), uint32(0)
	var buffer [4 << 10]byte
	for len(text) > 0 {
		n := copy(buffer[:], text)
		sum = crc32.Update(sum, table, buffer[:n])
		text = text[n:]
	}
	return sum
}
