package repomap

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// edgesOf is the graph of files given by their paths and tags, as "from -> to" with weights.
func edgesOf(tags map[string]*Tags) map[string]float64 {
	c := newCache()
	var files []file
	for _, path := range slices.Sorted(maps.Keys(tags)) {
		files = append(files, file{path, c.put(path, 0, 0, key{}, tags[path])})
	}
	g := newGraph(files, c.names)
	got := map[string]float64{}
	for f := range files {
		for e := g.first[f]; e < g.first[f+1]; e++ {
			got[files[f].path+" -> "+files[g.to[e]].path] = g.weight[e]
		}
	}
	return got
}

func defining(names ...string) *Tags {
	t := &Tags{}
	for i, n := range names {
		t.Definitions = append(t.Definitions, Definition{Name: n, Line: i + 1, Text: n})
	}
	return t
}

func referring(refs ...Reference) *Tags { return &Tags{References: refs} }

func TestGraph(t *testing.T) {
	own := defining("helper")
	own.Definitions[0].Own = true
	inErrors, inTree := defining("New"), defining("New")
	inErrors.Package, inTree.Package = "errors", "tree"
	tests := []struct {
		name string
		tags map[string]*Tags
		want map[string]float64
	}{
		{
			"it weighs a reference by the square root of its count, shared among those who define the name",
			map[string]*Tags{"a.c": defining("x"), "b.c": defining("x"), "u.c": referring(Reference{"x", "", 4})},
			map[string]float64{"u.c -> a.c": 1, "u.c -> b.c": 1},
		},
		{
			"it shares with the referring file, and has no edge to itself",
			map[string]*Tags{"a.c": defining("x"), "u.c": {Definitions: defining("x").Definitions, References: []Reference{{"x", "", 1}}}},
			map[string]float64{"u.c -> a.c": .5},
		},
		{
			"it counts a file once however often it defines a name",
			map[string]*Tags{"a.c": defining("x", "x"), "u.c": referring(Reference{"x", "", 1})},
			map[string]float64{"u.c -> a.c": 1},
		},
		{
			"it hides a static function from other files",
			map[string]*Tags{"a.c": own, "u.c": referring(Reference{"helper", "", 1})},
			map[string]float64{},
		},
		{
			"it shows a static function of a header",
			map[string]*Tags{"a.h": own, "u.c": referring(Reference{"helper", "", 1})},
			map[string]float64{"u.c -> a.h": 1},
		},
		{
			"it looks for what is taken from a package in files of that package",
			map[string]*Tags{"errors.go": inErrors, "tree.go": inTree, "u.go": referring(Reference{"New", "errors", 1})},
			map[string]float64{"u.go -> errors.go": 1},
		},
		{
			"it has no edge for what is taken from a package elsewhere",
			map[string]*Tags{"tree.go": inTree, "u.go": referring(Reference{"New", "errors", 1})},
			map[string]float64{},
		},
		{
			"it looks everywhere for what is taken from nowhere",
			map[string]*Tags{"tree.go": inTree, "u.go": referring(Reference{"New", "", 1})},
			map[string]float64{"u.go -> tree.go": 1},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, edgesOf(tt.tags)); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGraphIgnoresNamesThatAllDefine(t *testing.T) {
	for definers, want := range map[int]int{maxDefiners: maxDefiners, maxDefiners + 1: 0} {
		tags := map[string]*Tags{"u.c": referring(Reference{"x", "", 1})}
		for i := range definers {
			tags[fmt.Sprintf("%02d.c", i)] = defining("x")
		}
		if got := len(edgesOf(tags)); got != want {
			t.Errorf("a name of %d files makes %d edges, want %d", definers, got, want)
		}
	}
}

func TestGraphSetsAsideWhatMostReferTo(t *testing.T) {
	tests := []struct{ files, users, want int }{
		{8, 4, 4}, // half is not most
		{8, 5, 0},
		{7, 6, 6}, // too few files to tell
		{9, 5, 0},
	}
	for _, tt := range tests {
		tags := map[string]*Tags{"a.c": defining("x")}
		for i := range tt.files - 1 {
			tags[fmt.Sprintf("u%d.c", i)] = defining(fmt.Sprint("other", i))
			if i < tt.users {
				tags[fmt.Sprintf("u%d.c", i)] = referring(Reference{"x", "", 1})
			}
		}
		if got := len(edgesOf(tags)); got != tt.want {
			t.Errorf("with %d of %d files referring to a name there are %d edges, want %d", tt.users, tt.files, got, tt.want)
		}
	}
}

func TestPackageName(t *testing.T) {
	for path, want := range map[string]string{
		"errors": "errors", "net/http": "http", "gopkg.in/yaml.v3": "yaml", "example.com/tide/v2": "tide", "example.com/go-tide": "tide",
		"example.com/tide-go": "tide", "v2": "v2", "k8s.io/api/v1beta1": "v1beta1",
	} {
		if got := packageName(path); got != want {
			t.Errorf("%s is called %s, want %s", path, got, want)
		}
	}
}
