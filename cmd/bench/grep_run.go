package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lookfirst/fsmcp/search"
)

// searchHere answers a query in this process.
func searchHere(tree string, q search.Query) (cost, int, error) {
	query, err := json.Marshal(q)
	if err != nil {
		return cost{}, 0, err
	}
	var out bytes.Buffer
	begin, before := time.Now(), ownCPU()
	err = grepOnce(string(query), tree, &out)
	return cost{wall: time.Since(begin), cpu: ownCPU() - before}, bytes.Count(out.Bytes(), []byte("\n")), err
}

// once is a process that answers a query, for strace.
func (b *grepBench) once(tree string, q search.Query) (*exec.Cmd, error) {
	query, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	return exec.Command(b.self, "grep", "-once", string(query), tree), nil
}

func (b *grepBench) theirs(tree string, c grepCase) (cost, int, error) {
	args := []string{"--no-config", "--no-ignore", "--hidden", "--no-messages", "--no-heading", "--color=never", "-n"}
	args = append(append(args, c.peer...), "--", c.query.Pattern, tree)
	return timed(exec.Command(b.rg, args...), c.lines)
}

// timed runs a command with its output in a file, and counts the lines there. With a limit, the output goes through head.
// (Into /dev/null, ripgrep would stop at the first match.)
func timed(cmd *exec.Cmd, limit int) (cost, int, error) {
	out, err := os.CreateTemp("", "bench")
	if err != nil {
		return cost{}, 0, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd.Stdout = out
	begin := time.Now()
	if limit > 0 {
		err = runThroughHead(cmd, limit, out)
	} else {
		err = cmd.Run()
	}
	c := cost{wall: time.Since(begin)}
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && (exit.ExitCode() == 1 || limit > 0)) {
		return cost{}, 0, fmt.Errorf("%s: %w", cmd, err)
	}
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b, err := os.ReadFile(out.Name())
	return c, bytes.Count(b, []byte("\n")), err
}

func runThroughHead(cmd *exec.Cmd, limit int, out *os.File) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	head := exec.Command("head", "-n", strconv.Itoa(limit))
	head.Stdin, head.Stdout, cmd.Stdout = r, out, w
	err = errors.Join(head.Start(), cmd.Start())
	// Only the two processes may hold the pipe, so that it breaks when head has enough.
	r.Close()
	w.Close()
	if err != nil {
		return err
	}
	return errors.Join(head.Wait(), cmd.Wait())
}

// tiers compares our own scan with asking a searcher first.
func (b *grepBench) tiers(tree string) error {
	queries := []search.Query{
		{Pattern: "zq_absent_needle", Max: 50},
		{Pattern: "runtimeInitTime", Max: 50},
		{Pattern: "return", Max: 50},
	}
	os.Setenv("MCP_FS_RG", b.rg)
	defer os.Unsetenv("MCP_FS_RG")
	fmt.Fprintln(b.out, "| tier, times our own scan | wall x | CPU x, without the searcher's |\n|---|---|---|")
	for _, q := range queries {
		for _, tier := range []string{"rg", "grep"} {
			side := func(backend string) func() (cost, int, error) {
				return func() (cost, int, error) {
					os.Setenv("MCP_FS_GREP_BACKEND", backend)
					defer os.Unsetenv("MCP_FS_GREP_BACKEND")
					return searchHere(tree, q)
				}
			}
			costs, _, err := b.takeTurns([]func() (cost, int, error){side(tier), side("native")})
			if err != nil {
				return err
			}
			wall, cpu := ratios(costs[0], costs[1])
			fmt.Fprintf(b.out, "| %s, %s | %.2f | %.2f |\n", tier, q.Pattern, wall, cpu)
		}
	}
	fmt.Fprintln(b.out)
	return nil
}

// systemCalls counts those of one scan a file, without those of Go's scheduler.
func (b *grepBench) systemCalls(tree string) error {
	if _, err := exec.LookPath("strace"); err != nil {
		fmt.Fprint(b.out, "system calls: strace is not installed\n\n")
		return nil
	}
	cmd, err := b.once(tree, search.Query{Pattern: "zq_absent_needle", Max: 50})
	if err != nil {
		return err
	}
	report := filepath.Join(os.TempDir(), "bench-strace-"+strconv.Itoa(os.Getpid()))
	defer os.Remove(report)
	cmd = exec.Command("strace", append([]string{"-f", "-c", "-o", report}, cmd.Args...)...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("strace: %w", err)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		return err
	}
	calls, details := filesCalls(string(text))
	files := countFiles(tree)
	fmt.Fprintf(b.out, "system calls: %.2f a file (%d files; %s), goal 3.3\n\n", float64(calls)/float64(files), files, details)
	return nil
}

// filesCalls sums the calls that concern files in strace's table.
func filesCalls(report string) (calls int, details string) {
	var parts []string
	for line := range strings.Lines(report) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		switch name := fields[len(fields)-1]; name {
		case "open", "openat", "openat2", "read", "pread64", "close", "close_range", "getdents64", "fstat", "newfstatat", "statx", "fcntl", "mmap", "lseek":
			n, err := strconv.Atoi(fields[3])
			if err != nil {
				continue
			}
			calls += n
			parts = append(parts, fmt.Sprintf("%s %d", name, n))
		}
	}
	return calls, strings.Join(parts, ", ")
}

func countFiles(tree string) int {
	n := 0
	filepath.WalkDir(tree, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			n++
		}
		return nil
	})
	return n
}

// hostile measures a pattern that backtracking engines choke on against an easy one, on one long line.
func (b *grepBench) hostile() error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "line"), bytes.Repeat([]byte("a"), 1<<20), 0o600); err != nil {
		return err
	}
	side := func(pattern string) func() (cost, int, error) {
		return func() (cost, int, error) {
			return searchHere(dir, search.Query{Pattern: pattern, Regex: true, Max: 50})
		}
	}
	costs, _, err := b.takeTurns([]func() (cost, int, error){side("(a*)*b"), side("ab"), side("(a*)*[bc]"), side("a+[bc]")})
	if err != nil {
		return err
	}
	literal, _ := ratios(costs[0], costs[1])
	class, _ := ratios(costs[2], costs[3])
	fmt.Fprintf(b.out, "on a line of 1 MB of a's: (a*)*b %.2f times ab, (a*)*[bc] %.2f times a+[bc], goal 2\n", literal, class)
	return nil
}
