package search

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test binary is also every stand-in for a searcher: started with this variable set, it behaves as that says.
const standInVariable = "SEARCH_STAND_IN"

// countVariable names a file to which a stand-in adds a byte when it is started.
const countVariable = "SEARCH_STAND_IN_COUNT"

func TestMain(m *testing.M) {
	if role := os.Getenv(standInVariable); role != "" {
		os.Exit(standIn(role))
	}
	os.Exit(m.Run())
}

// standIn plays a searcher. A role that begins with "probe" is for the probe too; else that is answered.
func standIn(role string) (status int) {
	if f, err := os.OpenFile(os.Getenv(countVariable), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666); err == nil {
		f.WriteString(".")
		f.Close()
	}
	probe, search := "answers", role
	if before, ok := strings.CutPrefix(role, "probe "); ok {
		probe, search = before, before
	}
	if os.Args[1] == "--version" {
		return play(probe, "")
	}
	return play(search, os.Args[len(os.Args)-1])
}

// play does one thing that a searcher may do. The answer it gives names the file "one" and no other.
func play(role, dir string) int {
	one := filepath.Join(dir, "one")
	switch role {
	case "answers":
		fmt.Println(one)
	case "finds nothing":
		return 1
	case "says nothing":
		return 0
	case "skips a file":
		fmt.Println(one)
		return 2
	case "refuses":
		fmt.Println(one)
		fmt.Fprintln(os.Stderr, "unknown option")
		return 2
	case "exits 3":
		fmt.Println(one)
		return 3
	case "dies":
		fmt.Println(one)
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		time.Sleep(time.Minute)
	case "hangs":
		fmt.Println(one)
		time.Sleep(10 * time.Minute)
	case "prints junk":
		fmt.Println("one")
	case "prints junk later":
		fmt.Println(one)
		fmt.Println("and more of it")
	case "prints a foreign path":
		fmt.Println("/etc/passwd")
	case "is cut short":
		fmt.Print(one)
	case "floods":
		fmt.Print(strings.Repeat(one+"\n", maxList/len(one)))
	case "breaks a line":
		fmt.Println(one)
		fmt.Println(filepath.Join(dir, "odd\nname\nof three lines"))
	}
	return 0
}
