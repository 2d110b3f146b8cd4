package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/repomap"
)

// Maps are measured by CPU time, user and system, on a copy of the tree that is in the page cache: cold ones by that of
// whole processes, and what a process does often by its own account of that alone, divided. The peer is ctags -R, which
// finds definitions and no references. The sides take turns within a round; a number is the median.

// mapCommand measures maps of the named trees and prints a table.
func mapCommand(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("map", flag.ContinueOnError)
	rounds := flags.Int("rounds", 5, "timed rounds")
	ctags := flags.String("ctags", "ctags", "the Universal Ctags to compare with")
	once := flags.String("once", "", "do one thing a number of times, as edit=20, and nothing else")
	cache := flags.String("cache", "", "with -once, where parse results outlive the process")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("name one or more directories to map")
	}
	if *once != "" {
		return mapOnce(*once, *cache, flags.Arg(0), stdout)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, tree := range flags.Args() {
		b := mapBench{self: self, ctags: *ctags, rounds: *rounds, out: stdout}
		if err := b.tree(tree); err != nil {
			return fmt.Errorf("map %s: %w", tree, err)
		}
	}
	return nil
}

// mapBench measures on this machine.
type mapBench struct {
	self, ctags string
	rounds      int
	out         io.Writer
	dir         string // the copy of the tree
	cpu         map[string][]time.Duration
}

// mapAct is something that a process can do, and how often it does it: enough for tens of milliseconds. One that is done
// no times is what the process does anyway.
type mapAct struct {
	name  string
	times int
}

func mapActs() []mapAct {
	return []mapAct{{"cold", 0}, {"warm", 100}, {"edit", 20}, {"walk", 100}}
}

func (b *mapBench) tree(tree string) error {
	dir, err := os.MkdirTemp("", "bench-map")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.dir = filepath.Join(dir, "tree")
	if err := os.CopyFS(b.dir, os.DirFS(tree)); err != nil {
		return err
	}
	cache := filepath.Join(dir, "cache")
	if _, err := b.run("cold", b.self, "map", "-once", "cold=0", "-cache", cache, b.dir); err != nil {
		return err
	}
	b.cpu = map[string][]time.Duration{}
	for range b.rounds {
		if _, err := b.run("ctags", b.ctags, "-R", "-f", filepath.Join(dir, "tags"), b.dir); err != nil {
			return err
		}
		if _, err := b.run("stored", b.self, "map", "-once", "cold=0", "-cache", cache, b.dir); err != nil {
			return err
		}
		for _, act := range mapActs() {
			said, err := b.run(act.name, b.self, "map", "-once", act.name+"="+strconv.Itoa(act.times), b.dir)
			if err != nil {
				return err
			}
			if act.times > 0 {
				if err := b.correct(act, said); err != nil {
					return err
				}
			}
		}
	}
	said, err := b.run("size", b.self, "map", "-once", "size=0", b.dir)
	if err != nil {
		return err
	}
	return b.print(tree, said)
}

