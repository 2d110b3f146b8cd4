// Command bench measures lookfirst against its peers and against floors, in one run on one machine, and prints ratios:
// absolute times say more about the machine and its other guests than about the program.
//
//	bench grep TREE…    searching, against ripgrep
//	bench map TREE…     the map of a tree, against ctags
//	bench calls         single calls, against the npm filesystem server and a bare loop
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("say what to measure: grep, map or calls")
	}
	switch args[0] {
	case "grep":
		return grepCommand(args[1:], stdout)
	case "map":
		return mapCommand(args[1:], stdout)
	case "calls":
		return callsCommand(args[1:], stdout)
	}
	return fmt.Errorf("there is nothing to measure called '%s'; there are grep, map and calls", args[0])
}
