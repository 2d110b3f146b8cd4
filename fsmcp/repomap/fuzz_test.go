//go:build cgo

package repomap

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// FuzzRead has every reader look at any text. What they say must be fit for a map.
func FuzzRead(f *testing.F) {
	for _, text := range harbour() {
		f.Add(text)
	}
	for _, text := range []string{
		"a<b<a<b<", "((((", "{a:{a:", "'''", "/*", "`${", ")))", "}\n} x;", "\ufeffclass A", "a\xff", "#define", "import a from 'a'",
		"_(", "typedef struct { int a; } client;\nstatic int twice(int n);", "package p\nfunc f() { _ = new(int...); g(...); make(); []int(...) }", "import x \"y\"\nfunc f() { x.Y(T{a: b}) }",
	} {
		f.Add(text)
	}
	r := &reader{grammars: newGrammars(), parsers: parsers{limits: limits{parse: time.Second, query: time.Second}}}
	f.Cleanup(r.close)
	f.Fuzz(func(t *testing.T, text string) {
		for l := None + 1; l < languages; l++ {
			tags, err := r.read(l, []byte(text))
			if errors.Is(err, errPanicked) {
				t.Fatalf("%s: a panic", l)
			}
			if err != nil {
				continue
			}
			for _, d := range tags.Definitions {
				if d.Line < 1 || strings.ContainsAny(d.Text, "\n\r") {
					t.Errorf("%s: a definition %+v", l, d)
				}
			}
			for _, ref := range tags.References {
				if ref.Count < 1 || ref.Name == "_" {
					t.Errorf("%s: a reference %+v", l, ref)
				}
			}
		}
	})
}
