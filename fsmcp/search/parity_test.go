package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// oddTree has what searchers could disagree about.
func oddTree() map[string]string {
	long := strings.Repeat("x", 5000)
	tree := map[string]string{
		"a.txt":                   "alpha\nTODO: one\nbeta\n",
		"a/b.txt":                 "TODO: two\nalpha\n",
		"a/z/deep.txt":            "nothing\nTODO\n",
		"a.b/c":                   "todo\nTodo\nTODO",
		".hidden/f":               "TODO hidden\n",
		".gitignore":              "a\n*.log\n",
		"x.log":                   "TODO ignored\n",
		".rgignore":               "*\n",
		"bin/nul":                 "TODO\x00\n",
		"bin/late-nul":            strings.Repeat("filler\n", 2000) + "TODO\x00late\n",
		"bin/latin1":              "TODO caf\xe9\n",
		"bin/utf16":               "\xff\xfeT\x00O\x00D\x00O\x00",
		"bin/cut":                 "TODO\n\xe2\x82",
		"crlf.txt":                "TODO: one\r\nTODO\r\n\r\nend\r\n",
		"cr.txt":                  "TODO\rmore\nx\r\r\nTODO\r",
		"bom.txt":                 "\ufeffTODO first\n\ufeffTODO second\n",
		"nfd.txt":                 "cafe\u0301 TODO\nu\u0308ber\ne\u0323\u0301x\n",
		"nfc.txt":                 "café TODO\nüber\n",
		"signs.txt":               "\u212aelvin; \u037e \u1fef\nKelvin; ` x\n\u212b \u00c5\n",
		"hangul.txt":              "\u1112\u1161\u11ab\n한\n",
		"han.txt":                 "\uf900 豈 日本語\n",
		"long.txt":                long + "TODO" + long + "\nshort TODO\n" + long + "\nTODO" + long + "\n" + long + "TODO",
		"empty":                   "",
		"blank":                   "\n\n\n",
		"noend":                   "last line TODO",
		"many.txt":                strings.Repeat("TODO many\nother\n\n", 40),
		"near.txt":                "p1\np2\nTODO\np3\nTODO\np4\np5\np6\nTODO\np7\n",
		"[id]/p.ts":               "TODO {\n}\n",
		"spaces in name/a b":      "TODO\n",
		"-dash":                   "TODO --pre=x\n",
		"link.txt => a.txt":       "",
		"a/up.txt => ../crlf.txt": "",
		"out.txt => /etc/passwd":  "",
		"loop => loop":            "",
		"gone => nowhere":         "",
		"dirlink => a":            "",
		"code.go":                 "func main() {\n\terr := f(x)\n\tif err != nil {\n\t\treturn\n\t}\n}\nfunc helper(a, b int) {}\n",
	}
	if runtime.GOOS != "windows" {
		tree["new\nline"] = "TODO\n"
		tree["d\nir/f"] = "TODO\n"
		tree["tab\tname"] = "TODO\n"
		tree["bad\xffname"] = "TODO\n"
	}
	return tree
}

// queries are asked of every engine.
func queries() []Query {
	literal := []string{
		"TODO", "todo", "TODO:", "TODO: one", "alpha", "x", "e", "\t", " ", "absent", ".", "*", "--pre=x", "-", "--", "a.txt", "{", "[", "(",
		"é", "café", "cafe\u0301", "e\u0301", "\u0301", "ü", "\u212a", "K", "Kelvin", "elvin; ", ";", "`", "Å", "한", "豈", "日本", "\ufeff", "TODO\x00", "filler",
		"func", "err := f(x)", strings.Repeat("x", 64), strings.Repeat("x", 3000), "xTODO", "many", "other", "p3",
	}
	regex := []string{
		"TODO", "^TODO", "TODO$", "^TODO$", "^$", "$", ".*", "(?i)todo", `\bTODO\b`, "TODO|alpha|beta", "[A-Z]{4}:", `\w+\s*:=`, "x{3,5}T", "caf.$", "caf\u00e9",
		`\p{Han}+`, `[^\x00-\x7f]`, `\s$`, `\s+$`, "^.$", `\r`, "(a*)*b", "K", "(?i)k", "func \\w+\\(", "p[0-9]", "^.{5000,}$|^.{4}$", `\x00`, ";|`",
	}
	var list []Query
	for _, p := range literal {
		list = append(list, Query{Pattern: p, Max: 1000})
	}
	for _, p := range regex {
		if !strings.Contains(p, "5000") { // RE2 counts to a thousand.
			list = append(list, Query{Pattern: p, Regex: true, Max: 1000})
		}
	}
	for _, context := range []int{1, 2, 20} {
		for _, most := range []int{1, 2, 3, 7, 1000} {
			list = append(list, Query{Pattern: "TODO", Context: context, Max: most}, Query{Pattern: "^p", Regex: true, Context: context, Max: most})
		}
	}
	for _, glob := range []string{"*.txt", "a*", "?.txt", "*", "nothing", "[id]", "*name"} {
		list = append(list, Query{Pattern: "TODO", Glob: glob, Max: 1000})
	}
	return list
}

// engines are all ways to search on this machine.
func engines(t *testing.T) map[string]string {
	t.Helper()
	list := map[string]string{"native": "native", "external": "external"}
	for _, name := range []string{"rg", "grep"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("%s is not installed: its tier is not compared", name)
			continue
		}
		list[name] = name
	}
	return list
}

