package revision

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lookfirst/fsmcp/confine"
)

// reuses says whether an observation makes use of a remembered digest. It leaves wrong ones behind.
func reuses(t *testing.T, h *Hasher, loc *confine.Location) bool {
	t.Helper()
	poison(h)
	return mustObserve(t, h, loc) != mustFresh(t, NewHasher(Options{}), loc)
}

func TestDigestIsReusedOnceBothTimesAreOlderThanTwoSecondsAndTheRounding(t *testing.T) {
	tests := []struct {
		name     string
		age      time.Duration // of the change time when the digest is computed
		modified time.Duration // by how much the modification time is later than the change time
		reused   bool
	}{
		{"reads a file again that has just changed", 0, 0, false},
		{"reads a file again that was changed by a clock ahead of ours", -time.Hour, 0, false},
		{"reads a file again after just two seconds", 2 * time.Second, 0, false},
		{"reads a file again within the rounding", 2*time.Second + 100*time.Millisecond, 0, false},
		{"reuses just after it", 2*time.Second + 100*time.Millisecond + 1, 0, true},
		{"reuses much later", 24 * time.Hour, 0, true},
		{"reads a file again whose modification time alone is young", time.Hour, time.Hour - time.Second, false},
		{"reuses once that has settled", time.Hour, time.Hour - 3*time.Second, true},
		{"reads a file again whose change time alone is young", 2 * time.Second, -time.Hour, false},
	}
	for _, tt := range tests {
		for _, arg := range []string{"f", "."} {
			t.Run("it "+tt.name+" as "+arg, func(t *testing.T) {
				root, dir := planted(t, "f")
				path := filepath.Join(dir, "f")
				if tt.modified != 0 {
					changed := located(t, root, "f").Info.ChangeTime
					must(t, os.Chtimes(path, time.Time{}, time.Unix(0, changed).Add(tt.modified)))
				}
				changed := located(t, root, "f").Info.ChangeTime
				c := &clock{at: time.Unix(0, changed).Add(tt.age)}
				h := NewHasher(Options{Now: c.now})
				loc := located(t, root, arg)
				mustObserve(t, h, loc)
				if got := reuses(t, h, loc); got != tt.reused {
					t.Errorf("reused: %v, want %v", got, tt.reused)
				}
				c.set(c.at.Add(48 * time.Hour))
				mustObserve(t, h, loc)
				if !reuses(t, h, loc) {
					t.Error("never reused, so the age is not why it was not")
				}
			})
		}
	}
}

// The write that coarse times hide can come as soon as the bytes have been read: what counts is the age before that.
func TestFileThatSettlesWhileItIsHashedIsNotRemembered(t *testing.T) {
	for _, arg := range []string{"f", "."} {
		root, _ := planted(t, "f")
		loc := located(t, root, arg)
		c := &clock{at: time.Unix(0, located(t, root, "f").Info.ChangeTime).Add(2 * time.Second)}
		readings := 0
		c.onNow = func() {
			if readings++; readings > 1 {
				c.at = c.at.Add(time.Minute)
			}
		}
		h := NewHasher(Options{Now: c.now})
		mustObserve(t, h, loc)
		if n := len(h.memo.entries); n != 0 {
			t.Errorf("%s: %d digests remembered after %d readings of the clock", arg, n, readings)
		}
		mustObserve(t, h, loc)
		if n := len(h.memo.entries); n != 1 {
			t.Errorf("%s: %d digests remembered of a file that had settled", arg, n)
		}
	}
}

