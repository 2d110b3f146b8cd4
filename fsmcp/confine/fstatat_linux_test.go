package confine

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFstatat compares with what golang.org/x/sys says of the same name.
func TestFstatat(t *testing.T) {
	dir := physicalTemp(t)
	longest := strings.Repeat("n", unix.NAME_MAX)
	plant(t, dir, "f", "a/", "a/"+longest, longest, "l => f", longest[1:])
	d, err := os.Open(dir)
	must(t, err)
	defer d.Close()
	for _, name := range []string{
		"f", "a", "l", "", ".", "nothing", longest, longest[1:], longest + "n", "a/" + longest, longest + "/f", "f\x00", "f\x00x", "\x00",
		strings.Repeat("./", (unix.NAME_MAX+1)/2-1) + "/f", strings.Repeat("./", 1<<10) + "f", strings.Repeat("./", 1<<12) + "f",
	} {
		for _, flags := range []int{0, unix.AT_SYMLINK_NOFOLLOW, unix.AT_EMPTY_PATH} {
			var got, want unix.Stat_t
			gotErr, wantErr := fstatat(int(d.Fd()), name, &got, flags), unix.Fstatat(int(d.Fd()), name, &want, flags)
			if got != want || gotErr != wantErr {
				t.Errorf("%.20q of %d bytes, flags %d: got %v, %v; want %v, %v", name, len(name), flags, got, gotErr, want, wantErr)
			}
		}
	}
}
