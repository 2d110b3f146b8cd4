// Package fsmcp is a pack of tools for one directory: a location is called path, from or to and nothing else.
//
// That name is a contract with whoever stands in front of the tools: a permission layer decides by the locations that a
// call names, and finds them by these names alone. [New] opens the directory; [FileSystem.Tools] are the tools, a file
// each in this package. What they stand on lies below: confine opens, revision compares, mutation changes, textfile
// reads and writes text.
//
// Invariant: no argument leads outside the root, and no answer holds a path of the host.
//
// Not promised: permission. What the process may do under the root, a model may do with these tools.
//
// A FileSystem may be used from several goroutines, and several may serve one directory.
package fsmcp
