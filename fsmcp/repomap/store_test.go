package repomap

import (
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/confine"
)

// stocked is a tree with enough files to look into the store for, and a store that knows them.
func stocked(t *testing.T) (root *confine.Root, dir, cacheDir string) {
	t.Helper()
	files := map[string]string{}
	for i := range 2 * fewMissing {
		files[fmt.Sprintf("f%02d.raku", i)] = fmt.Sprintf("sub f%d { f%d(1) }\n", i, i/2)
	}
	root, dir = tree(t, files)
	cacheDir = filepath.Join(t.TempDir(), "cache", "map")
	m := New(Options{Root: root, CacheDir: cacheDir})
	drawn(t, m, Request{Path: "."})
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return root, dir, cacheDir
}

// known says how many files of a tree a new mapper does not have to parse.
func known(t *testing.T, root *confine.Root, cacheDir string) int {
	t.Helper()
	m := New(Options{Root: root, CacheDir: cacheDir})
	drawn(t, m, Request{Path: "."})
	n := len(m.cache.files)
	for _, e := range m.cache.files {
		if e.parsed {
			n--
		}
	}
	return n
}

func storeFile(t *testing.T, cacheDir string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(cacheDir, "*"))
	if err != nil || len(list) != 1 {
		t.Fatalf("the cache directory holds %q, %v; want one file", list, err)
	}
	return list[0]
}

func TestStoreServesTheNextProcess(t *testing.T) {
	root, dir, cacheDir := stocked(t)
	want := drawn(t, New(Options{Root: root}), Request{Path: "."})
	m := New(Options{Root: root, CacheDir: cacheDir})
	if diff := cmp.Diff(want, drawn(t, m, Request{Path: "."})); diff != "" {
		t.Errorf("a map from the store differs (-parsed +stored):\n%s", diff)
	}
	if n := known(t, root, cacheDir); n != 2*fewMissing {
		t.Errorf("%d files are known, want %d", n, 2*fewMissing)
	}
	// The key is the content: neither a new time nor a copy is parsed, and an edit that changes neither size nor time is.
	touch(t, filepath.Join(dir, "f03.raku"), 1000)
	writeFile(t, filepath.Join(dir, "copy.raku"), "sub f4 { f2(1) }\n")
	writeFile(t, filepath.Join(dir, "f05.raku"), "sub x5 { f2(1) }\n")
	if n := known(t, root, cacheDir); n != 2*fewMissing {
		t.Errorf("%d files are known after an edit, want %d", n, 2*fewMissing)
	}
	info, err := os.Stat(storeFile(t, cacheDir))
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("the store is %v, %v; others may look into it", info.Mode(), err)
	}
}

// TestStoreServesLargeFiles has files for which a worker has no room. One that has changed is read from its beginning.
func TestStoreServesLargeFiles(t *testing.T) {
	files := map[string]string{}
	for i := range 2 * fewMissing {
		files[fmt.Sprintf("f%02d.raku", i)] = fmt.Sprintf("sub f%d { }\n", i) + strings.Repeat("# more\n", usualFile/5)
	}
	root, dir := tree(t, files)
	cacheDir := t.TempDir()
	drawn(t, New(Options{Root: root, CacheDir: cacheDir}), Request{Path: "."}) // it has parsed enough to be kept at once
	if n := known(t, root, cacheDir); n != len(files) {
		t.Errorf("%d files are known, want %d", n, len(files))
	}
	writeFile(t, filepath.Join(dir, "f03.raku"), "sub changed { }\n"+strings.Repeat("# more\n", usualFile/5))
	want := drawn(t, New(Options{Root: root}), Request{Path: "."})
	if diff := cmp.Diff(want, drawn(t, New(Options{Root: root, CacheDir: cacheDir}), Request{Path: "."})); diff != "" || !strings.Contains(want, "changed") {
		t.Errorf("a map with a changed file (-parsed +stored):\n%s", diff)
	}
}

