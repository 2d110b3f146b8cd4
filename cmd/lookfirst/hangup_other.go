//go:build !unix

package main

import "context"

// onHangup does nothing where there is no SIGHUP.
func onHangup(context.Context, func(), func()) {}
