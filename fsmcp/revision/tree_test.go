package revision

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The tokens in this table were computed outside of this program, with sha256sum or a few lines that follow D5.
func TestTokenIsTheOneTheSchemeFixes(t *testing.T) {
	root, _ := planted(t, "f = abc", "empty = ", "d/", "t/a/b = abc", "t/a.txt = abc", "t/e/", "t/l => a",
		"to-f => f", "to-d => d", "to-gone => gone", "out => ../x")
	const abc, none = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	tests := []struct {
		arg  string
		want Revision
	}{
		{"gone", Revision{Absent, "sha256-v1:absent"}},
		{"gone/deeper", Revision{Absent, "sha256-v1:absent"}},
		{"f", Revision{File, "sha256-v1:file:" + abc}},
		{"empty", Revision{File, "sha256-v1:file:" + none}},
		{"d", Revision{Directory, "sha256-v1:directory:" + none}},
		{"t", Revision{Directory, "sha256-v1:directory:cd86b91ea639c0cc7fac7bb24c43d9a20efc43f6785abc1d492b975d449f7a71"}},
		{"to-f", Revision{Symlink, "sha256-v1:symlink:0a1e29401092990d3627bf67dbc4c5b410dd5535913f7f077f0c238602a7d643"}},
		{"to-d", Revision{Symlink, "sha256-v1:symlink:ba93f75aee8ad2d328e9a56a93c04f74f289965a33d854e2ff38aa566b7450d3"}},
		{"to-gone", Revision{Symlink, "sha256-v1:symlink:b6bcb4a3ff7efcbea123bf2068bf7137e3a8f4481525fd7c27cdcb909794eac4"}},
		{"out", Revision{Symlink, "sha256-v1:symlink:ca2fbd654a1ad011ad9708da3f206aaacdb23b5823bff9afc973b2075fbf650c"}},
	}
	for _, tt := range tests {
		t.Run(tt.arg, func(t *testing.T) {
			h := NewHasher(Options{Now: later().now})
			loc := entry(t, root, tt.arg)
			for _, got := range []Revision{mustObserve(t, h, loc), mustObserve(t, h, loc), mustFresh(t, h, loc)} {
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// slowToken is a directory's token by the shortest program that follows D5.
func slowToken(t testing.TB, dir string) Revision {
	t.Helper()
	var paths []string
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); rel != "." {
			paths = append(paths, filepath.ToSlash(rel))
		}
		return err
	}))
	slices.Sort(paths)
	sum := sha256.New()
	for _, p := range paths {
		path := filepath.Join(dir, filepath.FromSlash(p))
		info, err := os.Lstat(path)
		must(t, err)
		kind, payload := "o", []byte(nil)
		switch mode := info.Mode(); {
		case mode.IsDir():
			kind = "d"
		case mode.IsRegular():
			b, err := os.ReadFile(path)
			must(t, err)
			d := sha256.Sum256(b)
			kind, payload = "f", d[:]
		case mode&fs.ModeSymlink != 0:
			text, err := os.Readlink(path)
			must(t, err)
			kind, payload = "l", []byte(text)
		}
		fmt.Fprintf(sum, "%s\x00%s\x00%s\x00", kind, p, payload)
	}
	return Revision{Directory, Token(Scheme + ":directory:" + hex.EncodeToString(sum.Sum(nil)))}
}

func TestTreeTokenIsThatOfTheSlowProgramInWhateverOrderItWasMade(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			tree := randomTree(r)
			var tokens []Revision
			for range 2 {
				dir := t.TempDir()
				plant(t, dir, tree...)
				strange(t, dir)
				want := slowToken(t, dir)
				loc := located(t, rooted(t, dir), ".")
				h := NewHasher(Options{Now: later().now, Memo: 20})
				for pass, got := range []Revision{mustObserve(t, h, loc), mustObserve(t, h, loc), mustFresh(t, h, loc)} {
					if got != want {
						t.Errorf("pass %d: got %v, want %v", pass, got, want)
					}
				}
				tokens = append(tokens, want)
				r.Shuffle(len(tree), func(i, j int) { tree[i], tree[j] = tree[j], tree[i] })
			}
			if tokens[0] != tokens[1] {
				t.Errorf("two orders of creation: %v and %v", tokens[0], tokens[1])
			}
		})
	}
}

