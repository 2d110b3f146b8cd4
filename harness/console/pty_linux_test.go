package console

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lookfirst/fsmcp/toolkit"
	"lookfirst/harness"
)

// inTerminal names the directory that the test program serves at its terminal, when it was started for that.
const inTerminal = "CONSOLE_TEST_SERVES"

func TestMain(m *testing.M) {
	dir := os.Getenv(inTerminal)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := serveTerminal(dir); err != nil {
		fmt.Println("console:", err)
		os.Exit(1)
	}
	fmt.Println("console: over")
	os.Exit(0)
}

// serveTerminal runs a console at the terminal of the process, with a tool that ends when it is cancelled beside the others.
func serveTerminal(dir string) error {
	kits, err := packs(dir, filepath.Join(dir, "..", "locks"))
	if err != nil {
		return err
	}
	hold := &toolkit.Tool{
		Name: "hold", Description: "Waits.", ReadOnly: true,
		Handle: func(ctx context.Context, _ *toolkit.Args) (*toolkit.Answer, error) {
			fmt.Println("holding")
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
	kits = append(kits, harness.Toolkit{Tools: []*toolkit.Tool{hold}})
	person, err := harness.NewHost(harness.HostOptions{Toolkits: kits})
	if err != nil {
		return err
	}
	preview, err := harness.NewHost(harness.HostOptions{Toolkits: kits})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	root := "the tree"
	commands, err := harness.NewCommands(harness.Command{
		Name: "elsewhere", Summary: "Serves another tree.",
		Run: func(context.Context, string) (string, error) {
			root = "another tree"
			fmt.Fprintf(Log(os.Stderr), "serving '%s'\n", "\x1b]0;x\a")
			return "moved", nil
		},
	})
	if err != nil {
		return err
	}
	_, err = Run(ctx, Options{
		Provider: person, Preview: preview, Commands: commands,
		Serving: func() Serving { return Serving{[]string{"fs"}, []string{root}} },
		In:      os.Stdin, Out: os.Stdout, Errors: os.Stderr,
	})
	return err
}

// terminal is a pseudo-terminal with a console at its other end.
type terminal struct {
	t       *testing.T
	file    *os.File
	process *exec.Cmd
	output  chan []byte
	seen    string // that has not been waited for
}

// atTerminal starts a console.
func atTerminal(t *testing.T, dir string, env ...string) *terminal {
	t.Helper()
	file, tty := pseudo(t)
	defer tty.Close()
	p := exec.Command(os.Args[0])
	p.Env = append(append(os.Environ(), "TERM=xterm", "NO_COLOR=", inTerminal+"="+dir), env...)
	p.Stdin, p.Stdout, p.Stderr = tty, tty, tty
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, file: file, process: p, output: make(chan []byte, 1000)}
	go func() {
		defer close(term.output)
		for {
			b := make([]byte, 4096)
			n, err := file.Read(b)
			if n > 0 {
				term.output <- b[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		p.Process.Kill()
		p.Wait()
		file.Close()
	})
	return term
}

// pseudo opens a pseudo-terminal.
func pseudo(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal can be had: /dev/ptmx: %v", err)
	}
	ours = os.NewFile(uintptr(fd), "/dev/ptmx")
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100})
	}
	if err == nil {
		theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		ours.Close()
		t.Skipf("no pseudo-terminal can be had: %v", err)
	}
	return ours, theirs
}

// types sends keys.
func (m *terminal) types(keys string) {
	m.t.Helper()
	if _, err := m.file.WriteString(keys); err != nil {
		m.t.Fatal(err)
	}
}

// interrupts types a part of a line, and Ctrl-C when it is there: until then that key might still be a signal.
func (m *terminal) interrupts(part string) {
	m.t.Helper()
	m.types(part)
	m.waits(part)
	m.types("\x03")
}

