// Command lookfirst serves a directory to a coding agent over the Model Context Protocol.
//
//	lookfirst ROOT
//	lookfirst --tool='FileSystem={"root":"/srv/notes","prefix":"notes"}' …
//	lookfirst --config=workspace.json
//	lookfirst --describe=FileSystem
//	lookfirst console ROOT
//
// Invariant: nothing is served that the command line or its config file does not name, and while anything is served,
// nothing but the protocol is written to standard output. Everything else goes to standard error.
//
// The exit status is 0 when the client ended the session or a signal did, 1 when serving failed or a line of a console's
// script did, and 2 when the command line asks for something that cannot be served.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"lookfirst/compat"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	// A client that is gone shows as a failed write, after which a change in hand still lands. Ignoring the signal would do
	// too, but be inherited by the programs that we start.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run does all that the program does and returns its exit status. When ctx is done, the session is closed.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == readPDF {
		return compat.ServePDF(args[1:], stdin, stdout)
	}
	cmd := newCommand(stdin, stdout, stderr)
	addForPeople(cmd, args, stdin, stdout, stderr)
	cmd.SetArgs(append([]string{}, args...)) // With nil it would take those of the process.
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if errors.Is(err, errLines) {
		return exitFailed
	}
	fmt.Fprintf(stderr, "lookfirst: %v\n", err)
	if errors.As(err, new(*sessionError)) {
		return exitFailed
	}
	return exitUsage
}
