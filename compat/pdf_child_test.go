package compat

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

// A process that watches its memory ends when it takes more than it may. That one that takes less goes on is seen by every
// test that reads a PDF.
func TestWatchMemory(t *testing.T) {
	const hoards, patience = "LOOKFIRST_HOARDS", 10 * time.Second
	if os.Getenv(hoards) != "" {
		go watchMemory()
		var hoard [][]byte
		for taken := 0; taken <= maxChildMemory; taken += 16 << 20 {
			hoard = append(hoard, make([]byte, 16<<20))
		}
		<-t.Context().Done() // It is never done.
		t.Log(len(hoard))
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, executable(t), "-test.run=^TestWatchMemory$")
	cmd.Env = append(os.Environ(), hoards+"=1")
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != exitHeavy {
		t.Errorf("it ended with %v, and not with the status %d", err, exitHeavy)
	}
}
