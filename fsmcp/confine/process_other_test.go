//go:build unix && !linux

package confine

import (
	"os"
	"testing"
)

// asPlainUser runs act as the user that this is; only Linux can change that for one thread.
func asPlainUser(t *testing.T, act func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("needs a plain user: root may read everything")
	}
	act()
}

// openDescriptors counts nothing: there is no /proc.
func openDescriptors(testing.TB) int { return 0 }
