package compat

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"lookfirst/fsmcp/toolkit"
)

// maxCells is how many cells a notebook may have. What has more would be too much for an answer in any case, and would
// cost seconds to be told so.
const maxCells = 10_000

// maxOutputs is how many characters of text the outputs of one cell may have to be shown.
const maxOutputs = 10_000

// lines is a text in a notebook: a string, or a list of strings. What is neither is no text, and no reason to refuse all
// the rest.
type lines string

// UnmarshalJSON implements [json.Unmarshaler].
func (l *lines) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*l = lines(one)
		return nil
	}
	var many []string
	if json.Unmarshal(b, &many) == nil {
		*l = lines(strings.Join(many, ""))
	}
	return nil
}

// lenient is a value that is left as it is when it is not of the kind that it should be.
type lenient[T any] struct{ value T }

// UnmarshalJSON implements [json.Unmarshaler].
func (l *lenient[T]) UnmarshalJSON(b []byte) error {
	var v T
	if json.Unmarshal(b, &v) == nil {
		l.value = v
	}
	return nil
}

type notebook struct {
	Cells    []json.RawMessage `json:"cells"`
	Metadata lenient[struct {
		Language lenient[struct {
			Name lines `json:"name"`
		}] `json:"language_info"`
		Kernel lenient[struct {
			Language lines `json:"language"`
		}] `json:"kernelspec"`
	}] `json:"metadata"`
}

type cell struct {
	ID      lines             `json:"id"`
	Type    lines             `json:"cell_type"`
	Source  lines             `json:"source"`
	Outputs lenient[[]output] `json:"outputs"`
}

type output struct {
	Type      lines                     `json:"output_type"`
	Text      lines                     `json:"text"`
	Data      lenient[map[string]lines] `json:"data"`
	Name      lines                     `json:"ename"`
	Value     lines                     `json:"evalue"`
	Traceback lenient[[]string]         `json:"traceback"`
}

func (r *reading) notebook() ([]toolkit.Block, error) {
	b, err := r.whole(maxWhole)
	if err != nil {
		return nil, err
	}
	n, err := parseNotebook(b)
	if err != nil {
		return nil, err
	}
	show := showing{images: isOn(r.tools.opt.SeesImages), language: n.language()}
	for i, raw := range n.Cells {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		var c cell
		if !bytes.HasPrefix(raw, []byte("{")) || json.Unmarshal(raw, &c) != nil {
			return nil, toolkit.Refuse(textNotebookCells)
		}
		show.cell(i, &c)
	}
	if tokens := (show.size + 3) / 4; tokens > maxTokens {
		return nil, textTooMuch(tokens)
	}
	if len(show.blocks) == 0 {
		return []toolkit.Block{{}}, nil
	}
	return show.blocks, nil
}

func parseNotebook(b []byte) (*notebook, error) {
	b = bytes.TrimPrefix(b, markedUTF8.mark())
	var n notebook
	err := json.Unmarshal(b, &n)
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType), err == nil && n.Cells == nil:
		return nil, toolkit.Refuse(textNotebookCells)
	case err != nil:
		return nil, textNotebookJSON(err.Error())
	case len(n.Cells) > maxCells:
		return nil, toolkit.Refuse(textNotebookMany, len(n.Cells), maxCells)
	}
	return &n, nil
}

// language is that of the code cells.
func (n *notebook) language() string {
	m := n.Metadata.value
	switch {
	case m.Language.value.Name != "":
		return string(m.Language.value.Name)
	case m.Kernel.value.Language != "":
		return string(m.Kernel.value.Language)
	}
	return "python"
}

// showing collects what is shown of a notebook: texts, joined as long as no image comes between them.
type showing struct {
	images   bool
	language string
	blocks   []toolkit.Block
	size     int64 // bytes of text
}

func (s *showing) cell(i int, c *cell) {
	id, about := string(c.ID), ""
	if id == "" {
		id = fmt.Sprintf("cell-%d", i)
	}
	switch {
	case c.Type != "code":
		about = "<cell_type>" + string(c.Type) + "</cell_type>"
	case s.language != "python":
		about = "<language>" + s.language + "</language>"
	}
	s.add(fmt.Sprintf("<cell id=\"%s\">%s%s</cell id=\"%s\">", id, about, c.Source, id))
	if c.Type != "code" {
		return
	}
	size := 0
	for _, o := range c.Outputs.value {
		size += utf8.RuneCountInString(o.text())
	}
	if size > maxOutputs {
		s.add("\n" + fmt.Sprintf(textNotebookOutputs, i))
		return
	}
	for _, o := range c.Outputs.value {
		if text := o.text(); text != "" {
			s.add("\n" + text)
		}
		if image := o.image(); image != nil && s.images {
			s.blocks = append(s.blocks, *image)
		}
	}
}

// add appends a text, to the last block if that is one.
func (s *showing) add(text string) {
	s.size += int64(len(text))
	if (s.size+3)/4 > maxTokens {
		return // It will be refused, and needs no more than to be counted.
	}
	if n := len(s.blocks); n > 0 && s.blocks[n-1].IsText() {
		s.blocks[n-1].Text += "\n" + text
		s.size++
		return
	}
	s.blocks = append(s.blocks, toolkit.Block{Text: text})
}

func (o *output) text() string {
	switch o.Type {
	case "stream":
		return string(o.Text)
	case "execute_result", "display_data":
		return string(o.Data.value["text/plain"])
	case "error":
		return fmt.Sprintf("%s: %s\n%s", o.Name, o.Value, withoutColours(strings.Join(o.Traceback.value, "\n")))
	}
	return ""
}

// image is the picture among the forms of an output, by what its bytes say.
func (o *output) image() *toolkit.Block {
	for _, mediaType := range []string{"image/png", "image/jpeg", "image/gif", "image/webp"} {
		encoded := strings.Join(strings.Fields(string(o.Data.value[mediaType])), "")
		if encoded == "" {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(encoded)
		if p := pictureOf(data); err == nil && p != nil {
			return &toolkit.Block{Data: data, MediaType: p.mediaType}
		}
	}
	return nil
}

// withoutColours takes the escape sequences of terminals out of a text.
func withoutColours(s string) string {
	if !strings.Contains(s, "\x1b") {
		return s
	}
	return regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]").ReplaceAllString(s, "")
}
