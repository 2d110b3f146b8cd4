package main

import (
	"fmt"
	"slices"
	"strings"
)

// instructionsFor is what the server tells a model about its tools when nobody has written something better: what holds
// for every call, and where to begin. It names only tools that are served. It is short, since every session shows it.
func instructionsFor(toolkits []mounting) string {
	isKind := func(kind string) func(mounting) bool {
		return func(m mounting) bool { return m.kind == kind }
	}
	inFileSystem := slices.IndexFunc(toolkits, isKind(fileSystem))
	inFileTools := slices.IndexFunc(toolkits, isKind(fileTools))
	var say []string
	if inFileSystem >= 0 && inFileTools >= 0 {
		fs, ft := toolkits[inFileSystem], toolkits[inFileTools]
		if fs.fileSystem.Root == ft.fileTools.root {
			say = append(say, fmt.Sprintf("The tools are two vocabularies for one directory, %s and its like and %s and its like: "+
				"use either, and what was read with one may be changed with the other.", fs.named("read"), ft.named("read_file")))
		}
	}
	if inFileSystem >= 0 {
		m := toolkits[inFileSystem]
		say = append(say,
			fmt.Sprintf("Paths of %s and its like are relative to their directory, with '/' between names and no '..'.", m.named("read")),
			fmt.Sprintf("To find what to read, first ask %s which files matter, %s for names, or %s for contents.", m.named("map"), m.named("glob"), m.named("grep")))
	}
	if slices.ContainsFunc(toolkits, mounting.canWrite) {
		say = append(say, "Read a file before you edit or replace it, and copy the text to be replaced exactly, without line numbers; "+
			"when you are told that a file has changed, read it again first.")
	}
	say = append(say, "What cannot be done is answered with a sentence that says why, or what to send instead.")
	return strings.Join(say, " ")
}

// written returns the instructions that somebody wrote, or nothing.
func (c config) written() string {
	if c.instructions == instructionsFor(c.toolkits) {
		return ""
	}
	return c.instructions
}

// named is the full name of a tool.
func (m mounting) named(tool string) string {
	if m.prefix == "" {
		return tool
	}
	return m.prefix + "_" + tool
}

func (m mounting) canWrite() bool {
	if m.kind == fileTools {
		return !m.fileTools.readOnly
	}
	return !m.fileSystem.ReadOnly
}
