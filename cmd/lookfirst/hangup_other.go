//go:build !unix

package main

import (
	"context"
	"os"
)

// hangups returns nil where there is no SIGHUP.
func hangups() chan os.Signal { return nil }

// onHangup does nothing where there is no SIGHUP.
func onHangup(context.Context, <-chan os.Signal, func(), func()) {}