func TestEnginesAnswerAlike(t *testing.T) {
	loc := plant(t, oddTree())
	dir, _ := loc.HostPath()
	all := queries()
	if len(all) < 60 {
		t.Errorf("there are %d queries, want at least 60", len(all))
	}
	t.Cleanup(ResetSearchers)
	for name, backend := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Setenv("MCP_FS_GREP_BACKEND", backend)
			ResetSearchers()
			for _, q := range all {
				r, err := Run(t.Context(), loc, q)
				if err != nil {
					t.Errorf("%+v: %v", q, err)
					continue
				}
				if diff := differ(text(newReference(t, q).tree(t, dir)), text(r)); diff != "" {
					t.Errorf("%+v: %s", q, diff)
				}
			}
			if backend == "rg" || backend == "grep" {
				if binary, decided := standingOf(backend).verdict(); !decided || binary == "" {
					t.Errorf("%s was not believed in the end", backend)
				}
			}
		})
	}
	t.Run("neither installed", func(t *testing.T) {
		t.Setenv("PATH", "")
		t.Setenv("MCP_FS_GREP_BACKEND", "external")
		ResetSearchers()
		for _, q := range all[:40] {
			r, err := Run(t.Context(), loc, q)
			if diff := differ(text(newReference(t, q).tree(t, dir)), text(r)); diff != "" || err != nil {
				t.Errorf("%+v: %v %s", q, err, diff)
			}
		}
	})
	for _, s := range []sizes{{32, 64}, {100, 100}, {64, 2048}} {
		t.Run(fmt.Sprintf("buffers of %v", s), func(t *testing.T) {
			with := defaults()
			with.sizes = s
			for _, q := range all {
				r, err := runWith(t.Context(), loc, q, with)
				if err != nil {
					t.Errorf("%+v: %v", q, err)
					continue
				}
				if diff := differ(text(newReference(t, q).tree(t, dir)), text(r)); diff != "" {
					t.Errorf("%+v: %s", q, diff)
				}
			}
		})
	}
}

// randomText is text of few kinds of pieces, so that matches and their neighbourhoods are frequent.
func randomText(r *rand.Rand) string {
	pieces := []string{
		"a", "b", "ab", "needle", "need", "\n", "\n", "\n", "\r\n", "\r", " ", "e\u0301", "é", "e", "\u0301\u0323", "K", "\u212a", ";", "\u037e", "日本", "\u1112\u1161\u11ab", "😀",
		"ſ", "s", "k", "_", "12", "\t", "x y", strings.Repeat("long ", 60),
		"InitTime", "initTIME", "I", "T",
	}
	if r.IntN(8) == 0 {
		pieces = append(pieces, strings.Repeat("very long ", 300))
	}
	if r.IntN(10) == 0 {
		pieces = append(pieces, "\x00", "\xff")
	}
	var b strings.Builder
	for range r.IntN(200) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func randomQuery(r *rand.Rand) Query {
	literals := []string{"a", "needle", "ab", "é", "e\u0301", "e", "K", ";", "s", "日", "한", " ", "x y", "12", "long very", "_", "😀", "g l", "InitTime", "InitTimeé", "IT"}
	regexes := []string{"a+b", "^a", "b$", "needle|é", "(?i)k", "(?i)S", `\bab\b`, "e.", `[^\x00-\x7f]`, "^$", `\d\s`, "(a*)*b", "(?i)needle", "K|;", `\p{L}{3}`, `s?k`, `\r`, `.\r.`, "InitTime|needle", "(?i)inittime", `\bInitTime\b`}
	q := Query{Pattern: literals[r.IntN(len(literals))], Context: r.IntN(4), Max: 1 + r.IntN(30)}
	if r.IntN(2) == 0 {
		q.Pattern, q.Regex = regexes[r.IntN(len(regexes))], true
	}
	return q
}

// TestSearchAgreesWithThePlainOne searches random trees with every tier and buffers of all sizes.
func TestSearchAgreesWithThePlainOne(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 30
	}
	for seed := range uint64(rounds) {
		checkRandom(t, seed, seed*7+1)
		if t.Failed() {
			return
		}
	}
}

func FuzzSearch(f *testing.F) {
	for i := range uint64(24) {
		f.Add(i*i, i*7+1)
	}
	f.Fuzz(func(t *testing.T, tree, query uint64) { checkRandom(t, tree, query) })
}

func checkRandom(t *testing.T, tree, query uint64) {
	r := rand.New(rand.NewPCG(tree, 1))
	dir := t.TempDir()
	for i := range 1 + r.IntN(6) {
		path := filepath.Join(dir, []string{"", "d", "d/e", "f"}[r.IntN(4)], fmt.Sprint(i))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(randomText(r)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	loc := open(t, dir)
	r = rand.New(rand.NewPCG(query, 2))
	for range 4 {
		q := randomQuery(r)
		with := defaults()
		with.workers = 1 + r.IntN(3)
		first := 64 << r.IntN(6) // Enough for the marks on one letter.
		with.sizes = sizes{first, first * (1 + r.IntN(5))}
		backend := "native"
		if !q.Regex && r.IntN(4) == 0 {
			backend = []string{"rg", "grep"}[r.IntN(2)]
		}
		t.Setenv("MCP_FS_GREP_BACKEND", backend)
		got, err := runWith(t.Context(), loc, q, with)
		if err != nil {
			t.Fatal(err)
		}
		if diff := differ(text(newReference(t, q).tree(t, dir)), text(got)); diff != "" {
			t.Errorf("tree %d, query %d, %s, %+v, %+v: %s", tree, query, backend, q, with.sizes, diff)
		}
	}
}