func TestTreeTokenOfManyBatches(t *testing.T) {
	var tree []string
	for i := range 150 { // more directories than a batch holds open
		tree = append(tree, fmt.Sprintf("d%03d/f", i), fmt.Sprintf("d%03d/l => f", i), fmt.Sprintf("d%03d/sub/f", i), fmt.Sprintf("d%03d/empty/", i))
	}
	for i := range 1200 { // more entries than the batches in flight hold
		tree = append(tree, fmt.Sprintf("flat/f%d", i))
	}
	root, dir := planted(t, tree...)
	h := NewHasher(Options{Now: later().now})
	loc := located(t, root, ".")
	want := slowToken(t, dir)
	for range 3 {
		if got := mustObserve(t, h, loc); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// changes is what a token must tell, and what it must not, of a tree that holds the first column.
func TestTreeTokenShowsEveryChangeOfContentAndNoOther(t *testing.T) {
	tree := []string{"f = old", "d/deep/.git/config = old", "d/deep/node_modules/m = old", "l => f", "empty/", "same = old"}
	tests := []struct {
		name   string
		change func(t *testing.T, path func(string) string)
		shows  bool
	}{
		{"shows other bytes of the same size", func(t *testing.T, at func(string) string) { rewrite(t, at("f"), "new") }, true},
		{"shows bytes below .git", func(t *testing.T, at func(string) string) { rewrite(t, at("d/deep/.git/config"), "new") }, true},
		{"shows bytes below node_modules", func(t *testing.T, at func(string) string) { rewrite(t, at("d/deep/node_modules/m"), "new") }, true},
		{"shows an appended byte", func(t *testing.T, at func(string) string) { rewrite(t, at("f"), "old!") }, true},
		{"shows another name", func(t *testing.T, at func(string) string) { must(t, os.Rename(at("f"), at("g"))) }, true},
		{"shows names exchanged between different bytes", func(t *testing.T, at func(string) string) {
			rewrite(t, at("same"), "new")
			must(t, os.Rename(at("f"), at("g")))
			must(t, os.Rename(at("same"), at("f")))
			must(t, os.Rename(at("g"), at("same")))
		}, true},
		{"shows a link's other target of the same bytes", func(t *testing.T, at func(string) string) {
			must(t, os.Remove(at("l")))
			must(t, os.Symlink("same", at("l")))
		}, true},
		{"shows a file in the place of an empty directory", func(t *testing.T, at func(string) string) {
			must(t, os.Remove(at("empty")))
			rewrite(t, at("empty"), "")
		}, true},
		{"shows a file in the place of a link to the same bytes", func(t *testing.T, at func(string) string) {
			must(t, os.Remove(at("l")))
			rewrite(t, at("l"), "old")
		}, true},
		{"shows a new empty file", func(t *testing.T, at func(string) string) { rewrite(t, at("d/deep/new"), "") }, true},
		{"shows a new empty directory", func(t *testing.T, at func(string) string) { must(t, os.Mkdir(at("empty/new"), 0o755)) }, true},
		{"shows a removed file", func(t *testing.T, at func(string) string) { must(t, os.Remove(at("d/deep/.git/config"))) }, true},
		{"shows a removed directory", func(t *testing.T, at func(string) string) { must(t, os.Remove(at("empty"))) }, true},

		{"hides modification times", func(t *testing.T, at func(string) string) {
			must(t, os.Chtimes(at("f"), time.Unix(1, 0), time.Unix(1, 0)))
			must(t, os.Chtimes(at("d"), time.Unix(1, 0), time.Unix(1, 0)))
		}, false},
		{"hides modes", func(t *testing.T, at func(string) string) {
			must(t, os.Chmod(at("f"), 0o755))
			must(t, os.Chmod(at("d"), 0o700))
		}, false},
		{"hides the same bytes in another file", func(t *testing.T, at func(string) string) {
			rewrite(t, at("g"), "old")
			must(t, os.Rename(at("g"), at("f")))
		}, false},
		{"hides bytes that came and went", func(t *testing.T, at func(string) string) {
			rewrite(t, at("f"), "new")
			rewrite(t, at("f"), "old")
		}, false},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			root, dir := planted(t, tree...)
			h := NewHasher(Options{Now: later().now})
			loc := located(t, root, ".")
			before := mustObserve(t, h, loc)
			tt.change(t, func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) })
			observed, fresh := mustObserve(t, h, loc), mustFresh(t, h, loc)
			if observed != fresh {
				t.Errorf("observed %v, fresh %v", observed, fresh)
			}
			if shown := fresh != before; shown != tt.shows {
				t.Errorf("before %v, after %v", before, fresh)
			}
		})
	}
}

// rewrite writes a file anew, until its change time differs from what it was: the clock of a file system is coarse, and
// what a memo may do with a write within it is told elsewhere.
func rewrite(t testing.TB, path, text string) {
	t.Helper()
	before, _ := os.Lstat(path)
	for {
		must(t, os.WriteFile(path, []byte(text), 0o644))
		after, err := os.Lstat(path)
		must(t, err)
		if before == nil || !after.ModTime().Equal(before.ModTime()) {
			return
		}
	}
}
