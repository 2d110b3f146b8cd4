package compat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/ledongthuc/pdf"
)

// How the reader of PDFs ends when it has no text.
const (
	exitBroken = 3
	exitLocked = 4
	exitHeavy  = 5
)

const (
	// maxChildMemory is how much memory the reader may take, in bytes.
	maxChildMemory = 768 << 20
	// maxChildStack is the same for its stack, so that a file that is nested without end stops it early.
	maxChildStack = 64 << 20
)

// ServePDF is the whole work of a process that reads one PDF from stdin: with the arguments "count", the number of its
// pages; with "text", FIRST and LAST, their text, each page but the last followed by a form feed. It returns the status to
// exit with. The process must do nothing else: when the file makes it take too much memory, it exits.
func ServePDF(args []string, stdin io.Reader, stdout io.Writer) (status int) {
	debug.SetMaxStack(maxChildStack)
	go watchMemory()
	boundSelf()
	defer func() {
		if recover() != nil {
			status = exitBroken
		}
	}()
	b, err := io.ReadAll(io.LimitReader(stdin, maxTextPDF+1))
	if err != nil {
		return exitBroken
	}
	r, err := pdf.NewReader(bytes.NewReader(b), int64(len(b)))
	switch {
	case errors.Is(err, pdf.ErrInvalidPassword):
		return exitLocked
	case err != nil || r.NumPage() < 1:
		return exitBroken
	case len(args) == 1 && args[0] == "count":
		_, err = fmt.Fprint(stdout, r.NumPage())
	case len(args) == 3 && args[0] == "text":
		err = writePages(r, args[1], args[2], stdout)
	default:
		err = errors.ErrUnsupported
	}
	if err != nil {
		return exitBroken
	}
	return 0
}

func writePages(r *pdf.Reader, from, to string, w io.Writer) error {
	first, err := strconv.Atoi(from)
	if err != nil {
		return err
	}
	last, err := strconv.Atoi(to)
	if err != nil {
		return err
	}
	for n := first; n <= min(last, r.NumPage()); n++ {
		if n > first {
			if _, err := io.WriteString(w, "\f"); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(w, pageText(r, n)); err != nil {
			return err
		}
	}
	return nil
}

// pageText is the text of one page. A page that cannot be read has none, and the others are read all the same.
func pageText(r *pdf.Reader, n int) (text string) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	page := r.Page(n)
	if page.V.IsNull() {
		return ""
	}
	text, err := page.GetPlainText(nil)
	if err != nil {
		return ""
	}
	return strings.TrimLeft(strings.ReplaceAll(text, "\f", "\n"), "\n")
}

// watchMemory ends the process before it takes the memory of others. A limit of the runtime would only make it collect
// garbage without end, and one of the system is not to be had everywhere. Package runtime/metrics would not stop the parser
// for each look, but the server is the same program, and would pay for its tables at every start.
func watchMemory() {
	var m runtime.MemStats
	for {
		if runtime.ReadMemStats(&m); m.Sys > maxChildMemory {
			os.Exit(exitHeavy)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
