//go:build unix

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// hangups returns a channel of every SIGHUP, which ends the program no more. It is to be asked for before anybody can send
// one, and kept to the end: one that came while a change lands would kill the program amid it.
func hangups() chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	return signals
}

// onHangup calls reload at every SIGHUP, as daemons do, until ctx is done. But a program whose terminal is gone, which is
// what the signal means to any other, has nobody left who could end it: then it calls gone.
func onHangup(ctx context.Context, signals <-chan os.Signal, reload, gone func()) {
	before := terminals()
	go func() {
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
