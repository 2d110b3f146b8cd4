//go:build unix

package confine

import (
	"errors"
	"os"
	"testing"
)

func portableDir(t *testing.T, dir string) rootDir {
	t.Helper()
	h, err := openPortable(dir)
	must(t, err)
	t.Cleanup(func() { h.close() })
	return h.(rootDir)
}

// TestDropOldName ends moves under which somebody has changed one of the two names: nothing is removed then.
func TestDropOldName(t *testing.T) {
	tests := []struct {
		name string
		act  func(dir string) error
		want error
		left []string
	}{
		{"drops the old name", func(dir string) error { return nil }, nil, []string{"new"}},
		{"keeps it when the new one is of another file", func(dir string) error { return os.Rename(dir+"/other", dir+"/new") }, errMoved, []string{"f", "new"}},
		{"keeps it when the new one has gone", func(dir string) error { return os.Remove(dir + "/new") }, errMoved, []string{"f", "other"}},
		{"keeps it when it is of another file", func(dir string) error { return os.Rename(dir+"/other", dir+"/f") }, errMoved, []string{"f", "new"}},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			dir := physicalTemp(t)
			plant(t, dir, "f", "other")
			must(t, os.Link(dir+"/f", dir+"/new"))
			seen, err := os.Lstat(dir + "/f")
			must(t, err)
			must(t, tt.act(dir))
			d := portableDir(t, dir)
			if err := d.dropOldName("f", d, "new", seen); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			for _, name := range tt.left {
				if !exists(dir + "/" + name) {
					t.Errorf("%s has gone", name)
				}
			}
			if tt.want == nil && exists(dir+"/f") {
				t.Error("f is still there")
			}
		})
	}
}
