package fsmcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// secret is what no answer may hold, and outside has exactly the names that it had.
const secret = "the-secret-outside"

// TestSwapper calls every tool while a directory and a file are exchanged, as fast as the system can, for links that
// lead outside. What the tools do is then sometimes refused and sometimes done, and never outside the root. A second of
// it in the ordinary run, ten for each tool with LOOKFIRST_LONG set.
func TestSwapper(t *testing.T) {
	calls := map[string][]map[string]any{
		"read":   {{"path": "f"}, {"path": "d/in.txt"}, {"path": "d/in.txt", "offset": 1}},
		"write":  {{"path": "f", "content": "inside\n"}, {"path": "d/in.txt", "content": "inside\n"}, {"path": "d/w.txt", "content": "inside\n"}},
		"edit":   {{"path": "f", "old-string": "inside", "new-string": "inside!"}, {"path": "f", "old-string": "inside!", "new-string": "inside"}, {"path": "d/in.txt", "old-string": "n", "new-string": "n", "replace-all": true}},
		"list":   {{"path": "d"}, {"path": "d/sub"}, {"path": "."}},
		"glob":   {{"pattern": "*", "path": "d"}, {"pattern": "**/*.txt"}},
		"stat":   {{"path": "f"}, {"path": "d"}, {"path": "d/in.txt"}},
		"mkdir":  {{"path": "d/made/deep"}, {"path": "d/sub/x"}},
		"move":   {{"from": "d/in.txt", "to": "d/moved.txt"}, {"from": "d/moved.txt", "to": "d/in.txt"}, {"from": "mine.txt", "to": "d/mine.txt"}, {"from": "d/mine.txt", "to": "mine.txt"}},
		"delete": {{"path": "d/made", "recursive": true}, {"path": "d/w.txt"}, {"path": "d/sub/x", "recursive": true}},
	}
	// What a tool takes away has to be put back by another, or it would only ever be refused.
	helpers := map[string]string{"mkdir": "delete", "delete": "mkdir"}
	budget := 120 * time.Millisecond
	if os.Getenv("LOOKFIRST_LONG") != "" {
		budget = 10 * time.Second
	}
	for tool, arguments := range calls {
		t.Run(tool, func(t *testing.T) {
			r := newRace(t)
			stop := r.swap(t)
			r.call(t, budget, tool, arguments, helpers[tool], calls[helpers[tool]])
			stop()
			r.check(t, tool)
		})
	}
}

// race is a root with a place outside that looks the same from links in the root.
type race struct {
	root, outside string
	pack          *FileSystem
	before        string
	swaps         atomic.Int64
	worked        atomic.Int64 // calls of the tool that were not refused
}

func newRace(t *testing.T) *race {
	dir := t.TempDir()
	r := &race{root: filepath.Join(dir, "root"), outside: filepath.Join(dir, "outside")}
	for _, d := range []string{"root/d/sub", "outside/d/sub", "outside/d/made/keep"} {
		must(t, os.MkdirAll(filepath.Join(dir, d), 0o777))
	}
	for file, text := range map[string]string{
		"root/f": "inside\n", "root/d/in.txt": "inside\n", "root/mine.txt": "inside\n",
		"outside/f": secret, "outside/d/in.txt": secret, "outside/d/secret-name.txt": secret, "outside/d/w.txt": secret,
	} {
		must(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666))
	}
	must(t, os.Symlink("../outside/d", filepath.Join(r.root, "d.link")))
	must(t, os.Symlink(filepath.Join(r.outside, "f"), filepath.Join(r.root, "f.link")))
	r.before = snapshot(t, r.outside)
	pack, err := New(Options{Root: r.root, NoSync: true, LockDir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { pack.Close() })
	r.pack = pack
	return r
}

// swap exchanges until it is stopped.
func (r *race) swap(t *testing.T) (stop func()) {
	var done atomic.Bool
	var running sync.WaitGroup
	for _, name := range []string{"d", "f"} {
		running.Go(func() {
			a, b := filepath.Join(r.root, name), filepath.Join(r.root, name+".link")
			for !done.Load() {
				// The store may be replacing f at this moment; then there is nothing to exchange.
				if unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil {
					r.swaps.Add(1)
				}
			}
		})
	}
	return func() {
		done.Store(true)
		running.Wait()
	}
}

func (r *race) call(t *testing.T, budget time.Duration, tool string, arguments []map[string]any, helper string, helps []map[string]any) {
	ctx, cancel := context.WithTimeout(t.Context(), budget)
	defer cancel()
	limit, giveUp := context.WithTimeout(t.Context(), time.Minute)
	defer giveUp()
	// On a busy machine the budget may pass before there was a race at all.
	more := func() bool { return ctx.Err() == nil || !r.raced() && limit.Err() == nil }
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			for more() {
				r.worked.Add(r.each(t, tool, arguments))
				if helper != "" {
					r.each(t, helper, helps)
				}
			}
		})
	}
	running.Wait()
}

// each makes the calls and counts those that were not refused.
func (r *race) each(t *testing.T, tool string, arguments []map[string]any) (worked int64) {
	for _, args := range arguments {
		raw, err := json.Marshal(args)
		must(t, err)
		for _, tl := range r.pack.Tools() {
			if tl.Name != tool {
				continue
			}
			res := tl.Call(t.Context(), raw)
			if strings.Contains(res.Text, "secret") || strings.Contains(res.Text, r.root) {
				t.Errorf("%s %s answered %q", tool, raw, res.Text)
			}
			if !res.IsError {
				worked++
			}
		}
	}
	return worked
}

// check looks whether the place outside is as it was, and that there was a race at all.
func (r *race) check(t *testing.T, tool string) {
	if after := snapshot(t, r.outside); after != r.before {
		t.Errorf("outside was\n%s\nand is\n%s", r.before, after)
	}
	if !r.raced() {
		t.Errorf("nothing was tried: %d swaps, %d calls of %s that worked", r.swaps.Load(), r.worked.Load(), tool)
	}
}

// raced says whether the tool worked now and then while things were exchanged.
func (r *race) raced() bool { return r.worked.Load() > 0 && r.swaps.Load() >= 10 }

// snapshot is every path below dir with its bytes.
func snapshot(t *testing.T, dir string) string {
	var b strings.Builder
	must(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(path)
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.WriteString("=" + string(text))
		}
		b.WriteByte('\n')
		return nil
	}))
	return b.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
