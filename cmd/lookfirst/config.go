package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxConfigFile bounds a config file, in bytes: whoever names a device or a log by mistake is told so.
const maxConfigFile = 1 << 20

// fileConfig is what a config file says.
type fileConfig struct {
	config
	tools           []member
	hasInstructions bool
	hasHTTP         bool
	http            []member
}

// fileSettings are the keys of a config file.
func fileSettings() []setting[fileConfig] {
	return []setting[fileConfig]{
		{"name", text, true, "", func(c *fileConfig, v any) { c.name = v.(string) }},
		{"version", filled, false, "", func(c *fileConfig, v any) { c.version = v.(string) }},
		{"instructions", text, false, "", func(c *fileConfig, v any) { c.hasInstructions, c.instructions = true, v.(string) }},
		{"tools", object, true, "", func(c *fileConfig, v any) { c.tools = v.([]member) }},
		{"http", object, false, "", func(c *fileConfig, v any) { c.hasHTTP, c.http = true, v.([]member) }},
	}
}

// readConfigFile reads a config file, and returns its section http beside it, or nil. Its path is the operator's own and
// not a caller's, so it is opened as it stands.
func readConfigFile(path string) (config, *httpSection, error) {
	c := fileConfig{config: config{version: buildVersion()}}
	raw, err := readBounded(path)
	if err != nil {
		return c.config, nil, fmt.Errorf("--config: %w", err)
	}
	members, err := readMembers(raw)
	if err != nil {
		return c.config, nil, fmt.Errorf("%s: the file is not one JSON object (%w)", path, err)
	}
	settings := fileSettings()
	if err := apply(&c, settings, members); err != nil {
		return c.config, nil, fmt.Errorf("%s: %w; the settings are %s", path, err, list(settings))
	}
	if err := c.addToolkits(path); err != nil {
		return c.config, nil, err
	}
	if !c.hasInstructions {
		c.instructions = instructionsFor(c.toolkits)
	}
	if !c.hasHTTP {
		return c.config, nil, nil
	}
	section, err := readSection(path, c.http)
	return c.config, section, err
}

// addToolkits reads the object of toolkits. A key is the name of a toolkit, and may have an alias behind a # so that two
// of a kind have different keys.
func (c *fileConfig) addToolkits(path string) error {
	if len(c.tools) == 0 {
		return fmt.Errorf(`%s: 'tools' names no toolkit; write it as in {"FileSystem": {"root": "/srv/notes"}}`, path)
	}
	seen := map[string]bool{}
	for _, tool := range c.tools {
		if seen[tool.key] {
			return fmt.Errorf("%s: 'tools': '%s' is given twice; tell two of a kind apart as in 'FileSystem#notes'", path, tool.key)
		}
		seen[tool.key] = true
		name, alias, hasAlias := strings.Cut(tool.key, "#")
		if hasAlias && alias == "" {
			return fmt.Errorf("%s: 'tools': '%s' has nothing behind its #; write it as in 'FileSystem#notes'", path, tool.key)
		}
		m, err := parseToolkit(fmt.Sprintf("%s: '%s'", path, tool.key), name, string(tool.raw))
		if err != nil {
			return err
		}
		c.toolkits = append(c.toolkits, m)
	}
	return nil
}

// readBounded reads a file that may be being written: whoever replaces it by a rename is safe, and of whoever writes into
// it, most are noticed by reading twice.
func readBounded(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxConfigFile+1))
	switch {
	case err != nil:
		return "", err
	case len(raw) > maxConfigFile:
		return "", fmt.Errorf("%s is larger than 1 MiB, which no config file is", path)
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() { // and not a pipe, which can be read once
		again := make([]byte, len(raw)+1)
		if n, err := f.ReadAt(again, 0); err != io.EOF || !bytes.Equal(raw, again[:n]) {
			return "", fmt.Errorf("%s is being written; load it again when it is whole", path)
		}
	}
	return string(bytes.TrimPrefix(raw, []byte("\ufeff"))), nil // Editors on Windows put one there.
}
