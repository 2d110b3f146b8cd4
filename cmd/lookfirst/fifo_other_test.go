//go:build !unix

package main

import "errors"

func makeFIFO(string) error {
	return errors.New("this system has no named pipes; guard the line with [unix]")
}
