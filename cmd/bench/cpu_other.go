//go:build !unix

package main

import "time"

// ownCPU is not to be had here.
func ownCPU() time.Duration { return 0 }
