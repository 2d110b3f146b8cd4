//go:build unix

package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// plant makes entries below dir: "d/" a directory, "f" a file that holds its own name, "a => b" a link. A target that
// begins with "ROOT" is absolute, below dir.
func plant(t *testing.T, dir string, entries ...string) {
	t.Helper()
	for _, entry := range entries {
		name, target, isLink := strings.Cut(entry, " => ")
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(strings.Replace(target, "ROOT", dir, 1), path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o777)
		default:
			err = os.WriteFile(path, []byte(name), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// physicalTemp is a new directory by its physical path: where t.TempDir is may itself be reached by a link.
func physicalTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// agree fails when PhysicalPath and the operating system see path differently: the same place or the same refusal.
func agree(t *testing.T, path string) (physical string, err error) {
	t.Helper()
	want, wantErr := os.Stat(path)
	physical, err = PhysicalPath(path, 0)
	if err != nil {
		for kind, errno := range map[error]syscall.Errno{
			ErrTooManyLinks: syscall.ELOOP, ErrNotExist: syscall.ENOENT, ErrNotDirectory: syscall.ENOTDIR,
		} {
			if errors.Is(err, kind) && errors.Is(wantErr, errno) {
				return "", err
			}
		}
		t.Fatalf("%s: got %v, but the system says %v", path, err, wantErr)
	}
	got, gotErr := os.Lstat(physical)
	switch {
	case errors.Is(wantErr, syscall.ELOOP) && runtime.GOOS != "linux":
		// Other systems follow fewer links than the 40 of ours; macOS 32.
	case wantErr == nil && (gotErr != nil || !os.SameFile(want, got)):
		t.Fatalf("%s: got %s (%v), which is another file than the system opens", path, physical, gotErr)
	case wantErr != nil && !(errors.Is(wantErr, fs.ErrNotExist) && errors.Is(gotErr, fs.ErrNotExist)):
		t.Fatalf("%s: got %s (%v), but the system says %v", path, physical, gotErr, wantErr)
	}
	if again, err := PhysicalPath(physical, 0); err != nil || again != physical {
		t.Fatalf("%s: got %s, which leads on to %s, %v", path, physical, again, err)
	}
	return physical, nil
}

func TestPhysicalPathNamesWhatTheSystemOpens(t *testing.T) {
	dir := physicalTemp(t)
	plant(t, dir, "root/deep/a/b/", "root/f.txt", "root/x", "root/deep/x", "root/deep/a/x.txt", "x",
		"root/one/L => ../deep/a/b", "root/abs/L => ROOT/root/deep/a/b", "root/L2 => deep",
		"root/one/K => L/../../x", "root/one/up => ../../x", "root/one/back => ../../root/x", "root/parent => ..",
		"root/file => f.txt", "root/slash => f.txt/", "root/dot => f.txt/.", "root/into => f.txt/../x",
		"root/nothing => gone/../x", "root/dangling => gone/too", "root/loop => loop")
	tests := []struct {
		path string
		want string // below dir; "" when it is refused
	}{
		{"root/one/L/../x.txt", "root/deep/a/x.txt"},
		{"root/abs/L/../x.txt", "root/deep/a/x.txt"},
		{"root/one/L/../../x", "root/deep/x"},
		{"root/one/../L2/x", "root/deep/x"},
		{"root/one/K", "root/deep/x"},
		{"root/one/up", "x"},
		{"root/one/back", "root/x"},
		{"root/parent/x", "x"},
		{"root/gone/../x", ""},
		{"root/f.txt/../x", ""},
		{"root/into", ""},
		{"root/nothing", ""},
		{"root/f.txt/", ""},
		{"root/f.txt/.", ""},
		{"root/slash", ""},
		{"root/dot", ""},
		{"root/file/", ""},
		{"root/file", "root/f.txt"},
		{"root/dangling", "root/gone/too"},
		{"root/dangling/x", "root/gone/too/x"},
		{"root/one/L/not/yet", "root/deep/a/b/not/yet"},
		{"root/loop", ""},
		{"root/loop/x", ""},
		{"root//./one/", "root/one"},
	}
	for _, tt := range tests {
		t.Run("it follows "+tt.path, func(t *testing.T) {
			got, err := agree(t, dir+"/"+tt.path)
			switch {
			case tt.want == "" && err == nil:
				t.Errorf("got %s, want it refused", got)
			case tt.want != "" && got != dir+"/"+tt.want:
				t.Errorf("got %s, %v, want %s", got, err, dir+"/"+tt.want)
			}
		})
	}
}

func TestPhysicalPathStartsAtTheWorkingDirectory(t *testing.T) {
	dir := physicalTemp(t)
	plant(t, dir, "real/sub/", "real/f", "link => real/sub")
	t.Chdir(dir + "/link") // The shell's idea of where this is, $PWD, still has the link in it.
	for path, want := range map[string]string{
		".": "/real/sub", "../f": "/real/f", "new": "/real/sub/new", "../../link": "/real/sub",
	} {
		if got, err := agree(t, path); err != nil || got != dir+want {
			t.Errorf("%s: got %s, %v, want %s", path, got, err, dir+want)
		}
	}
	if got, err := PhysicalPath("", 0); !errors.Is(err, ErrBlocked) {
		t.Errorf("the empty path: got %s, %v, want it blocked", got, err)
	}
}

func TestPhysicalPathCountsLinks(t *testing.T) {
	dir := physicalTemp(t)
	plant(t, dir, "l0")
	for n := range 60 {
		plant(t, dir, fmt.Sprintf("l%d => l%d", n+1, n))
	}
	tests := []struct {
		name    string
		links   int
		maxHops int
		ok      bool
	}{
		{"follows 40", 40, 0, true},
		{"refuses 41", 41, 0, false},
		{"follows as many as it is told", 60, 60, true},
		{"refuses one more than it is told", 3, 2, false},
		{"follows none below zero", 1, -1, false},
		{"keeps what is no link below zero", 0, -1, true},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			got, err := PhysicalPath(fmt.Sprintf("%s/l%d", dir, tt.links), tt.maxHops)
			if tt.ok && got != dir+"/l0" || !tt.ok && !errors.Is(err, ErrTooManyLinks) {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestPhysicalPathRefusesWhatHasGrownTooLong(t *testing.T) {
	dir := physicalTemp(t)
	part := "/" + strings.Repeat("d", 250)
	plant(t, dir, "link => ROOT"+part)
	if got, err := PhysicalPath(dir+"/link"+part, 0); err != nil || got != dir+part+part {
		t.Errorf("got %s, %v, want it below where the link leads", got, err)
	}
	for _, path := range []string{dir + "/link" + strings.Repeat(part, 16), dir + "/" + strings.Repeat("d", 256)} {
		if got, err := PhysicalPath(path, 0); !errors.Is(err, ErrBlocked) {
			t.Errorf("got %s, %v, want it blocked", got, err)
		}
	}
}

func TestPhysicalPathSaysWhatMayNotBeSearched(t *testing.T) {
	dir := physicalTemp(t)
	plant(t, dir, "shut/x", "link => shut/x")
	if _, err := agree(t, dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root may search every directory; needs a plain user, and TestChaseFailsClosed covers the rest")
	}
	if err := os.Chmod(dir+"/shut", 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir+"/shut", 0o777) })
	if got, err := PhysicalPath(dir+"/link", 0); !errors.Is(err, ErrPermission) {
		t.Errorf("got %s, %v, want it refused for want of permission", got, err)
	}
}

// TestPhysicalPathOnRandomTrees plants trees of directories, files and links whose targets are put together at random, and
// asks the operating system about paths of the same kind. What matters is what no table has: links through links, through
// files and nothing, and ".." behind each of them.
func TestPhysicalPathOnRandomTrees(t *testing.T) {
	temp := physicalTemp(t)
	seen := map[string]int{}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 40))
		// The tree begins some levels down, so that a ".." too many still stays in the temporary directory.
		dir := fmt.Sprintf("%s/%d/up/up/up", temp, seed)
		growTree(t, random, dir)
		for range 40 {
			path := dir + "/" + randomPath(random, 5)
			physical, err := agree(t, path)
			seen[outcome(physical, err)]++
			if err == nil && strings.HasPrefix(physical, dir+"/") {
				createThrough(t, path, physical)
			}
		}
	}
	// Without a good number of each the trees would prove nothing.
	refusals := []string{ErrTooManyLinks.Error(), ErrNotExist.Error(), ErrNotDirectory.Error()}
	for _, what := range append(refusals, "exists", "does not exist") {
		if seen[what] < 50 {
			t.Errorf("only %d paths ended as %q: %v", seen[what], what, seen)
		}
	}
}

func outcome(physical string, err error) string {
	var stop *chaseError
	switch {
	case errors.As(err, &stop):
		return stop.kind.Error()
	case err != nil:
		return err.Error()
	}
	if _, err := os.Lstat(physical); err != nil {
		return "does not exist"
	}
	return "exists"
}

// growTree makes up to 14 entries with names of one letter, each in a directory that an earlier one made.
func growTree(t *testing.T, random *rand.Rand, dir string) {
	t.Helper()
	plant(t, dir, "./")
	dirs := []string{""}
	for range 14 {
		name := dirs[random.IntN(len(dirs))] + randomName(random)
		if _, err := os.Lstat(dir + "/" + name); err == nil {
			continue
		}
		switch random.IntN(5) {
		case 0:
			plant(t, dir, name)
		case 1, 2:
			plant(t, dir, name+"/")
			dirs = append(dirs, name+"/")
		case 3:
			plant(t, dir, name+" => "+randomPath(random, 4))
		case 4:
			plant(t, dir, name+" => ROOT/"+randomPath(random, 3))
		}
	}
}

func randomName(random *rand.Rand) string { return string(rune('a' + random.IntN(6))) }

// randomPath has a few names, now and then "..", "." or an empty one among them, and sometimes a slash at its end.
func randomPath(random *rand.Rand, length int) string {
	var names []string
	for range 1 + random.IntN(length) {
		name := randomName(random)
		switch random.IntN(12) {
		case 0, 1:
			name = ".."
		case 2:
			name = "."
		case 3:
			name += "/"
		}
		names = append(names, name)
	}
	return strings.Join(names, "/")
}

// createThrough writes to a path for which nothing is there yet: the system has to make the file where PhysicalPath said.
func createThrough(t *testing.T, path, physical string) {
	t.Helper()
	if _, err := os.Lstat(physical); err == nil {
		return
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return // Directories are missing, or the path says that it is one.
	}
	defer file.Close()
	want, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.Lstat(physical)
	if err != nil || !os.SameFile(want, got) {
		t.Fatalf("%s: the system made another file than %s (%v)", path, physical, err)
	}
	if err := os.Remove(physical); err != nil {
		t.Fatal(err)
	}
}
