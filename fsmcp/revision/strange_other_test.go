//go:build !unix

package revision

import "testing"

// strange adds nothing here: there are no FIFOs, and every name is Unicode.
func strange(*testing.T, string) {}
