package search

import (
	"fmt"
	"os"
	"testing"

	"lookfirst/fsmcp/confine"
)

func BenchmarkTry(b *testing.B) {
	root, err := confine.OpenRoot(os.Getenv("TREE"))
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		loc, err := root.Resolve("path", ".")
		if err != nil {
			b.Fatal(err)
		}
		r, err := Run(b.Context(), loc, Query{Pattern: os.Getenv("PAT"), Regex: os.Getenv("RE") != "", Max: 1000})
		loc.Close()
		if err != nil {
			b.Fatal(err)
		}
		n = r.Matches
	}
	fmt.Println(n)
}
