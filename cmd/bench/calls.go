package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Servers of four kinds live at the same time and serve one directory: lookfirst as it is started without settings; with
// settings that have it remember one digest, which is then never the one that is asked for, or that spare the sync; the
// npm filesystem server; and the loop of this benchmark. They take turns, a slice of calls each, in an order that shifts
// from round to round, so that what else the machine does hits all alike. A round gives one number a side: the median time
// of the calls of its slice, or its calls a second. A ratio is the median of the rounds' ratios.
//
// The client is the same for all and its work is inside every number: it writes a line and finds the end of the line that
// comes back. Every first answer is decoded and compared with what is on the disk, every other one by its length.

// settle is for how long a file must have stood before its digest is remembered, with a margin.
const settle = 2500 * time.Millisecond

// callsBench measures on this machine.
type callsBench struct {
	out    io.Writer
	rounds int
	only   string // rows are left out whose names do not hold this text
	node   string
	npm    string // the npm server's script; empty where there is none
	work   string // holds what is built, and the tree
	tree   tree

	loop, npmServer      *server // npmServer is nil where there is none
	ours, forgets, quick *server
	figures              []*figure
}

// callsCommand measures single calls and prints a table.
func callsCommand(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("calls", flag.ContinueOnError)
	b := &callsBench{out: stdout}
	flags.IntVar(&b.rounds, "rounds", 15, "timed rounds")
	flags.StringVar(&b.only, "case", "", "only the rows whose names hold this `text`")
	flags.StringVar(&b.npm, "npm", "", "the `script` dist/index.js of an installed @modelcontextprotocol/server-filesystem")
	flags.StringVar(&b.node, "node", "node", "the program that runs it")
	dir := flags.String("dir", os.TempDir(), "the `directory` in which the files to serve are made, on a disk as one works on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || b.rounds < 1 {
		return errors.New("calls takes flags alone, and at least one round; see calls -help")
	}
	work, err := os.MkdirTemp(*dir, "bench-calls-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	// The npm server compares paths as they are written with those that links have been followed in.
	if b.work, err = filepath.EvalSymlinks(work); err != nil {
		return err
	}
	return b.run()
}

func (b *callsBench) run() error {
	if b.npm == "" {
		fmt.Fprint(b.out, "Without the npm server: its path is given with -npm, and nothing is installed here.\n\n")
	}
	fmt.Fprintln(os.Stderr, "bench: building")
	if err := b.build(); err != nil {
		return err
	}
	var err error
	if b.tree, err = makeTree(filepath.Join(b.work, "tree")); err != nil {
		return err
	}
	time.Sleep(settle)
	defer b.stop()
	if err := b.start(); err != nil {
		return err
	}
	started := b.memory()
	b.figures = slices.DeleteFunc(b.allFigures(), func(f *figure) bool { return !strings.Contains(f.name, b.only) })
	for round := range b.rounds + 1 {
		fmt.Fprintf(os.Stderr, "bench: round %d of %d\n", round, b.rounds)
		for _, f := range b.figures {
			if err := f.measure(round); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	b.print(started, b.memory())
	return nil
}

// build makes both programs and installs them. They are copied, as an archive or a package manager would: of a file that
// the linker has just written the system keeps larger pieces in its cache, maps them whole into the program, and counts them
// as its memory, 2 MB of it.
func (b *callsBench) build() error {
	built := filepath.Join(b.work, "built")
	build := exec.Command("go", "build", "-o", built+string(filepath.Separator), "lookfirst/cmd/lookfirst", "lookfirst/cmd/bench/loop")
	build.Stderr = os.Stderr
	if err := os.Mkdir(built, 0o700); err != nil {
		return err
	}
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	return os.CopyFS(b.bin(), os.DirFS(built))
}

func (b *callsBench) bin() string { return filepath.Join(b.work, "bin") }

// start starts all servers, which live until stop.
func (b *callsBench) start() error {
	root := b.tree.root
	lookfirst := filepath.Join(b.bin(), "lookfirst")
	settings := func(more string) string { return fmt.Sprintf(`--tool=FileSystem={"root":%q,%s}`, root, more) }
	b.loop = &server{name: "loop", dialect: dialect{read: "read"}, argv: []string{filepath.Join(b.bin(), "loop")}}
	b.ours = &server{name: "lookfirst", dialect: ourDialect(), argv: []string{lookfirst, root}}
	b.forgets = &server{name: "lookfirst that forgets", dialect: ourDialect(), argv: []string{lookfirst, settings(`"digest-memo":1`)}}
	b.quick = &server{name: "lookfirst without sync", dialect: ourDialect(), argv: []string{lookfirst, settings(`"sync":false`)}}
	if b.npm != "" {
		b.npmServer = &server{name: "npm", dialect: npmDialect(root), argv: []string{b.node, b.npm, root}}
	}
	for _, s := range b.servers() {
		s.dir, s.cache = root, filepath.Join(b.work, "cache")
		var err error
		if s.peer, err = s.begin(); err == nil && s.dialect.edit != "" {
			err = s.prepare(b.tree)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func (b *callsBench) stop() {
	for _, s := range b.servers() {
		if s.peer != nil {
			s.peer.end()
		}
	}
}

func (b *callsBench) servers() []*server {
	all := []*server{b.loop, b.npmServer, b.ours, b.forgets, b.quick}
	return slices.DeleteFunc(all, func(s *server) bool { return s == nil })
}

// memory is how much of lookfirst is resident. It is a zero value where the system does not say.
func (b *callsBench) memory() memory { return b.ours.peer.memory() }
