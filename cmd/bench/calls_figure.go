package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"
)

const (
	smallCalls = 200 // in a slice
	largeCalls = 12
	listCalls  = 20
	editCalls  = 20
	inFlight   = 8
)

// figure is one row: what is measured of each side, and what is wanted of the ratios.
type figure struct {
	name  string
	unit  string
	sides map[role]func() (float64, error)
	// overLoop and overNpm are the goals of ours over that side; 0 where there is none. They are at most, or for calls a
	// second at least.
	overLoop, overNpm float64
	atLeast           bool

	rounds []map[role]float64
}

// role is a side of a figure.
type role string

const (
	ours role = "ours"
	loop role = "loop"
	npm  role = "npm"
	hash role = "hash" // one SHA-256 of the file, which is taken off ours before it is compared with the loop
)

// allFigures are the rows of the table, with the goals.
func (b *callsBench) allFigures() []*figure {
	start := &figure{name: "exec to the answer to initialize", unit: "ms", overLoop: 2.5, overNpm: 0.03, sides: map[role]func() (float64, error){
		ours: b.ours.startTime, loop: b.loop.startTime,
	}}
	if b.npmServer != nil {
		start.sides[npm] = b.npmServer.startTime
	}
	small, large := b.tree.small, b.tree.large
	list := b.figure("list of 1,000 names, ours with a warm revision", "us", b.ours, func(s *server) (float64, error) {
		return s.times(listCalls, s.list(b.tree))
	})
	list.overNpm = 1
	delete(list.sides, loop)
	// The digest of the only file that was remembered is another's when a file's turn comes again.
	all := []*figure{start}
	for _, m := range []struct {
		digest string
		server *server
	}{{"remembered", b.ours}, {"not remembered", b.forgets}} {
		read := func(name string, files []file, calls int) *figure {
			return b.figure(name+", digest "+m.digest, "us", m.server, func(s *server) (float64, error) { return s.times(calls, s.read(files)) })
		}
		flood := func(name string, files []file, calls int, goal float64) *figure {
			f := b.figure(name+", 8 in flight, digest "+m.digest, "calls/s", m.server, func(s *server) (float64, error) { return s.rate(calls, s.read(files)) })
			f.overNpm, f.atLeast = goal, true
			return f
		}
		one := read("read 0.9 KB", small, smallCalls)
		one.overLoop, one.overNpm = 2, 0.4
		big := read("read 1 MB", large, largeCalls)
		big.overLoop, big.overNpm = 1.7, 0.33
		if m.server == b.forgets {
			big.sides[hash] = func() (float64, error) { return hashTime(large) }
		}
		all = append(all, one, big, flood("read 0.9 KB", small, smallCalls, 5), flood("read 1 MB", large, 2*largeCalls, 3))
	}
	all = append(all, list)
	for _, e := range []struct {
		name   string
		server *server
		goal   float64
	}{{"edit 0.9 KB, sync", b.ours, 1}, {"edit 0.9 KB, no sync", b.quick, 0.5}} {
		f := b.figure(e.name, "us", e.server, func(s *server) (float64, error) { return s.times(editCalls, s.edit(b.tree)) })
		f.overNpm = e.goal
		delete(f.sides, loop)
		all = append(all, f)
	}
	return all
}

// figure makes one that measures the same calls of us, the loop and the npm server.
func (b *callsBench) figure(name, unit string, us *server, measure func(*server) (float64, error)) *figure {
	f := &figure{name: name, unit: unit, sides: map[role]func() (float64, error){}}
	for r, s := range map[role]*server{ours: us, loop: b.loop, npm: b.npmServer} {
		if s != nil {
			f.sides[r] = func() (float64, error) {
				v, err := measure(s)
				if err != nil {
					err = fmt.Errorf("%s: %w", s.name, err)
				}
				return v, err
			}
		}
	}
	return f
}

// measure gives every side its turn. The round 0 is to warm up.
func (f *figure) measure(round int) error {
	order := slices.DeleteFunc([]role{ours, loop, npm, hash}, func(r role) bool { return f.sides[r] == nil })
	values := map[role]float64{}
	for i := range order {
		r := order[(i+round)%len(order)]
		v, err := f.sides[r]()
		if err != nil {
			return err
		}
		values[r] = v
	}
	if round > 0 {
		f.rounds = append(f.rounds, values)
	}
	return nil
}

// over is the median of the rounds' ratios.
func (f *figure) over(r role) float64 {
	var ratios []float64
	for _, v := range f.rounds {
		us := v[ours]
		if r == loop {
			us -= v[hash]
		}
		ratios = append(ratios, us/v[r])
	}
	return median(ratios)
}

// of is the median of what a side took.
func (f *figure) of(r role) string {
	if f.sides[r] == nil {
		return "-"
	}
	var values []float64
	for _, v := range f.rounds {
		values = append(values, v[r])
	}
	decimals := 0
	if f.unit == "ms" {
		decimals = 1
	}
	return strconv.FormatFloat(median(values), 'f', decimals, 64) + " " + f.unit
}

// startTime is that from the start of a process to its answer to initialize, in milliseconds.
func (s *server) startTime() (float64, error) {
	begin := time.Now()
	p, err := s.begin()
	took := time.Since(begin)
	if err != nil {
		return 0, err
	}
	p.end()
	return float64(took.Microseconds()) / 1000, nil
}

// hashTime is that of one SHA-256 of a file in memory, in microseconds.
func hashTime(files []file) (float64, error) {
	var times []time.Duration
	for i := range largeCalls {
		begin := time.Now()
		sha256.Sum256([]byte(files[i%len(files)].text))
		times = append(times, time.Since(begin))
	}
	return micros(median(times)), nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// print prints the table.
func (b *callsBench) print(started, loaded memory) {
	fmt.Fprintf(b.out, "Medians of %d rounds; x is lookfirst over the other.\n\n", b.rounds)
	fmt.Fprintln(b.out, "| | lookfirst | loop | npm | x loop | goal | x npm | goal | |\n|---|---|---|---|---|---|---|---|---|")
	for _, f := range b.figures {
		x, goal, metLoop := f.compare(loop, f.overLoop)
		y, goalNpm, metNpm := f.compare(npm, f.overNpm)
		fmt.Fprintf(b.out, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
			f.name, f.of(ours), f.of(loop), f.of(npm), x, goal, y, goalNpm, verdict(metLoop && metNpm))
	}
	printMemory(b.out, "resident after the start", started.resident, 15)
	printMemory(b.out, "resident after the load", loaded.resident, 45)
	fmt.Fprintf(b.out, "\nPeak %s; %s\n", megabytes(loaded.peak), machineLoad())
}

// compare gives the columns of one comparison, and whether its goal is met, which it is where there is none.
func (f *figure) compare(r role, goal float64) (ratio, limit string, met bool) {
	if f.sides[r] == nil {
		return "-", "-", true
	}
	x := f.over(r)
	ratio = strconv.FormatFloat(x, 'f', 2, 64)
	if x < 0.1 {
		ratio = strconv.FormatFloat(x, 'f', 3, 64)
	}
	switch {
	case goal == 0:
		return ratio, "-", true
	case f.atLeast:
		return ratio, fmt.Sprintf(">= %v", goal), x >= goal
	}
	return ratio, fmt.Sprintf("<= %v", goal), x <= goal
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

// machineLoad is what the system says of its load, where it does.
func machineLoad() string {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "load unknown"
	}
	return "load at the end " + string(load[:min(len(load), len("0.00 0.00 0.00"))])
}
