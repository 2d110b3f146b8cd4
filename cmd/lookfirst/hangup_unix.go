//go:build unix

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// onHangup calls reload at every SIGHUP, as daemons do, until ctx is done. But a program whose terminal is gone, which is
// what the signal means to any other, has nobody left who could end it: then it calls gone.
func onHangup(ctx context.Context, reload, gone func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	before := terminals()
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			if before > 0 && terminals() == 0 {
				gone()
				return
			}
			reload()
		}
	}()
}

// terminals counts the standard streams that are a terminal. One that was hung up is none any more.
func terminals() int {
	n := 0
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		if term.IsTerminal(int(f.Fd())) {
			n++
		}
	}
	return n
}
