package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// example shows a toolkit with its settings in messages.
const example = `'FileSystem={"root":"/srv/notes"}'`

// setting is one key of a JSON object that is read into a T.
type setting[T any] struct {
	name     string
	kind     string // text and so on
	required bool
	fallback string                   // what holds without it, for people; empty where that is nothing
	set      func(into *T, value any) // value is as convert makes it
}

// The kinds of a setting say what must stand there.
const (
	text     = "a string"
	filled   = "a string that is not empty"
	positive = "an integer of at least 1"
	port     = "a port from 0 to 65535"
	boolean  = "true or false"
	object   = "an object"

	texts       = "a list of strings"
	filledTexts = "a list of strings that are not empty"
)

// oneOf is the kind of a setting that is one of a few words.
func oneOf(words ...string) string { return `"` + strings.Join(words, `" or "`) + `"` }

// wordsOf gives the words of a kind that oneOf has made, and none for any other.
func wordsOf(kind string) []string {
	if !strings.HasPrefix(kind, `"`) {
		return nil
	}
	return strings.Split(strings.Trim(kind, `"`), `" or "`)
}

// parseTool reads the value of the flag --tool or --describe, NAME or NAME=JSON.
func parseTool(flag, arg string) (mounting, error) {
	source := flag + "=" + arg
	name, raw, hasSettings := strings.Cut(arg, "=")
	if !hasSettings {
		raw = "{}"
	}
	m, err := parseToolkit(source, name, raw)
	if errors.As(err, new(*notObjectError)) {
		err = fmt.Errorf("%w; write them as in %s=%s", err, flag, example)
	}
	return m, err
}

// parseToolkit reads the settings of a toolkit. Whatever it does not understand is an error: a setting that is silently
// ignored may be the one that makes a directory read-only.
func parseToolkit(source, name, raw string) (mounting, error) {
	k, err := kindOf(name)
	if err != nil {
		return mounting{}, fmt.Errorf("%s: %w", source, err)
	}
	m := mounting{source: source, kind: name, prefix: k.prefix}
	members, err := readMembers(raw)
	if err != nil {
		return m, fmt.Errorf("%s: %w", source, &notObjectError{err})
	}
	if err := apply(&m, k.settings, members); err != nil {
		return m, fmt.Errorf("%s: %w; the settings are %s", source, err, list(k.settings))
	}
	return m, nil
}

// notObjectError says that settings cannot be read at all.
type notObjectError struct{ err error }

func (e *notObjectError) Error() string {
	return fmt.Sprintf("the settings are not one JSON object (%v)", e.err)
}

// apply puts the members into what they are settings of.
func apply[T any](into *T, settings []setting[T], members []member) error {
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
		value, ok := mb.convert(s.kind)
		if text, isText := value.(string); !ok || s.required && isText && text == "" {
			return fmt.Errorf("'%s' is %s and must be %s", mb.key, mb.shown(), s.kind)
		}
		s.set(into, value)
	}
	for _, s := range settings {
		if s.required && !seen[s.name] {
			return fmt.Errorf("'%s' is missing", s.name)
		}
	}
	return nil
}

func find[T any](settings []setting[T], name string) *setting[T] {
	for i := range settings {
		if settings[i].name == name {
			return &settings[i]
		}
	}
	return nil
}

// list names the settings.
func list[T any](settings []setting[T]) string {
	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = "'" + s.name + "'"
	}
	return strings.Join(names, ", ")
}

// member is one key of a JSON object with its value.
type member struct {
	key   string
	raw   json.RawMessage
	value any // raw, decoded, with its numbers as they stood there
}

// convert returns the value as a setting of this kind wants it, and whether it is of the kind: a string, an int64, a bool,
// a []string or, for an object, its []member.
func (mb *member) convert(kind string) (any, bool) {
	switch kind {
	case text, filled:
		v, ok := mb.value.(string)
		return v, ok && (v != "" || kind == text)
	case boolean:
		v, ok := mb.value.(bool)
		return v, ok
	case texts, filledTexts:
		var v []string
		err := json.Unmarshal(mb.raw, &v)
		ok := err == nil && v != nil && !slices.Contains(mb.value.([]any), nil) // A null would be an empty string.
		return v, ok && (kind == texts || !slices.Contains(v, ""))
	case object:
		v, err := readMembers(string(mb.raw))
		return v, err == nil
	}
	if words := wordsOf(kind); words != nil {
		v, ok := mb.value.(string)
		return v, ok && slices.Contains(words, v)
	}
	number, ok := mb.value.(json.Number)
	n, err := number.Int64()
	ok = ok && err == nil
	if kind == port {
		return n, ok && n >= 0 && n <= math.MaxUint16
	}
	return n, ok && n >= 1
}

// shown returns the value as JSON, for a message.
func (mb *member) shown() string {
	if mb.value == "" {
		return "empty"
	}
	const most = 80 // bytes that a message repeats
	var compact bytes.Buffer
	if json.Compact(&compact, mb.raw) != nil {
		return "unusable"
	}
	if compact.Len() > most {
		return strings.ToValidUTF8(compact.String()[:most], "") + "…"
	}
	return compact.String()
}

// cutOff puts words to the decoder's errors for a text that ends too early.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
}

// readMembers reads an object with its keys as they stand there: a map would keep one of two equal ones.
func readMembers(raw string) ([]member, error) {
	if !utf8.ValidString(raw) {
		return nil, errors.New("it is not UTF-8") // The decoder would repair it, and another directory might have that name.
	}
	d := json.NewDecoder(strings.NewReader(raw))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("it does not start with {")
	}
	var members []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, cutOff(err)
		}
		m := member{key: key.(string)} // The decoder gives nothing else in this place.
		if err := d.Decode(&m.raw); err != nil {
			return nil, cutOff(err)
		}
		numbers := json.NewDecoder(bytes.NewReader(m.raw))
		numbers.UseNumber()
		if err := numbers.Decode(&m.value); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, cutOff(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}
	return members, nil
}
