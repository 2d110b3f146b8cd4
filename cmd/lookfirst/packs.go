package main

import (
	"fmt"
	"math"
	"os"
	"strings"

	"lookfirst/compat"
	"lookfirst/fsmcp"
	"lookfirst/fsmcp/toolkit"
)

// The kinds of toolkits, by which a command line and a config file name them.
const (
	fileSystem = "FileSystem"
	fileTools  = "FileTools"
)

const defaultPrefix = "fs"

// mounting is one toolkit to serve.
type mounting struct {
	source     string // where it was asked for, for messages
	kind       string // fileSystem or fileTools
	prefix     string
	fileSystem fsmcp.Options
	fileTools  fileToolsOptions
}

// fileToolsOptions are what is said about a FileTools. In [compat.Options] some of it is a function.
type fileToolsOptions struct {
	root         string
	extraRoots   []string
	isUnconfined bool
	readOnly     bool
	noImages     bool
	noPDF        bool
	noSync       bool
}

// kind is a kind of toolkit.
type kind struct {
	name     string
	about    string // what it is, for people
	prefix   string // of its tools, where none is given
	settings []setting[mounting]
	open     func(m *mounting, warn func(string)) (pack, error)
}

func kinds() []kind {
	return []kind{
		{fileSystem, "a directory, confined, with tools to read and change it", defaultPrefix, fileSystemSettings(), openFileSystem},
		{fileTools, "a directory, with tools that answer as the file tools of Claude Code do", "", fileToolsSettings(), openFileTools},
	}
}

// kindOf finds a kind by its name.
func kindOf(name string) (kind, error) {
	var names []string
	for _, k := range kinds() {
		if k.name == name {
			return k, nil
		}
		names = append(names, k.name)
	}
	return kind{}, fmt.Errorf("there is no toolkit '%s'; there are %s", name, strings.Join(names, " and "))
}

func fileSystemSettings() []setting[mounting] {
	return []setting[mounting]{
		{"root", text, true, "", func(m *mounting, v any) { m.fileSystem.Root = v.(string) }},
		{"read-only", boolean, false, "false", func(m *mounting, v any) { m.fileSystem.ReadOnly = v.(bool) }},
		{"read-before-write", boolean, false, "false", func(m *mounting, v any) { m.fileSystem.ReadBeforeWrite = v.(bool) }},
		{"regex-syntax", oneOf("re2", "raku"), false, `"re2"`, func(m *mounting, v any) { m.fileSystem.RegexSyntax = v.(string) }},
		{"digest-memo", positive, false, "8192 entries", func(m *mounting, v any) { m.fileSystem.DigestMemo = int(min(v.(int64), math.MaxInt)) }},
		{"revision-budget", positive, false, "4294967296 bytes", func(m *mounting, v any) { m.fileSystem.RevisionBudget = v.(int64) }},
		{"map-cache", oneOf("disk", "memory"), false, `"disk"`, func(m *mounting, v any) { m.fileSystem.MapCache = v.(string) }},
		{"sync", boolean, false, "true", func(m *mounting, v any) { m.fileSystem.NoSync = !v.(bool) }},
		prefixSetting(defaultPrefix),
	}
}

// fileToolsSettings require a root, which the package does not: a program that chose its own directory by default would
// show one that nobody meant to show.
func fileToolsSettings() []setting[mounting] {
	return []setting[mounting]{
		{"root", text, true, "", func(m *mounting, v any) { m.fileTools.root = v.(string) }},
		{"extra-roots", filledTexts, false, "[]", func(m *mounting, v any) { m.fileTools.extraRoots = v.([]string) }},
		{"confine", boolean, false, "true", func(m *mounting, v any) { m.fileTools.isUnconfined = !v.(bool) }},
		{"read-only", boolean, false, "false", func(m *mounting, v any) { m.fileTools.readOnly = v.(bool) }},
		{"sees-images", boolean, false, "true", func(m *mounting, v any) { m.fileTools.noImages = !v.(bool) }},
		{"reads-pdf", boolean, false, "true", func(m *mounting, v any) { m.fileTools.noPDF = !v.(bool) }},
		{"sync", boolean, false, "true", func(m *mounting, v any) { m.fileTools.noSync = !v.(bool) }},
		prefixSetting(""),
	}
}

// prefixSetting may stand beside the settings of any toolkit, and is none of its own.
func prefixSetting(fallback string) setting[mounting] {
	return setting[mounting]{"prefix", text, false, `"` + fallback + `"`, func(m *mounting, v any) { m.prefix = v.(string) }}
}

// pack is a toolkit that is open.
type pack interface {
	Tools() []*toolkit.Tool
	Close() error
	// describe says for the operator what can be reached, by its real place, and what for.
	describe() string
}

// fileSystemPack is the pack of one directory.
type fileSystemPack struct {
	*fsmcp.FileSystem
	readOnly bool
}

func openFileSystem(m *mounting, warn func(string)) (pack, error) {
	opt := m.fileSystem
	opt.Warn = warn
	f, err := fsmcp.New(opt)
	return fileSystemPack{f, opt.ReadOnly}, err
}

func (p fileSystemPack) describe() string { return "'" + p.Root() + "' " + access(p.readOnly) }

// fileToolsPack is the pack of a directory and others beside it, or of all that the system has.
type fileToolsPack struct {
	*compat.FileTools
	fileToolsOptions
}

func openFileTools(m *mounting, warn func(string)) (pack, error) {
	o := m.fileTools
	f, err := compat.New(compat.Options{
		Root:       o.root,
		ExtraRoots: func() []string { return o.extraRoots },
		Confine:    func() bool { return !o.isUnconfined },
		ReadOnly:   o.readOnly,
		SeesImages: func() bool { return !o.noImages },
		ReadsPDF:   func() bool { return !o.noPDF },
		PDFReader:  pdfReader(),
		NoSync:     o.noSync,
		Warn:       warn,
	})
	return fileToolsPack{f, o}, err
}

func (p fileToolsPack) describe() string {
	roots, err := p.Roots()
	if err != nil { // It was there a moment ago.
		roots = []string{p.root}
	}
	where := "'" + strings.Join(roots, "', '") + "'"
	if p.isUnconfined {
		where = "the whole file system, and relative paths from '" + roots[0] + "',"
	}
	return where + " " + access(p.readOnly)
}

func access(readOnly bool) string {
	if readOnly {
		return "for reading"
	}
	return "for reading and writing"
}

// readPDF is the argument with which the program starts itself to read one PDF and nothing else. No help shows it.
const readPDF = "__read-pdf"

// pdfReader is the command for that, or nil where the program cannot find itself.
func pdfReader() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, readPDF}
}