func TestSameSizeWriteWithRestoredModificationTimeIsSeen(t *testing.T) {
	root, dir := planted(t, "f = old")
	path := filepath.Join(dir, "f")
	h := NewHasher(Options{Now: later().now})
	for _, arg := range []string{"f", "."} {
		before := mustObserve(t, h, located(t, root, arg))
		was := located(t, root, "f").Info
		if was.ChangeTime == was.ModTime && !reuses(t, h, located(t, root, arg)) {
			t.Fatal("nothing is remembered, so nothing could be missed")
		}
		h.Forget(was.ID) // the wrong digest that reuses left
		mustObserve(t, h, located(t, root, arg))
		for located(t, root, "f").Info.ChangeTime == was.ChangeTime {
			must(t, os.WriteFile(path, []byte("n" + arg + "w")[:3], 0o644))
			must(t, os.Chtimes(path, time.Time{}, time.Unix(0, was.ModTime)))
		}
		now := located(t, root, "f").Info
		if now.Size != was.Size || now.ModTime != was.ModTime {
			t.Fatalf("the write shows in more than the change time: %v and %v", was, now)
		}
		after := mustObserve(t, h, located(t, root, arg))
		if after == before || after != mustFresh(t, h, located(t, root, arg)) {
			t.Errorf("%s: before %v, after %v", arg, before, after)
		}
	}
}

func TestClockThatGoesBackwardsEmptiesTheMemo(t *testing.T) {
	for _, arg := range []string{"f", "."} {
		root, _ := planted(t, "f")
		loc := located(t, root, arg)
		c := later()
		h := NewHasher(Options{Now: c.now})
		mustObserve(t, h, loc)
		if !reuses(t, h, loc) {
			t.Fatalf("%s: not reused while the clock stands", arg)
		}
		c.set(c.at.Add(-time.Nanosecond))
		poison(h)
		if got, want := mustObserve(t, h, loc), mustFresh(t, h, loc); got != want {
			t.Errorf("%s: reused after the clock went back: got %v, want %v", arg, got, want)
		}
		if !reuses(t, h, loc) {
			t.Errorf("%s: not remembered again", arg)
		}
	}
}

func TestDigestComputedBeforeTheClockWentBackwardsIsNotRemembered(t *testing.T) {
	root, _ := planted(t, "f")
	info := located(t, root, "f").Info
	c := later()
	m := newMemo(10, c.now)
	when := m.clock()
	c.set(c.at.Add(-time.Minute))
	m.clock()
	m.put(info, digest{1}, when, alone)
	if _, place := m.get(info, m.clock(), none); place != none {
		t.Error("remembered")
	}
	m.put(info, digest{1}, m.clock(), alone)
	if _, place := m.get(info, when, none); place != none {
		t.Error("found by a moment from before")
	}
	if d, place := m.get(info, m.clock(), none); place == none || d != (digest{1}) {
		t.Error("not remembered even with a new moment")
	}
}

