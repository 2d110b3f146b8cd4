//go:build !linux

package compat

// bound and boundSelf do nothing where one process cannot set the limits of another: the time that the parent waits, and
// the bytes that it takes, are the bounds that are left.
func bound(int, bool) {}

func boundSelf() {}