// waits waits for a text, and returns all that came before it.
func (m *terminal) waits(text string) string {
	m.t.Helper()
	deadline := time.After(20 * time.Second)
	for !strings.Contains(m.seen, text) {
		select {
		case b, ok := <-m.output:
			if !ok {
				m.t.Fatalf("the console ended; waited for %q, got %q", text, m.seen)
			}
			m.seen += string(b)
		case <-deadline:
			m.t.Fatalf("waited for %q, got %q", text, m.seen)
		}
	}
	before, after, _ := strings.Cut(m.seen, text)
	m.seen = after
	return before
}

// ends waits for the end of the console.
func (m *terminal) ends() {
	m.t.Helper()
	m.waits("console: over")
	if err := m.process.Wait(); err != nil {
		m.t.Error(err)
	}
}

func TestTerminal(t *testing.T) {
	dir, _, _ := place(t, tree())
	m := atTerminal(t, dir)
	m.waits("Serving the tree\r\nTry: map, grep TODO, read README.md, help\r\n> ")
	m.types("read esc.txt\r")
	m.waits(`a\x1b]0;owned\x07b` + "\r\n" + `c\u009bd\x7f` + "\r\n> ")
	m.types("read nix\r")
	m.waits(red + "'nix' does not exist" + plain + "\r\n> ")

	t.Log("a change is shown, and made when the person says so")
	m.types("read README.md\r")
	m.waits("TODO: say more.\r\n> ")
	m.types("edit README.md 'say more' 'say less'\r")
	m.waits(red + "--- README.md" + plain + "\r\n" + green + "+++ README.md" + plain + "\r\n" + cyan + "@@ -1,3 +1,3 @@" + plain +
		"\r\n # Shop\r\n \r\n" + red + "-TODO: say more." + plain + "\r\n" + green + "+TODO: say less." + plain + "\r\n" + question)
	m.types("list src\r")
	m.waits(askAgain + "\r\n" + question)
	m.types("n\r")
	m.waits("Nothing was changed.\r\n> ")
	m.hasFile(dir, "README.md", "# Shop\n\nTODO: say more.\n")
	m.types("edit README.md 'say more' 'say less'\r")
	m.waits(question)
	m.types("y\r")
	m.waits("Replaced 1 occurrence")
	m.waits("> ")
	m.hasFile(dir, "README.md", "# Shop\n\nTODO: say less.\n")

	t.Log("what was looked at for the person does not count as seen")
	m.types("write src/price.go x\r")
	m.waits("-package shop")
	m.waits(question)
	m.types("y\r")
	m.waits("File has not been read yet")
	m.waits("> ")

	t.Log("always is for one tool")
	m.types("mkdir new\r")
	m.waits("This makes the directory 'new', and those above it that are missing.\r\n" + question)
	m.types("a\r")
	m.waits("> ")
	m.types("mkdir newer\r")
	if got := m.waits("\r\n> "); strings.Contains(got, question) {
		t.Errorf("asked again: %q", got)
	}
	m.types("delete 'my dir' --recursive\r")
	m.waits("This deletes 'my dir', for good, and everything below it: 1 entry.\r\n" + question)
	m.interrupts("x")
	m.waits("Nothing was changed.\r\n> ")
	m.hasFile(dir, "my dir/a b.txt", "here\n")

	t.Log("a heredoc")
	m.types("write new.txt <<EOF\r")
	m.waits(". ")
	m.types("one\rEOF\r")
	m.waits("--- /dev/null")
	m.waits("+one")
	m.waits(question)
	m.types("y\r")
	m.waits("Wrote 4 bytes")
	m.waits("> ")

	t.Log("what was typed before, without the answers to questions")
	m.types("list src\r")
	m.waits("price.go\r\n> ")
	m.types("mkdir newest\r") // Always is for mkdir.
	m.waits("\r\n> ")
	m.types("delete newest\r")
	m.waits(question)
	m.types("y\r")
	m.waits("Deleted empty directory 'newest'\r\n> ")
	for _, before := range []string{"delete newest", "mkdir newest", "list src"} {
		m.types("\x1b[A") // up
		m.waits(before)
	}
	m.types("\x15")

	t.Log("always is for what was served then")
	m.types("/elsewhere\r")
	m.waits(`serving '\x1b]0;x\x07'` + "\r\nmoved\r\n> ")
	m.types("mkdir other\r")
	m.waits(question)
	m.types("n\r")
	m.waits("Nothing was changed.\r\n> ")
	m.types("\x04") // Ctrl-D
	m.ends()
}

