//go:build unix

package compat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// program puts scripts in the place of poppler's programs.
func program(t *testing.T, info, text string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range map[string]string{"pdfinfo": info, "pdftotext": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestProgramIsBounded(t *testing.T) {
	const pages = "cat >/dev/null; echo 'Pages: 3'"
	t.Run("it is given no environment and no path", func(t *testing.T) {
		t.Setenv("SECRET", "kept")
		program(t, pages, `cat >/dev/null; echo "args: $*"; env`)
		s := open(t, map[string]string{"a.pdf": string(pdfOf("x"))})
		r := s.works(s.call("read_file", args{"path": "a.pdf", "pages": "2-3"}))
		if strings.Contains(r.Text, "SECRET") || strings.Contains(r.Text, s.root) || !strings.Contains(r.Text, "args: -enc UTF-8 -f 2 -l 3 - -\n") {
			t.Error(r.Text)
		}
	})
	t.Run("it does not fill an answer", func(t *testing.T) {
		program(t, pages, "exec yes")
		s := open(t, map[string]string{"a.pdf": string(pdfOf("x"))})
		r := s.works(s.call("read_file", args{"path": "a.pdf", "pages": "1"}))
		if len(r.Text) > maxPDFText+len(textPDFCut) || !strings.HasSuffix(r.Text, "y\n"+textPDFCut) {
			t.Errorf("%d bytes, ending in %q", len(r.Text), r.Text[len(r.Text)-99:])
		}
	})
	t.Run("it is understood when it speaks of a password", func(t *testing.T) {
		program(t, "echo 'Command Line Error: Incorrect password' >&2; exit 1", "exit 1")
		s := open(t, map[string]string{"a.pdf": string(pdfOf("x"))})
		s.want(s.call("read_file", args{"path": "a.pdf"}), true, "PDF is password-protected. Please provide an unprotected version.")
	})
	t.Run("it may end without a word", func(t *testing.T) {
		program(t, pages, "exit 1")
		s := open(t, map[string]string{"a.pdf": string(pdfOf("x"))})
		s.want(s.call("read_file", args{"path": "a.pdf", "pages": "1"}), true, "PDF file is corrupted or invalid.")
	})
	t.Run("it may be killed", func(t *testing.T) {
		program(t, pages, "kill -9 $$")
		s := open(t, map[string]string{"a.pdf": string(pdfOf("x"))})
		s.want(s.call("read_file", args{"path": "a.pdf", "pages": "1"}), true, "PDF needs more memory than is allowed to be read.")
	})
	t.Run("it ends when the call is cancelled", func(t *testing.T) {
		program(t, pages, "exec sleep 60")
		s := open(t, map[string]string{"a.pdf": string(pdfOf("x"))})
		ctx, cancel := cancelled(s.ctx, 200*time.Millisecond)
		defer cancel()
		s.ctx = ctx
		begun := time.Now()
		s.want(s.call("read_file", args{"path": "a.pdf", "pages": "1"}), true, "the read_file call was cancelled before it was done")
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("took %v", took)
		}
	})
	t.Run("it ends when it takes too long", func(t *testing.T) {
		if testing.Short() {
			t.Skip("it takes four seconds")
		}
		program(t, pages, "exec sleep 60")
		s := open(t, map[string]string{"a.pdf": string(pdfOf("x"))})
		s.want(s.call("read_file", args{"path": "a.pdf", "pages": "1"}), true, "PDF could not be read within 4 seconds. Ask for fewer pages, or use other tools.")
	})
}
