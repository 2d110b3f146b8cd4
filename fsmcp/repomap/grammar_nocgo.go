//go:build !cgo

package repomap

import "hash"

// hasGrammars says that this build has tree-sitter.
const hasGrammars = false

// grammars are none: they are written in C.
type grammars struct{}

func newGrammars() *grammars { return nil }

// parsers are none.
type parsers struct{}

func (*parsers) close() {}

// parse knows no language. It is asked for Go files that have an error in them.
func (*reader) parse(Language, string) (*Tags, error) { return nil, errSkipped }

// hashQueries has nothing to add.
func hashQueries(hash.Hash) {}