// A wrong digest in the memo stands for one that the file system's times have made stale unseen.
func TestFreshReadsWhateverIsRemembered(t *testing.T) {
	root, dir := planted(t, "d/f", "l => d/f", "dl => d")
	for _, arg := range []string{"d/f", "d", ".", "l", "dl"} {
		h := NewHasher(Options{Now: later().now})
		loc := located(t, root, arg)
		want := mustObserve(t, h, loc)
		poison(h)
		if got := mustObserve(t, h, loc); got == want {
			t.Errorf("%s: an observation reuses nothing, so this proves nothing", arg)
		}
		if got := mustFresh(t, h, loc); got != want {
			t.Errorf("%s: got %v, want %v", arg, got, want)
		}
		// And what it read is right for observations again.
		if got := mustObserve(t, h, loc); got != want {
			t.Errorf("%s: observed %v after a fresh one, want %v", arg, got, want)
		}
	}
	if got, want := mustFresh(t, NewHasher(Options{}), located(t, root, ".")), slowToken(t, dir); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMemoHoldsForOneUnchangedFile(t *testing.T) {
	info := confine.Info{ID: confine.ID{Dev: 1, Ino: 2}, Kind: confine.Regular, Size: 3, ModTime: 4, ChangeTime: 5}
	m := newMemo(10, time.Now)
	m.put(info, digest{9}, m.clock(), alone)
	if d, place := m.get(info, m.clock(), none); place == none || d != (digest{9}) {
		t.Fatalf("got %v, %v", d, place)
	}
	for name, change := range map[string]func(*confine.Info){
		"device": func(i *confine.Info) { i.ID.Dev++ }, "inode": func(i *confine.Info) { i.ID.Ino++ },
		"size": func(i *confine.Info) { i.Size++ }, "modification time": func(i *confine.Info) { i.ModTime++ },
		"change time": func(i *confine.Info) { i.ChangeTime++ },
	} {
		other := info
		change(&other)
		if _, place := m.get(other, m.clock(), none); place != none {
			t.Errorf("found with another %s", name)
		}
	}
	m.forget(info.ID.Ino)
	if _, place := m.get(info, m.clock(), none); place != none {
		t.Error("found after it was forgotten")
	}
	info.ID = confine.ID{}
	m.put(info, digest{9}, m.clock(), alone)
	if len(m.entries) != 0 {
		t.Error("remembers a file without an identity")
	}
}

func TestMemoForgetsTheRightOne(t *testing.T) {
	m := newMemo(10, time.Now)
	file := func(n int) confine.Info { return confine.Info{ID: confine.ID{Dev: 1, Ino: uint64(n)}} }
	left := map[int]bool{}
	for n := 1; n <= 7; n++ {
		m.put(file(n), digest{byte(n)}, m.clock(), alone)
		left[n] = true
	}
	for _, n := range []int{7, 1, 3, 3, 100, 6} {
		m.forget(uint64(n))
		delete(left, n)
		for k := 1; k <= 7; k++ {
			if d, place := m.get(file(k), m.clock(), k-2); (place != none) != left[k] || place != none && d != (digest{byte(k)}) {
				t.Errorf("after forgetting %d: %d has %v, %v", n, k, d, place)
			}
		}
	}
}

// Where directories tell other inode numbers than files do, they must not rule out that a file is known.
func TestMemoDistrustsDirectoriesThatNumberFilesOtherwise(t *testing.T) {
	m := newMemo(10, time.Now)
	info := confine.Info{ID: confine.ID{Dev: 1, Ino: 2}}
	if m.mayKnow(2) || m.mayKnow(0) {
		t.Error("an empty memo knows something")
	}
	m.put(info, digest{}, m.clock(), alone)
	if !m.mayKnow(2) || m.mayKnow(3) || !m.mayKnow(0) {
		t.Error("want the file's number and the missing number to be asked about, and no other")
	}
	m.learn(2, info.ID)
	m.learn(0, info.ID)
	if m.mayKnow(3) {
		t.Error("a right number or none makes it distrustful")
	}
	m.learn(7, info.ID)
	if !m.mayKnow(3) {
		t.Error("a wrong number does not")
	}
}

func TestTreeLearnsThatDirectoriesNumberFilesOtherwise(t *testing.T) {
	root, _ := planted(t, "f")
	loc := located(t, root, "f")
	for by, foreign := range []bool{false, true} { // by how much the directory's number is wrong
		h := NewHasher(Options{Now: later().now})
		p := &pass{ctx: t.Context(), memo: h.memo, when: h.memo.clock(), buf: make([]byte, 100)}
		e := &batchEntry{dir: loc.Parent(), kind: confine.Regular, name: "f", ino: loc.Info.ID.Ino + uint64(by)}
		if _, err := h.traversal(t.Context(), ".", reuse{digests: true}).file(e, p); err != nil {
			t.Error(err)
		}
		if got := h.memo.foreign.Load(); got != foreign {
			t.Errorf("%d off: foreign: %v, want %v", by, got, foreign)
		}
	}
}

// reads is how many bytes an observation of a directory reads, by the budget that it can do with.
func reads(t *testing.T, h *Hasher, loc *confine.Location) int64 {
	t.Helper()
	defer func(b int64) { h.budget = b }(h.budget)
	for h.budget = 0; ; h.budget++ {
		if h.Observe(t.Context(), loc).State != Unknown {
			return h.budget
		}
	}
}

// oneByteEach is n files of one byte in a directory.
func oneByteEach(dir string, n int) (tree []string) {
	for i := range n {
		tree = append(tree, fmt.Sprintf("%s/%03d = x", dir, i))
	}
	return tree
}

func TestScanLargerThanTheMemoReusesAllThatTheMemoHolds(t *testing.T) {
	const files, limit = 100, 40
	root, dir := planted(t, oneByteEach("d", files)...)
	h := NewHasher(Options{Memo: limit, Now: later().now})
	loc := located(t, root, "d")
	for pass := range 6 {
		mustObserve(t, h, loc)
		if n := len(h.memo.entries); n != limit {
			t.Fatalf("%d digests remembered, want %d", n, limit)
		}
		h.budget = files - limit // what is left to read when the whole memo is reused
		if h.Observe(t.Context(), loc).State == Unknown {
			t.Errorf("pass %d reuses less than %d digests", pass, limit)
		}
		h.budget--
		if h.Observe(t.Context(), loc).State != Unknown {
			t.Errorf("pass %d reuses more than %d digests", pass, limit)
		}
		h.budget = -1
	}
	if got, want := mustObserve(t, h, loc), slowToken(t, filepath.Join(dir, "d")); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSecondScanOfAnotherTreeTakesOver(t *testing.T) {
	const limit = 40
	root, _ := planted(t, append(oneByteEach("old", 100), oneByteEach("new", limit)...)...)
	h := NewHasher(Options{Memo: limit, Now: later().now})
	mustObserve(t, h, located(t, root, "old"))
	loc := located(t, root, "new")
	// ours says how many of the digests were met by the scan that was just made.
	ours := func() (n int) {
		for _, e := range h.memo.entries {
			if e.met == h.memo.scan {
				n++
			}
		}
		return n
	}
	for pass, want := range []int{0, limit} {
		mustObserve(t, h, loc)
		if got := ours(); got != want {
			t.Errorf("pass %d: %d digests are of this tree, want %d", pass, got, want)
		}
	}
	if n := reads(t, h, loc); n != 0 {
		t.Errorf("reads %d bytes after two passes", n)
	}
	if n := len(h.memo.entries); n != limit || len(h.memo.at) != limit {
		t.Errorf("%d digests in %d places, want %d", len(h.memo.at), n, limit)
	}
}

func TestSingleFilesFindRoomInAFullMemo(t *testing.T) {
	root, _ := planted(t, append(oneByteEach("d", 10), "f")...)
	h := NewHasher(Options{Memo: 5, Now: later().now})
	mustObserve(t, h, located(t, root, "d"))
	loc := located(t, root, "f")
	mustObserve(t, h, loc)
	if !reuses(t, h, loc) {
		t.Error("not remembered")
	}
	if n := len(h.memo.entries); n != 5 || len(h.memo.at) != 5 {
		t.Errorf("%d digests in %d places, want 5", len(h.memo.at), n)
	}
}

func TestForget(t *testing.T) {
	root, _ := planted(t, "d/f = 1234567", "d/g = 1")
	h := NewHasher(Options{Now: later().now})
	loc := located(t, root, "d")
	mustObserve(t, h, loc)
	if n := reads(t, h, loc); n != 0 {
		t.Fatalf("reads %d bytes with all remembered", n)
	}
	h.Forget(located(t, root, "d/f").Info.ID)
	if n := reads(t, h, loc); n != 7 {
		t.Errorf("reads %d bytes with one file forgotten, want 7", n)
	}
	mustObserve(t, h, loc)
	h.ForgetInode(located(t, root, "d/g").Info.ID.Ino)
	if n := reads(t, h, loc); n != 1 {
		t.Errorf("reads %d bytes with the other forgotten, want 1", n)
	}
}

func TestMemoCanBeOff(t *testing.T) {
	root, _ := planted(t, "d/f = 1234567")
	h := NewHasher(Options{Memo: -1, Now: later().now})
	loc := located(t, root, "d")
	mustObserve(t, h, loc)
	mustObserve(t, h, located(t, root, "d/f"))
	if n := reads(t, h, loc); n != 7 {
		t.Errorf("reads %d bytes, want 7", n)
	}
	if got := NewHasher(Options{}).memo.limit; got != DefaultMemo {
		t.Errorf("holds %d by default, want %d", got, DefaultMemo)
	}
}
