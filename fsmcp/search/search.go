// Package search finds files: every way of looking gives the same matches in the same order.
//
// So far it holds the dialect of name patterns (glob.go).
//
// Invariant: the time of a match is bounded by the product of the lengths of pattern and text, whatever they are.
//
// Everything may be used from several goroutines.
package search
