package console

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"lookfirst/fsmcp/toolkit"
)

// arguments makes the JSON of a call from the words behind its tool's name, which is shown as name.
func (t *tool) arguments(name string, words []word) (json.RawMessage, error) {
	a := given{tool: t, name: name, values: map[string]json.RawMessage{}}
	for len(words) > 0 {
		w := words[0]
		words = words[1:]
		flag, isFlag := strings.CutPrefix(w.text, "--")
		var err error
		switch {
		case isShortFlag(w) && !a.noFlags:
			return nil, a.shortFlag(w.text)
		case !isFlag || w.quoted || w.heredoc || a.noFlags:
			a.words = append(a.words, w.text)
		case flag == "":
			a.noFlags = true
		default:
			words, err = a.flag(flag, words)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := a.place(); err != nil {
		return nil, err
	}
	return a.object(), nil
}

// isShortFlag says whether a word looks like -i, which tools of a shell take and ours do not. As a text it has quotes.
func isShortFlag(w word) bool {
	return !w.quoted && !w.heredoc && len(w.text) == 2 && w.text[0] == '-' && (w.text[1]|0x20 >= 'a' && w.text[1]|0x20 <= 'z')
}

func (a *given) shortFlag(text string) error {
	if a.tool.Name == "grep" || strings.HasSuffix(a.tool.Name, "_grep") {
		if text == "-i" {
			return unreadablef("%s takes no -i; write (?i) in front of the pattern, and --regex", a.name)
		}
	}
	return unreadablef("%s takes no %s; 'help %s' lists what it takes, and for a text put it in quotes", a.name, text, a.name)
}

// given are the arguments of a call as far as they have been read.
type given struct {
	tool    *tool
	name    string // that the person has typed
	values  map[string]json.RawMessage
	words   []string // those without a name
	noFlags bool     // behind --
}

// flag takes --name, --name=value, --no-name or --name value, and returns the words that are left.
func (a *given) flag(flag string, words []word) ([]word, error) {
	name, value, hasValue := strings.Cut(flag, "=")
	p, ok := a.tool.find(name)
	if negated, isNo := strings.CutPrefix(name, "no-"); !ok && isNo && !hasValue {
		if p, ok = a.tool.find(negated); ok && p.kind == "boolean" {
			return words, a.set(p, "false")
		}
		ok = false
	}
	switch {
	case !ok:
		return nil, a.unknown(name)
	case hasValue:
	case p.kind == "boolean":
		value = "true"
	case len(words) == 0 || words[0].heredoc || !words[0].quoted && strings.HasPrefix(words[0].text, "--"):
		return nil, unreadablef("--%s needs a value; write --%s=VALUE", name, name)
	default:
		value, words = words[0].text, words[1:]
	}
	return words, a.set(p, value)
}

func (a *given) unknown(name string) error {
	name = brief(name)
	var names []string
	for _, p := range a.tool.params {
		names = append(names, p.name)
	}
	if near := toolkit.Nearest(name, names); near != "" {
		return unreadablef("%s takes no --%s; did you mean --%s?", a.name, name, near)
	}
	if len(names) == 0 {
		return unreadablef("%s takes no --%s, and no arguments at all", a.name, name)
	}
	return unreadablef("%s takes no --%s; there are --%s", a.name, name, strings.Join(names, ", --"))
}

// place gives the words without a name to parameters.
func (a *given) place() error {
	words := a.words
	for _, p := range a.tool.positional() {
		if len(words) == 0 {
			return nil
		}
		if _, ok := a.values[p.name]; ok {
			continue
		}
		if err := a.set(p, words[0]); err != nil {
			return err
		}
		words = words[1:]
	}
	if len(words) > 0 {
		return unreadablef("nothing is left for '%s' to be; write it as %s, with quotes around a text that has spaces", brief(words[0]), a.tool.usage(a.name))
	}
	return nil
}

// set gives a parameter its value.
func (a *given) set(p param, value string) error {
	if _, ok := a.values[p.name]; ok {
		return unreadablef("--%s is given twice; give it once", p.name)
	}
	isJSON, want := false, ""
	switch p.kind {
	case "integer":
		_, err := strconv.ParseInt(value, 10, 64)
		isJSON, want = err == nil, "a whole number"
	case "number":
		_, err := strconv.ParseFloat(value, 64)
		isJSON, want = err == nil, "a number"
	case "boolean":
		isJSON, want = value == "true" || value == "false", "true or false"
	case "array", "object":
		isJSON, want = true, "JSON, in single quotes"
	default:
		text, err := json.Marshal(value)
		a.values[p.name] = text
		return err
	}
	if !isJSON || !json.Valid([]byte(value)) {
		return unreadablef("--%s is '%s' and must be %s", p.name, brief(value), want)
	}
	a.values[p.name] = json.RawMessage(value)
	return nil
}

// object is the arguments as a JSON object, in the schema's order.
func (a *given) object() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, p := range a.tool.params {
		value, ok := a.values[p.name]
		if !ok {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(p.name) // A string always encodes.
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes()
}
