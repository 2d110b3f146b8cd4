//go:build !windows && (!unix || aix)

package mutation

import (
	"errors"
	"fmt"
	"os"
)

const noFollow = 0

// lockFile reports that there are no such locks here: the process is then alone, and says so once.
func lockFile(*os.File, mode, bool) error {
	return fmt.Errorf("locks between processes: %w", errors.ErrUnsupported)
}

func unlockFile(*os.File) {}
