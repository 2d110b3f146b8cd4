package fsmcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/repomap"
	"lookfirst/fsmcp/toolkit"
)

// mapTool is the tool that draws maps with m.
func (f *FileSystem) mapTool(m *repomap.Mapper) *toolkit.Tool {
	least, most := int64(repomap.MinChars), int64(repomap.MaxChars)
	return &toolkit.Tool{
		Name: "map",
		Description: "Show which files of a source tree matter, before reading any: the files that the others lean on most, each with the lines " +
			"that define its most referenced names, and their line numbers, which fit read's 'offset'. Bodies are not shown. " +
			"Reads C, C++, Go, Java, JavaScript, Python, Raku, Rust, TypeScript and TSX; leaves out hidden, vendored and generated directories. " +
			"Steer it with 'query' when you know a word, with 'focus' when you know a file.",
		Params: []toolkit.Param{
			pathHere("The directory to map, or a single file, relative to the root."),
			{
				Name: "query", Type: "string",
				Description: "Words, separated by spaces or commas. Files whose path or defined names contain one weigh ten times, and so lift what they refer to.",
			},
			{
				Name: "focus", Type: "string",
				Description: "Paths of files or directories, relative to the root, separated by spaces or commas. They weigh fifty times: a map of what is around them.",
			},
			{Name: "max-chars", Type: "integer", Description: "How long the map may be, in characters.", Default: repomap.DefaultChars, Min: &least, Max: &most},
		},
		ReadOnly: true,
		Handle: func(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
			return f.drawMap(ctx, m, a)
		},
	}
}

// drawMap takes the map's own lock and no other. A map shows no content to build on, so it has no revisions to answer
// with, and nothing counts as read for it.
func (f *FileSystem) drawMap(ctx context.Context, m *repomap.Mapper, a *toolkit.Args) (*toolkit.Answer, error) {
	path := a.String("path")
	text, err := m.Map(ctx, repomap.Request{
		Path:     path,
		Query:    a.String("query"),
		Focus:    a.String("focus"),
		MaxChars: int(a.Int("max-chars")),
	})
	if err != nil {
		return nil, f.missing(path, err)
	}
	return &toolkit.Answer{Text: text}, nil
}

// The two places where parse results are kept (D28).
const (
	mapCacheDisk   = "disk"
	mapCacheMemory = "memory"
)

// newMapper makes what draws the maps of a root. Setting says where parse results are kept: on disk, which is what an
// empty one means too, they outlive the process, in the user's cache directory. Without such a directory memory must do.
func newMapper(root *confine.Root, setting string) (*repomap.Mapper, error) {
	opt := repomap.Options{Root: root}
	switch setting {
	case mapCacheDisk, "":
		if cache, err := os.UserCacheDir(); err == nil {
			opt.CacheDir = filepath.Join(cache, "lookfirst", "map")
		}
	case mapCacheMemory:
	default:
		return nil, fmt.Errorf("map-cache is %q; it must be %q or %q", setting, mapCacheDisk, mapCacheMemory)
	}
	return repomap.New(opt), nil
}