// run runs a process, notes its CPU time and gives its output.
func (b *mapBench) run(name, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", cmd, err)
	}
	if b.cpu != nil {
		b.cpu[name] = append(b.cpu[name], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	return string(out), nil
}

// correct puts what a process said of the act in place of its whole CPU time.
func (b *mapBench) correct(act mapAct, said string) error {
	cpu, err := time.ParseDuration(said)
	if err != nil {
		return fmt.Errorf("%s: %w", act.name, err)
	}
	list := b.cpu[act.name]
	list[len(list)-1] = cpu / time.Duration(act.times)
	return nil
}

func (b *mapBench) median(name string) time.Duration {
	list := slices.Sorted(slices.Values(b.cpu[name]))
	return list[len(list)/2]
}

func (b *mapBench) print(tree, said string) error {
	cold, ctags, walk := b.median("cold"), b.median("ctags"), b.median("walk")
	rows := []struct {
		name     string
		of, than time.Duration
		base     string
		goal     float64
	}{
		{"cold map", cold, ctags, "ctags -R", 8},
		{"cold map in a second process", b.median("stored"), cold, "cold map", 0.1},
		{"map after one edit", b.median("edit"), cold, "cold map", 0.1},
		{"map of an unchanged tree", b.median("warm"), walk, "walk and lstat", 5},
	}
	fmt.Fprintf(b.out, "%s: %s, %d workers, median of %d\n", tree, strings.TrimSpace(said), min(runtime.GOMAXPROCS(0), 4), b.rounds)
	for _, r := range rows {
		verdict := "met"
		if ratio := float64(r.of) / float64(r.than); ratio > r.goal {
			verdict = "missed"
		}
		_, err := fmt.Fprintf(b.out, "  %-30s %9.2f ms CPU = %6.3f x %-14s (%.2f ms); goal %.2g %s\n", r.name,
			float64(r.of.Microseconds())/1000, float64(r.of)/float64(r.than), r.base, float64(r.than.Microseconds())/1000, r.goal, verdict)
		if err != nil {
			return err
		}
	}
	return nil
}

// mapOnce is a process of ours: what it does, and how often.
func mapOnce(act, cache, tree string, stdout io.Writer) error {
	name, count, _ := strings.Cut(act, "=")
	times, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	root, err := confine.OpenRoot(tree)
	if err != nil {
		return err
	}
	defer root.Close()
	m := repomap.New(repomap.Options{Root: root, CacheDir: cache})
	draw := func() error {
		_, err := m.Map(context.Background(), repomap.Request{Path: "."})
		return err
	}
	if name == "walk" {
		return often(stdout, times, func() error { return walk(root) })
	}
	if err := draw(); err != nil {
		return err
	}
	switch name {
	case "warm":
		return often(stdout, times, draw)
	case "edit":
		return edit(tree, func(change func() error) error {
			return often(stdout, times, func() error { return errors.Join(change(), draw()) })
		})
	case "size":
		return printSize(m, root, stdout)
	}
	return m.Close()
}

// often does something a number of times, and says what CPU time that took in all.
func often(stdout io.Writer, times int, act func() error) error {
	before := ownCPU()
	for range times {
		if err := act(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(stdout, ownCPU()-before)
	return err
}

// walk is the floor of a map of an unchanged tree: it visits what the map visits, and asks after every file.
func walk(root *confine.Root) error {
	loc, err := root.Resolve("path", ".")
	if err != nil {
		return err
	}
	dir, err := loc.OpenDir()
	loc.Close()
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Walk(context.Background(), confine.FilesFirst, func(s *confine.Step) error {
		if s.Kind == confine.Directory && strings.HasPrefix(s.Name, ".") {
			return confine.SkipDir
		}
		if s.Kind == confine.Regular {
			_, err := s.Dir.Stat(s.Name)
			return err
		}
		return nil
	})
}

// edit has lines added to one source file, the one whose size is in the middle. In the end the file is as it was, so that
// other processes find the tree unchanged.
func edit(tree string, often func(change func() error) error) error {
	name, size, err := middleFile(tree)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = often(func() error {
		_, err := f.WriteString("\n")
		return err
	})
	return errors.Join(err, f.Truncate(size), f.Close())
}

// middleFile is the source file whose size is in the middle.
func middleFile(tree string) (string, int64, error) {
	type sized struct {
		name string
		size int64
	}
	var files []sized
	err := filepath.WalkDir(tree, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !slices.Contains([]string{".c", ".go", ".java", ".js", ".py", ".rs", ".ts"}, filepath.Ext(name)) {
			return err
		}
		info, err := d.Info()
		if err == nil {
			files = append(files, sized{name, info.Size()})
		}
		return err
	})
	if err != nil || len(files) == 0 {
		return "", 0, errors.Join(err, errors.New("no file to edit"))
	}
	slices.SortFunc(files, func(a, b sized) int { return cmp.Compare(a.size, b.size) })
	middle := files[len(files)/2]
	return middle.name, middle.size, nil
}

// printSize says what the cache of a mapped tree takes.
func printSize(m *repomap.Mapper, root *confine.Root, stdout io.Writer) error {
	text, err := m.Map(context.Background(), repomap.Request{Path: "."})
	if err != nil {
		return err
	}
	summary := text[strings.LastIndexByte(text, '[')+1:]
	files, err := strconv.Atoi(strings.Fields(summary)[1])
	if err != nil {
		return err
	}
	var with, without runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&with)
	runtime.KeepAlive(m)
	m = repomap.New(repomap.Options{Root: root})
	runtime.GC()
	runtime.ReadMemStats(&without)
	runtime.KeepAlive(m)
	_, err = fmt.Fprintf(stdout, "%d files, %d bytes of memory each", files, (with.HeapAlloc-without.HeapAlloc)/uint64(max(1, files)))
	return err
}
