package textfile_test

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"lookfirst/fsmcp/textfile"
)

const (
	accessList  = "system.posix_acl_access"
	defaultList = "system.posix_acl_default"
)

// list is an access list as the kernel keeps it: the owner reads and writes, user 1234 reads and writes, the group reads,
// the mask lets both through, others get nothing. A version number of 4 bytes, then tag, rights and number of each entry.
func list() []byte {
	const userObj, user, groupObj, mask, other, none = 1, 2, 4, 0x10, 0x20, ^uint32(0)
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, rights uint16
		id          uint32
	}{{userObj, 6, none}, {user, 6, 1234}, {groupObj, 4, none}, {mask, 6, none}, {other, 0, none}} {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.rights)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return b
}

func setAttribute(t *testing.T, path, name, value string) {
	t.Helper()
	err := unix.Lsetxattr(path, name, []byte(value), 0)
	if errors.Is(err, unix.ENOTSUP) {
		t.Skipf("no attribute %s on this file system", name)
	}
	must(t, err)
}

// attributesOf reads the attributes that the tests set, and the permissions, which an access list is a part of.
func attributesOf(t *testing.T, path string) map[string]string {
	t.Helper()
	got := map[string]string{"mode": permOf(t, path).String()}
	for _, name := range []string{accessList, "user.note", "user.empty", "trusted.note", "security.capability"} {
		buf := make([]byte, 4096)
		n, err := unix.Lgetxattr(path, name, buf)
		if err == nil {
			got[name] = string(buf[:n])
		}
	}
	return got
}

func TestStoreKeepsAttributes(t *testing.T) {
	for _, test := range []struct {
		name  string
		setup func(t *testing.T, dir string)
		want  map[string]string
	}{
		{
			name: "keeps an access list, whose mask is the group's permissions",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/f", "old")
				setAttribute(t, dir+"/f", accessList, string(list()))
			},
			want: map[string]string{"mode": "-rw-rw----", accessList: string(list())},
		},
		{
			name: "gives a new file the access list of its directory",
			setup: func(t *testing.T, dir string) {
				setAttribute(t, dir, defaultList, string(list()))
			},
			want: map[string]string{"mode": "-rw-rw----", accessList: string(list())},
		},
		{
			name: "gives an old file no access list that it did not have",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/f", "old")
				must(t, os.Chmod(dir+"/f", 0o640))
				setAttribute(t, dir, defaultList, string(list()))
			},
			want: map[string]string{"mode": "-rw-r-----"},
		},
		{
			name: "keeps attributes of the user's, long and empty ones too",
			setup: func(t *testing.T, dir string) {
				put(t, dir+"/f", "old")
				must(t, os.Chmod(dir+"/f", 0o644))
				setAttribute(t, dir+"/f", "user.note", longValue)
				setAttribute(t, dir+"/f", "user.empty", "")
			},
			want: map[string]string{"mode": "-rw-r--r--", "user.note": longValue, "user.empty": ""},
		},
		{
			name: "drops capabilities, which were given to other bytes",
			setup: func(t *testing.T, dir string) {
				needRoot(t)
				put(t, dir+"/f", "old")
				must(t, os.Chmod(dir+"/f", 0o755))
				// Revision 2, then the sets: permitted and inheritable, low words and high ones.
				setAttribute(t, dir+"/f", "security.capability", "\x00\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
				setAttribute(t, dir+"/f", "trusted.note", "kept")
			},
			want: map[string]string{"mode": "-rwxr-xr-x", "trusted.note": "kept"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			test.setup(t, dir)
			got, err := store(t.Context(), openRoot(t, dir), "f", []byte("new"), textfile.StoreOptions{})
			must(t, err)
			if got.Note != "" {
				t.Errorf("got note %q, want none", got.Note)
			}
			if diff := cmp.Diff(test.want, attributesOf(t, dir+"/f")); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
			expectTree(t, dir, map[string]string{"f": "new"})
		})
	}
}

// longValue does not fit where attributes are first read to.
var longValue = string(make([]byte, 1000))
