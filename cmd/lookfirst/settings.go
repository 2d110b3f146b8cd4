package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"lookfirst/fsmcp"
)

const (
	fileSystem    = "FileSystem"
	defaultPrefix = "fs"

	// example shows a toolkit with its settings in messages.
	example = `'FileSystem={"root":"/srv/notes"}'`
)

// mounting is one toolkit to serve.
type mounting struct {
	source  string // where it was asked for, for messages
	prefix  string
	options fsmcp.Options
}

// setting is one key of a toolkit's settings.
type setting struct {
	name     string
	kind     string // "a string", "an integer of at least 1" or "true or false"
	required bool
	set      func(m *mounting, value any) // value is a string, an int64 or a bool
}

const (
	text     = "a string"
	positive = "an integer of at least 1"
	boolean  = "true or false"
)

// fileSystemSettings are the settings of FileSystem, and the prefix that may stand beside those of any toolkit.
func fileSystemSettings() []setting {
	return []setting{
		{"root", text, true, func(m *mounting, v any) { m.options.Root = v.(string) }},
		{"read-only", boolean, false, func(m *mounting, v any) { m.options.ReadOnly = v.(bool) }},
		{"digest-memo", positive, false, func(m *mounting, v any) { m.options.DigestMemo = int(min(v.(int64), math.MaxInt)) }},
		{"revision-budget", positive, false, func(m *mounting, v any) { m.options.RevisionBudget = v.(int64) }},
		{"sync", boolean, false, func(m *mounting, v any) { m.options.NoSync = !v.(bool) }},
		{"prefix", text, false, func(m *mounting, v any) { m.prefix = v.(string) }},
	}
}

// parseTool reads the value of a --tool flag, NAME or NAME=JSON. Whatever it does not understand is an error: a setting
// that is silently ignored may be the one that makes a directory read-only.
func parseTool(arg string) (mounting, error) {
	m := mounting{source: "--tool=" + arg, prefix: defaultPrefix}
	name, raw, hasSettings := strings.Cut(arg, "=")
	if name != fileSystem {
		return m, fmt.Errorf("%s: there is no toolkit '%s'; there is %s", m.source, name, fileSystem)
	}
	if !hasSettings {
		raw = "{}"
	}
	members, err := readMembers(raw)
	if err != nil {
		return m, fmt.Errorf("%s: the settings are not one JSON object (%w); write them as in --tool=%s", m.source, err, example)
	}
	settings := fileSystemSettings()
	if err := m.apply(settings, members); err != nil {
		return m, fmt.Errorf("%s: %w; the settings are %s", m.source, err, list(settings))
	}
	return m, nil
}

// apply puts the members into the mounting.
func (m *mounting) apply(settings []setting, members []member) error {
	seen := map[string]bool{}
	for _, mb := range members {
		s := find(settings, mb.key)
		if s == nil {
			return fmt.Errorf("there is no setting '%s'", mb.key)
		}
		if seen[mb.key] {
			return fmt.Errorf("'%s' is given twice", mb.key)
		}
		seen[mb.key] = true
		value, ok := s.convert(mb.value)
		if !ok {
			return fmt.Errorf("'%s' is %s and must be %s", mb.key, mb.shown(), s.kind)
		}
		s.set(m, value)
	}
	for _, s := range settings {
		if s.required && !seen[s.name] {
			return fmt.Errorf("'%s' is missing", s.name)
		}
	}
	return nil
}

func find(settings []setting, name string) *setting {
	for i := range settings {
		if settings[i].name == name {
			return &settings[i]
		}
	}
	return nil
}

// convert returns the value as set wants it, and whether it is of the setting's kind.
func (s *setting) convert(value any) (any, bool) {
	switch s.kind {
	case text:
		v, ok := value.(string)
		return v, ok && (v != "" || !s.required)
	case boolean:
		v, ok := value.(bool)
		return v, ok
	default:
		number, ok := value.(json.Number)
		n, err := number.Int64()
		return n, ok && err == nil && n >= 1
	}
}

// list names the settings.
func list(settings []setting) string {
	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = "'" + s.name + "'"
	}
	return strings.Join(names, ", ")
}

// member is one key of a JSON object with its value.
type member struct {
	key   string
	value any
}

// shown returns the value as JSON, for a message.
func (mb *member) shown() string {
	if mb.value == "" {
		return "empty"
	}
	b, err := json.Marshal(mb.value)
	if err != nil {
		return "unusable"
	}
	return string(b)
}

// readMembers reads an object with its keys as they stand there: a map would keep one of two equal ones.
func readMembers(raw string) ([]member, error) {
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("it does not start with {")
	}
	var members []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{key: key.(string)} // The decoder gives nothing else in this place.
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}
	return members, nil
}
