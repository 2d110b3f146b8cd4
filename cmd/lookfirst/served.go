package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"lookfirst/harness"
)

// served is what the program serves now. It can be read anew while it is served (D22), and may be used from several
// goroutines.
type served struct {
	read  func() (config, error) // what the command line, or its file, asks for
	log   io.Writer              // where the operator reads; it may be written to from several goroutines
	start config                 // what was asked for at the start
	tools *harness.Toolset

	reading chan struct{} // has a value in it while it is read anew

	mu     sync.Mutex // guards the fields below
	closed bool
	packs  []opened
}

// newServed opens what a config asks for, and names every root on the log, so that whoever reads it sees what can be
// reached. When it fails, nothing is left open.
func newServed(c config, read func() (config, error), log io.Writer) (*served, error) {
	packs, err := open(c.toolkits, log)
	if err != nil {
		closePacks(packs, log)
		return nil, err
	}
	tools, err := harness.NewToolset(toolkits(packs)...)
	if err != nil {
		closePacks(packs, log)
		return nil, err
	}
	tools.OnRetire(func() { closePacks(packs, log) })
	return &served{read: read, log: log, start: c, tools: tools, reading: make(chan struct{}, 1), packs: packs}, nil
}

func toolkits(packs []opened) []harness.Toolkit {
	var all []harness.Toolkit
	for _, p := range packs {
		all = append(all, harness.Toolkit{Prefix: p.prefix, Tools: p.tools})
	}
	return all
}

// Close closes what is served now, and nothing else is served afterwards. What was served before is closed when its last
// call is over, or with the process. It does not wait for whoever reads anew.
func (s *served) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	closePacks(s.packs, s.log)
	s.closed, s.packs = true, nil
}

// reload serves what the config says now, and reports it in a few sentences. When anything is wrong with it, all stays as
// it was. Directories are opened anew, so that one which was replaced by another of its name is that one now.
func (s *served) reload(ctx context.Context) (string, error) {
	next, err := s.again(ctx)
	if err != nil {
		return "", err
	}
	defer func() { <-s.reading }()
	packs, err := open(next.toolkits, s.log)
	if err == nil {
		var text string
		if text, err = s.replace(next, packs); err == nil {
			s.announce()
			return text, nil
		}
	}
	closePacks(packs, s.log)
	return "", err
}

// again reads the config, and leaves a value in reading unless it fails. Nobody else reads while a read that was given up
// is not over, so that there is never more than one.
func (s *served) again(ctx context.Context) (config, error) {
	select {
	case s.reading <- struct{}{}:
	case <-ctx.Done():
		return config{}, ctx.Err()
	}
	c, over, err := inTime(ctx, s.read)
	if err != nil {
		go func() {
			<-over
			<-s.reading
		}()
	}
	return c, err
}

// inTime reads a config, and gives up when ctx is done: the file may be a pipe into which nobody ever writes, and the
// program could not end. Over is closed when the read is over.
func inTime(ctx context.Context, read func() (config, error)) (c config, over <-chan struct{}, err error) {
	type outcome struct {
		config
		err error
	}
	done, closed := make(chan outcome, 1), make(chan struct{})
	go func() {
		defer close(closed)
		c, err := read()
		done <- outcome{c, err}
	}()
	select {
	case o := <-done:
		return o.config, closed, o.err
	case <-ctx.Done():
		return config{}, closed, ctx.Err()
	}
}

// replace serves the packs that are open, or fails and leaves them to the caller.
func (s *served) replace(next config, packs []opened) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errors.New("the program is ending")
	}
	if err := s.tools.Replace(toolkits(packs), func() { closePacks(packs, s.log) }); err != nil {
		return "", err
	}
	before := s.packs
	s.packs = packs
	return report(before, packs, changedForNextStart(s.start, next)), nil
}

// commands are those that clients are offered as prompts. A client over HTTP need not be the operator, and is not
// told what stands in the operator's file.
func (s *served) commands() (*harness.Commands, error) {
	again := s.reload
	if s.start.http != nil {
		again = func(ctx context.Context) (string, error) {
			text, err := s.reload(ctx)
			if err != nil {
				fmt.Fprintf(s.log, "lookfirst: reload: %v\n", err)
				err = errors.New("the configuration cannot be used; the server's log says why")
			}
			return text, err
		}
	}
	return harness.NewCommands(harness.Rescan(s.rescan), harness.Reload(again))
}

// reloadAtSignal reloads for an operator who reads the log.
func (s *served) reloadAtSignal(ctx context.Context) {
	if text, err := s.reload(ctx); err != nil {
		fmt.Fprintf(s.log, "lookfirst: nothing was reloaded, and what was served is still served: %v\n", err)
	} else {
		fmt.Fprintf(s.log, "lookfirst: %s\n", text)
	}
}

// announce names the roots on the log.
func (s *served) announce() {
	for _, line := range s.roots() {
		fmt.Fprintf(s.log, "lookfirst: serving %s\n", line)
	}
}

// describe says for the operator what is served, a line for each toolkit. The caller holds mu.
func (s *served) describe() []string {
	var lines []string
	for _, p := range s.packs {
		lines = append(lines, p.describe())
	}
	return lines
}

// roots is describe for whoever does not hold mu. The log is written to without it: it may be a pipe that nobody reads.
func (s *served) roots() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.describe()
}

// rescan has the toolkits forget what they know of programs on this machine.
func (s *served) rescan() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.packs {
		if files, ok := p.pack.(fileToolsPack); ok {
			files.Rescan()
		}
	}
}

// report says what a reload has changed. It names no directory, since a client may put it before a model.
func report(before, now []opened, waiting []string) string {
	old, current := toolNames(before), toolNames(now)
	say := []string{fmt.Sprintf("The configuration was read again, and %s served now.", counted(len(current), "tool is", "tools are"))}
	if added := without(current, old); len(added) > 0 {
		say = append(say, "New: "+strings.Join(added, ", ")+".")
	}
	if gone := without(old, current); len(gone) > 0 {
		say = append(say, "Gone: "+strings.Join(gone, ", ")+".")
	}
	if len(waiting) > 0 {
		say = append(say, fmt.Sprintf("What changed in '%s' counts from the next start of the server.", strings.Join(waiting, "', '")))
	}
	return strings.Join(say, " ")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func toolNames(packs []opened) []string {
	var names []string
	for _, p := range packs {
		for _, t := range p.tools {
			names = append(names, p.named(t.Name))
		}
	}
	slices.Sort(names)
	return names
}

func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(others, n) })
}

// changedForNextStart names what clients are told only when they connect, or where they connect to.
func changedForNextStart(old, next config) []string {
	var keys []string
	for _, k := range []struct {
		key       string
		old, next any
	}{
		{"name", old.name, next.name},
		{"version", old.version, next.version},
		{"instructions", old.written(), next.written()},
		{"http", old.http, next.http},
	} {
		if !reflect.DeepEqual(k.old, k.next) {
			keys = append(keys, k.key)
		}
	}
	return keys
}