func TestChecksum(t *testing.T) {
	for _, size := range []int{0, 1, 4 << 10, 10_000} {
		text := strings.Repeat("0123456789abcdef", 1000)[:size]
		want := crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli))
		if got := checksum(text); got != want || checksum([]byte(text)) != want {
			t.Errorf("of %d bytes it is %x, want %x", size, got, want)
		}
	}
}

func TestStoreIgnoresWhatIsDamaged(t *testing.T) {
	root, _, cacheDir := stocked(t)
	name := storeFile(t, cacheDir)
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	damage := func(at int) []byte {
		b := append([]byte(nil), good...)
		b[at] ^= 1
		return b
	}
	tests := []struct {
		name    string
		content []byte
		want    int
	}{
		{"it uses a file as it was written", good, 2 * fewMissing},
		{"it ignores an empty file", nil, 0},
		{"it ignores a file of another version", damage(len(storeMagic) + 3), 0},
		{"it ignores another file", []byte("something else, and long enough to be one of ours, were it not for its beginning"), 0},
		{"it ignores a changed entry", damage(len(good) / 2), 0},
		{"it ignores a changed checksum", damage(len(good) - 1), 0},
		{"it ignores a file that was cut short", good[:len(good)-7], 0},
		{"it ignores a file that goes on", append(append([]byte(nil), good...), 0), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(name, tt.content, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := known(t, root, cacheDir); got != tt.want {
				t.Errorf("%d files are known, want %d", got, tt.want)
			}
		})
	}
}

func TestStoreDoesWithoutADirectory(t *testing.T) {
	root, _ := tree(t, map[string]string{"a.raku": "sub a { }\n"})
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "")
	m := New(Options{Root: root, CacheDir: filepath.Join(file, "map")})
	if text := drawn(t, m, Request{Path: "."}); !strings.Contains(text, "sub a { }") {
		t.Errorf("the map is\n%s", text)
	}
	if err := m.Close(); err == nil {
		t.Error("nothing is said of a cache that could not be written")
	}
}

// TestCloseDoesNotWait closes a mapper while a map is under way, as happens when a client goes away.
func TestCloseDoesNotWait(t *testing.T) {
	root, _ := tree(t, map[string]string{"a.raku": "sub a { }\n", "b.raku": "sub b { }\n"})
	cacheDir := filepath.Join(t.TempDir(), "map")
	m := New(Options{Root: root, CacheDir: cacheDir})
	ctx := withProgress(t.Context(), func(int64) {
		if err := m.Close(); err != nil {
			t.Errorf("during a map: %v", err)
		}
		if list, err := os.ReadDir(cacheDir); err == nil {
			t.Errorf("during a map, %v is written", list)
		}
	})
	if _, err := m.Map(ctx, Request{Path: "."}); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	storeFile(t, cacheDir)
	drawn(t, m, Request{Path: "."}) // whoever closes gives the turn back
}

