//go:build race

package main

// raced is whether the program is run under the race detector, which makes it some twenty times as slow: what is a matter
// of size or of number is then tested with less.
const raced = true
