//go:build unix && !linux

package confine

import (
	"errors"
	"testing"
)

func openers(testing.TB) []opener { return []opener{{"os.Root", openPortable}} }

// makeDevice does not try: each system has its own numbers.
func makeDevice(string) error { return errors.ErrUnsupported }
