package console

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"lookfirst/harness"
)

// completing is how long the names in a directory may take to come: the person waits for them.
const completing = 2 * time.Second

// complete gives what a word of a line may become, at a position in characters, with what stands before the word and
// behind it.
func (c *console) complete(ctx context.Context, line string, pos int) (head string, words []string, tail string) {
	ctx, cancel := context.WithTimeout(ctx, completing)
	defer cancel()
	defer func() {
		if recover() != nil { // In a provider. There is nothing to complete then, and the line is as it was.
			words = nil
		}
	}()
	runes := []rune(line)
	before, tail := string(runes[:pos]), string(runes[pos:])
	given, err := split(before)
	current := word{start: len(before), end: len(before)}
	if len(given) > 0 && (err != nil || given[len(given)-1].end == len(before)) {
		current, given = given[len(given)-1], given[:len(given)-1]
	}
	if current.heredoc {
		return before, nil, tail
	}
	head, words = c.candidates(ctx, given, current)
	words = slices.DeleteFunc(words, func(w string) bool { return visible(w) != w }) // They are shown as they are.
	slices.Sort(words)
	return before[:current.start] + head, slices.Compact(words), tail
}

// candidates gives what the current word may become behind those that are given, without what all have in common at the
// beginning and no completion changes.
func (c *console) candidates(ctx context.Context, given []word, current word) (head string, words []string) {
	tools, err := c.Provider.Tools(ctx)
	if err != nil {
		return "", nil
	}
	if len(given) == 0 {
		return "", beginning(c.firstWords(tools, current.text), current.text)
	}
	switch first := given[0].text; {
	case first == "call" || first == "help" || first == "/help" || first == "/tools":
		if len(given) > 1 {
			return "", nil
		}
		var names []string
		for _, t := range tools {
			names = append(names, t.Name+" ")
		}
		return "", beginning(names, current.text)
	}
	found, ok := c.resolve(tools, given[0].text)
	if !ok {
		return "", nil
	}
	t := newTool(found)
	if flag, isFlag := strings.CutPrefix(current.text, "--"); isFlag && !current.quoted {
		name, value, hasValue := strings.Cut(flag, "=")
		if p, ok := t.find(name); ok && hasValue && isPath(p) {
			return "--" + name + "=", c.paths(ctx, t.Name, value)
		}
		return "", beginning(t.flags(), current.text)
	}
	if p, ok := t.next(given[1:]); ok && isPath(p) {
		return "", c.paths(ctx, t.Name, current.text)
	}
	return "", nil
}

// firstWords are the words with which a line may begin. A tool's whole name is among them once its prefix is typed, as
// nobody wants to see each tool twice.
func (c *console) firstWords(tools []harness.Tool, typed string) []string {
	if strings.HasPrefix(typed, "/") {
		var names []string
		for _, one := range c.commands.All() {
			names = append(names, "/"+one.Name+" ")
		}
		return names
	}
	words := []string{"call ", "help ", "quit "}
	for _, t := range tools {
		prefix, rest := c.bare(t.Name)
		if bare, ok := c.resolve(tools, rest); ok && bare.Name == t.Name && (prefix == "" || !strings.HasPrefix(typed, prefix)) {
			words = append(words, rest+" ")
		} else {
			words = append(words, t.Name+" ")
		}
	}
	return words
}

func beginning(words []string, with string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, with) })
}

// flags are the parameters by their names.
func (t *tool) flags() []string {
	var all []string
	for _, p := range t.params {
		if p.kind == "boolean" {
			all = append(all, "--"+p.name+" ")
		} else {
			all = append(all, "--"+p.name+"=")
		}
	}
	return all
}

// next is the parameter that a word without a name would be, behind those that are given.
func (t *tool) next(given []word) (param, bool) {
	taken, count := map[string]bool{}, 0
	var open param // The value of this one is the next word.
	for _, w := range given {
		flag, isFlag := strings.CutPrefix(w.text, "--")
		name, _, hasValue := strings.Cut(flag, "=")
		p, known := t.find(name)
		switch {
		case open.name != "":
			open = param{}
		case !isFlag || w.quoted:
			count++
		case known && !hasValue && p.kind != "boolean":
			open = p
			fallthrough
		default:
			taken[p.name] = true
		}
	}
	if open.name != "" {
		return open, true
	}
	free := slices.DeleteFunc(t.positional(), func(p param) bool { return taken[p.name] })
	if count >= len(free) {
		return param{}, false
	}
	return free[count], true
}

// isPath says whether a parameter is a path, as the tools that we know call theirs.
func isPath(p param) bool {
	return slices.Contains([]string{"path", "from", "to", "file_path"}, p.name)
}

// paths gives what a path may become, asked of the tool that lists directories beside the one of that name.
func (c *console) paths(ctx context.Context, name, typed string) []string {
	dir, base := path.Split(typed)
	prefix, _ := c.bare(name)
	at := dir
	if at == "" {
		at = "."
	}
	var listed harness.Result
	ok := false
	for _, lister := range []string{prefix + "list", prefix + "list_files"} {
		if listed, ok = c.ask(ctx, lister, map[string]any{"path": at}); ok {
			break
		}
	}
	if !ok || listed.IsError {
		return nil
	}
	var all []string
	for entry := range strings.SplitSeq(listed.Content, "\n") {
		hidden := strings.HasPrefix(entry, ".") && !strings.HasPrefix(base, ".")
		// A name with control characters is quoted by the tools, and stands for itself in no line.
		if entry == "" || hidden || !strings.HasPrefix(entry, base) || strings.HasPrefix(entry, `"`) || entry == "(empty directory)" {
			continue
		}
		written := quote(dir + entry)
		if !strings.HasSuffix(entry, "/") {
			written += " "
		}
		all = append(all, written)
	}
	return all
}