func TestStoreIsShared(t *testing.T) {
	_, dir, cacheDir := stocked(t)
	var sessions sync.WaitGroup
	for i := range 6 {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("new%d.raku", i)), fmt.Sprintf("sub new%d { }\n", i))
	}
	for range 6 {
		sessions.Go(func() {
			root, err := confine.OpenRoot(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer root.Close()
			m := New(Options{Root: root, CacheDir: cacheDir})
			if _, err := m.Map(t.Context(), Request{Path: "."}); err != nil {
				t.Error(err)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	sessions.Wait()
	root, err := confine.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if n := known(t, root, cacheDir); n != 2*fewMissing+6 {
		t.Errorf("%d files are known, want %d", n, 2*fewMissing+6)
	}
	storeFile(t, cacheDir)
}

// TestStoreIsBounded fills a store that has room for a few entries. What was used last stays.
func TestStoreIsBounded(t *testing.T) {
	dir := t.TempDir()
	now := time.Unix(1_000_000, 0)
	s := newStore(dir, "root")
	s.now = func() time.Time { return now }
	s.max = int64(headerSize + 4 + 3*(entryHead+len(encode(nil, &Tags{Package: "p00"}))))
	for i := range 10 {
		c := newCache()
		c.put("new", 0, 0, key{byte(i + 1)}, &Tags{Package: fmt.Sprintf("p%02d", i)})
		c.put("often", 0, 0, key{200}, &Tags{Package: "xxx"})
		c.unkept = 1
		if err := s.save(c); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Hour)
	}
	s.open()
	var got []byte
	for i := range 256 {
		if tags, ok := s.lookup(key{byte(i)}, new(Tags)); ok && tags != nil {
			got = append(got, byte(i))
		}
	}
	if diff := cmp.Diff([]byte{9, 10, 200}, got); diff != "" {
		t.Errorf("the entries that are kept (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(s.path()); err != nil || info.Size() > s.max {
		t.Errorf("the file has %d bytes, %v; the limit is %d", info.Size(), err, s.max)
	}
}

// TestStoreDirectoryIsBounded leaves the files of other roots and of processes that are gone in a directory.
func TestStoreDirectoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	now := time.Unix(2_000_000_000, 0)
	s := newStore(dir, "root")
	s.now, s.max = func() time.Time { return now }, 10_000
	for name, age := range map[string]time.Duration{"oldest.map": 3 * time.Hour, "older.map": 2 * time.Hour, "young.map": time.Hour, "stray.new": 2 * time.Hour, "busy.new": time.Minute, "other.txt": 9 * time.Hour} {
		writeFile(t, filepath.Join(dir, name), strings.Repeat("x", 4000))
		touch(t, filepath.Join(dir, name), now.Add(-age).Unix())
	}
	c := newCache()
	c.put("new", 0, 0, key{1}, &Tags{Package: strings.Repeat("x", 3000)})
	c.unkept = 1
	if err := s.save(c); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if e.Name() != s.name {
			got = append(got, e.Name())
		}
	}
	if diff := cmp.Diff([]string{"busy.new", "other.txt", "young.map"}, got); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
}

func TestCodec(t *testing.T) {
	tests := []*Tags{
		nil,
		{},
		{Package: "p"},
		{
			Definitions: []Definition{{"a", 1, TypeKind, false, "a b"}, {"b", 1, ValueKind, true, "a b"}, {"c", maxFile, MethodKind, false, "c"}},
			References:  []Reference{{"a", "", 1}, {"b", "p", maxFile}},
			Modules:     []string{"Foo::Bar", ""},
			Package:     "p",
		},
	}
	for _, want := range tests {
		b := encode(nil, want)
		got, err := decode(string(b), new(Tags))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v: %v (-encoded +decoded):\n%s", want, err, diff)
		}
		for n := range b {
			if _, err := decode(string(b[:n]), new(Tags)); err == nil && n > 0 {
				t.Errorf("%d of %d bytes are taken for whole", n, len(b))
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(nil, &Tags{Definitions: []Definition{{"a", 1, TypeKind, true, "x"}}, References: []Reference{{"a", "p", 1}}, Modules: []string{"M"}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		tags, err := decode(string(b), new(Tags))
		if err != nil || tags == nil {
			return
		}
		again, err := decode(string(encode(nil, tags)), new(Tags))
		if diff := cmp.Diff(tags, again); diff != "" || err != nil {
			t.Errorf("%v (-first +second):\n%s", err, diff)
		}
		newCache().put("x", 0, 0, key{}, tags)
	})
}

func FuzzStore(f *testing.F) {
	s := &store{max: maxStore, now: time.Now, dir: f.TempDir()}
	c := newCache()
	c.put("x", 0, 0, key(sha256.Sum256(nil)), &Tags{Package: "p"})
	f.Add(s.merge(c))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseContents(string(b))
		if err != nil {
			return
		}
		for k := range c.entries {
			(&store{content: c}).lookup(k, new(Tags))
		}
	})
}
