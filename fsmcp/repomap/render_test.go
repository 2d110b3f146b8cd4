package repomap

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestSummary(t *testing.T) {
	tests := []struct {
		name string
		s    summary
		want string
	}{
		{
			"it counts what was skipped",
			summary{files: 2, skipped: 1, definitions: 3, shown: 3},
			"[mapped 2 files (1 skipped: unsupported/binary/too-large), 3 definitions; ranked by references]",
		},
		{"it says one when there is one", summary{files: 1, definitions: 1, shown: 1}, "[mapped 1 file, 1 definition; ranked by references]"},
		{"it says how many are shown", summary{files: 10, definitions: 18, shown: 15}, "[mapped 10 files, 15 of 18 definitions; ranked by references]"},
		{
			"it counts the files left out",
			summary{files: 183, skipped: 411, definitions: 8150, shown: 96, left: 83, limit: 8192},
			"[mapped 183 files (411 skipped: unsupported/binary/too-large), 96 of 8150 definitions; 83 files left out to fit 8192 characters; ranked by references]",
		},
		{
			"it says when the walk stopped",
			summary{files: 5000, skipped: 1218, definitions: 162007, shown: 120, left: 4767, limit: 8192, stopped: "5000 files"},
			"[mapped 5000 files (1218 skipped: unsupported/binary/too-large), 120 of 162007 definitions; 4767 files left out to fit 8192 characters; stopped after 5000 files; ranked by references]",
		},
		{"it says when nothing was mapped", summary{skipped: 4}, "[mapped 0 files (4 skipped: unsupported/binary/too-large), 0 definitions; ranked by references]"},
		{"it says when nothing was there", summary{}, "[mapped 0 files, 0 definitions; ranked by references]"},
		{"it leaves one file out", summary{files: 2, definitions: 2, shown: 1, left: 1, limit: 512}, "[mapped 2 files, 1 of 2 definitions; 1 file left out to fit 512 characters; ranked by references]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if !hasGrammars {
				want = strings.Replace(want, "; ranked", "; built without a C compiler, so only Go and Raku are read; ranked", 1)
			}
			if diff := cmp.Diff(want, tt.s.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// random makes files that define and refer to names, as a fixed seed has it.
func random(seed uint64, count int) ([]file, *names) {
	r := rand.New(rand.NewPCG(seed, 7))
	c := newCache()
	var files []file
	for f := range count {
		t := &Tags{}
		line := 0
		for range r.IntN(12) {
			line += r.IntN(3)
			t.Definitions = append(t.Definitions, Definition{
				Name: fmt.Sprint("n", r.IntN(3*count)), Line: line + 1, Kind: Kind(r.IntN(4)), Text: strings.Repeat("é", r.IntN(40)) + fmt.Sprint(line),
			})
		}
		for range r.IntN(20) {
			t.References = append(t.References, Reference{Name: fmt.Sprint("n", r.IntN(3*count)), Count: 1 + r.IntN(9)})
		}
		path := fmt.Sprintf("d%d/%03d.go", r.IntN(4), f)
		files = append(files, file{path, c.put(path, 0, 0, key{}, t)})
	}
	return files, c.names
}

// checkMap holds what is true of every map: it fits, its summary is last, and a larger limit loses neither a file nor a
// definition.
func checkMap(t *testing.T, d *drawing, limits ...int) {
	t.Helper()
	blocks, shown := -1, -1
	for _, limit := range limits {
		text := d.render(limit)
		if n := utf8.RuneCountInString(text); n > limit && strings.Contains(text, "\n") {
			t.Errorf("the map in %d characters has %d:\n%s", limit, n, text)
		}
		last := text[strings.LastIndexByte(text, '\n')+1:]
		if !strings.HasPrefix(last, "[mapped ") || !strings.HasSuffix(last, "; ranked by references]") {
			t.Errorf("the map in %d characters ends in %q", limit, last)
		}
		b, s := strings.Count(text, "\n\n"), strings.Count(text, ": ")
		if b < blocks || s < shown {
			t.Errorf("the map in %d characters has %d blocks, %d lines; a smaller one had %d, %d", limit, b, s, blocks, shown)
		}
		blocks, shown = b, s
	}
}

func TestRenderKeepsItsLimit(t *testing.T) {
	for seed := range uint64(20) {
		files, names := random(seed, 5+int(seed)*4)
		d := draw(files, names, newGraph(files, names), steering{})
		var limits []int
		for limit := 120; limit < 12_000; limit += 37 {
			limits = append(limits, limit)
		}
		checkMap(t, d, limits...)
	}
}

// TestMeasure compares what a block is said to take with what it takes.
func TestMeasure(t *testing.T) {
	files, names := random(1, 30)
	d := draw(files, names, newGraph(files, names), steering{})
	c := &chooser{drawing: d, inner: make([]uint32, len(names.of))}
	for f := range files {
		if len(files[f].definitions) == 0 {
			continue
		}
		b := c.full(f)
		for k := 1; k <= len(b.best)+1; k++ {
			var out strings.Builder
			b.write(&out, k)
			if got := utf8.RuneCountInString(out.String()); got != b.size(k) {
				t.Errorf("%d lines of a block take %d characters, measured %d:\n%s", k, got, b.size(k), out.String())
			}
		}
	}
}

func FuzzRender(f *testing.F) {
	f.Add(uint64(1), uint8(10), uint16(512), uint16(40))
	f.Add(uint64(2), uint8(0), uint16(0), uint16(0))       // nothing to show, and no room for it
	f.Add(uint64(3), uint8(1), uint16(100), uint16(1))     // one file, about as long as the summary
	f.Add(uint64(4), uint8(255), uint16(300), uint16(20))  // most files do not fit
	f.Add(uint64(5), uint8(7), uint16(8192), uint16(8192)) // everything fits
	f.Fuzz(func(t *testing.T, seed uint64, count uint8, limit, more uint16) {
		files, names := random(seed, int(count))
		checkMap(t, draw(files, names, newGraph(files, names), steering{}), int(limit), int(limit)+int(more))
	})
}

func TestShown(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"it trims both ends", "\t  func f() {  \r\nnext", "func f() {"},
		{"it cuts a long line at 160 characters", strings.Repeat("é", 200), strings.Repeat("é", 160) + "…"},
		{"it leaves a line of 160 characters", strings.Repeat("é", 160), strings.Repeat("é", 160)},
		{"it composes characters", "e\u0301", "é"},
		{"it keeps a line on its line", "a\rb\u2028c\x1b[1m", "a b c [1m"},
		{"it keeps tabs within", "a\tb", "a\tb"},
		{"it cuts a line of a megabyte", strings.Repeat("ab\u0301", 300_000), strings.Repeat("ab\u0301", 53) + "a…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shown(tt.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTitle(t *testing.T) {
	for path, want := range map[string]string{"a/b c.go": "a/b c.go", "a\nb.go": `"a\nb.go"`, "caf\xe9.go": `"caf\xe9.go"`, "é.go": "é.go"} {
		if got := title(path); got != want {
			t.Errorf("title of %q is %s, want %s", path, got, want)
		}
	}
}

func TestHeaderLanguage(t *testing.T) {
	for text, want := range map[string]Language{
		"int f(void);\n":                      C,
		"/* class A\n template */ int x;\n":   C,
		"// namespace x\n":                    C,
		"int a; // std::vector\n":             C,
		"  class A {\n":                       CPP,
		"/* x */ namespace a {\n":             CPP,
		"a / b; std::vector<int> v;\n":        CPP,
		"/* a *//* b */\nprivate:\n":          CPP,
		"#define classy 1\nint templates2;\n": C,
	} {
		if got := headerLanguage([]byte(text)); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
