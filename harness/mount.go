// Package harness is the host side of the toolkits: one result a call, in the caller's order, whatever failed.
//
// Invariant: a tool that was mounted is seen by every client as its [toolkit.Tool] says, and what its calls give is
// passed on as it is. The server's own checking of arguments is left out, so that there is one reader of arguments and
// one set of sentences.
//
// Not promised: an order among calls that a client sends without waiting for the answers.
//
// Everything exported may be used from several goroutines.
package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lookfirst/fsmcp/toolkit"
)

// maxToolName is how many characters the protocol recommends to accept in a tool's name, and some clients enforce.
const maxToolName = 128

// Mount registers the tools on the server, each as ToolName calls it. It returns an error, and registers none, when a
// name is not one that every client accepts or stands twice among them. Whoever mounts several toolkits, or will replace
// them, makes a [Toolset], which compares their names.
func Mount(server *mcp.Server, prefix string, tools []*toolkit.Tool) error {
	s, err := NewToolset(Toolkit{prefix, tools})
	if err != nil {
		return err
	}
	s.Mount(server)
	return nil
}

// ToolName returns the name under which Mount registers a tool: prefix, underscore and name, or the bare name where the
// prefix is empty. The error says what a prefix or a name may be made of.
func ToolName(prefix, name string) (string, error) {
	if err := checkName(prefix); prefix != "" && err != nil {
		return "", fmt.Errorf("prefix '%s': %w", prefix, err)
	}
	if err := checkName(name); err != nil {
		return "", fmt.Errorf("tool '%s': %w", name, err)
	}
	full := name
	if prefix != "" {
		full = prefix + "_" + name
	}
	if len(full) > maxToolName {
		return "", fmt.Errorf("tool '%s' has %d characters; a name may have %d with its prefix", full, len(full), maxToolName)
	}
	return full, nil
}

func checkName(name string) error {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
	if name == "" || strings.Trim(name, allowed) != "" {
		return errors.New("a name is made of letters from a to z, digits, '_', '-' and '.'")
	}
	return nil
}

// describe makes the entry in tools/list. A tool that changes something carries no annotations at all: an object with
// other hints in it would declare readOnlyHint and idempotentHint false, which says more than is known (D4).
func describe(name string, t *toolkit.Tool, w *whole) *mcp.Tool {
	tool := &mcp.Tool{Name: name, Description: t.Description, InputSchema: &schema{w, sync.OnceValue(t.Schema)}}
	if t.ReadOnly {
		tool.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
	}
	return tool
}

// whole is whether schemas are shown whole.
type whole struct{ atomic.Bool }

// schema is that of a tool's arguments, and is made when a client asks for it. While a server is being filled, before
// anybody can ask it, it encodes and decodes the schema several times to see that it is an object's: it is told so much,
// and no more. With all of it, that would be a third of the time until the program answers.
type schema struct {
	shown *whole
	make  func() json.RawMessage
}

// MarshalJSON implements [json.Marshaler].
func (s *schema) MarshalJSON() ([]byte, error) {
	if !s.shown.Load() {
		return []byte(`{"type":"object"}`), nil
	}
	return s.make(), nil
}

// content makes the content of a result.
func content(r *toolkit.Result) []mcp.Content {
	if r.Blocks == nil {
		return []mcp.Content{&mcp.TextContent{Text: r.Text}}
	}
	all := make([]mcp.Content, len(r.Blocks))
	for i, b := range r.Blocks {
		switch {
		case b.IsText():
			all[i] = &mcp.TextContent{Text: b.Text}
		case b.URI != "":
			all[i] = &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: b.URI, MIMEType: b.MediaType, Blob: b.Data}}
		default:
			all[i] = &mcp.ImageContent{Data: b.Data, MIMEType: b.MediaType}
		}
	}
	return all
}