func (m *terminal) hasFile(dir, name, want string) {
	m.t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil || string(got) != want {
		m.t.Errorf("%s is %q (%v), want %q", name, got, err, want)
	}
}

func TestTerminalInterrupts(t *testing.T) {
	dir, _, _ := place(t, tree())
	m := atTerminal(t, dir, "NO_COLOR=1")
	m.waits("help\r\n> ")
	m.types("hold\r")
	m.waits("holding")
	m.types("\x03")
	if got := m.waits("> "); got != "\r\ncancelled\r\n" {
		t.Errorf("a call that was cancelled: %q", got)
	}
	m.types("list src\r")
	m.waits("price.go\r\n> ")
	m.interrupts("half a line")
	m.waits("^C\r\n> ")
	m.interrupts("z")
	m.waits("^C\r\nType /quit to leave.\r\n> ")
	m.types("read nix\r")
	m.waits("error: 'nix' does not exist\r\n> ")
	m.types("/quit\r")
	m.ends()
}

func TestTerminalCompletes(t *testing.T) {
	dir, _, _ := place(t, tree())
	m := atTerminal(t, dir)
	m.waits("help\r\n> ")
	for _, c := range []struct{ keys, want string }{
		{"rea\t\x15sta\t", "stat "},
		{"\x15/qu\t", "/quit "},
		{"\x15read src/p\t", "read src/price.go "},
		{"\x15read my\t", "read 'my dir/'"},
		{"\x15read 'my dir/'a\t", "read 'my dir/a b.txt' "},
		{"\x15grep x --re\t", "grep x --regex "},
		{"\x15grep x --path=sr\t", "grep x --path=src/"},
		{"\x15read --offset 1 src/p\t", "read --offset 1 src/price.go "},
		{"\x15grep x --context 2 --path sr\t", "grep x --context 2 --path src/"},
		{"\x15list .hi\t", "list .hidden "},
		{"\x15list .\x15list ./e\t", "list ./esc.txt "},
		{"\x15mkdir \x15list my\t", "list 'my dir/'"},
		{"\x15fs_re\t", "fs_read "},
		{"\x15help fs_re\t", "help fs_read "},
	} {
		m.types(c.keys)
		m.waits(c.want)
	}
	m.types("\x15quit\r")
	m.ends()
}

func TestTerminalIsRestored(t *testing.T) {
	dir, _, _ := place(t, tree())
	file, tty := pseudo(t)
	before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	tty.Close()
	m := atTerminal(t, dir)
	m.waits("help\r\n> ")
	if err := m.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.ends()
	after, err := unix.IoctlGetTermios(int(m.file.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if after.Lflag != before.Lflag || after.Iflag != before.Iflag {
		t.Errorf("the terminal is in another mode: %x %x, was %x %x", after.Lflag, after.Iflag, before.Lflag, before.Iflag)
	}
}

func TestDumbTerminal(t *testing.T) {
	dir, _, _ := place(t, tree())
	m := atTerminal(t, dir, "TERM=dumb")
	m.waits("help\r\n> ")
	m.types("read nix\r")
	m.waits("error: 'nix' does not exist\r\n> ")
	m.types("half\x03")
	m.waits("^C\r\n> ")
	m.types("hold\r")
	m.waits("holding")
	m.types("\x03")
	m.waits("cancelled\r\n> ")
	m.types("mkdir x\r")
	m.waits(question)
	m.types("\r")
	m.waits("Nothing was changed.\r\n> ")
	m.types("quit\r")
	m.ends()
}
