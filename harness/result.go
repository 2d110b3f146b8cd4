package harness

import (
	"lookfirst/fsmcp/toolkit"
)

// reply is what goes into an answer beside what the tool gave back.
type reply struct {
	id         []byte
	placement  Placement // PlaceStructured or PlaceMeta
	serverInfo []byte    // for a request of the modern era, whose every answer names the server; else nil
}

// result puts out the answer to a tool call. It says what the server's own encoding of a result says, and encodes the text
// once.
func (e *encoder) result(p *reply, r *toolkit.Result) {
	e.envelope(p.id, `,"result":{"content":[`)
	if r.Blocks == nil {
		e.textBlock(r.Text)
	}
	for i, b := range r.Blocks {
		if i > 0 {
			e.raw(`,`)
		}
		e.block(b)
	}
	e.raw(`]`)
	revisions := r.Structured()
	if revisions != nil && p.placement == PlaceStructured {
		e.raw(`,"structuredContent":`)
		e.value(revisions)
	}
	if r.IsError {
		e.raw(`,"isError":true`)
	}
	if p.serverInfo != nil {
		e.raw(`,"resultType":"complete"`)
	}
	e.meta(p, revisions)
	e.raw(`}}`)
}

// meta puts out the _meta of a result where there is something to say in it.
func (e *encoder) meta(p *reply, revisions any) {
	if p.placement != PlaceMeta {
		revisions = nil
	}
	if p.serverInfo == nil && revisions == nil {
		return
	}
	e.raw(`,"_meta":{`)
	if p.serverInfo != nil {
		e.raw(`"io.modelcontextprotocol/serverInfo":`)
		e.bytes(p.serverInfo)
	}
	if revisions != nil {
		if p.serverInfo != nil {
			e.raw(`,`)
		}
		e.raw(`"` + MetaKeyRevisions + `":`)
		e.value(revisions)
	}
	e.raw(`}`)
}

func (e *encoder) textBlock(text string) {
	e.raw(`{"type":"text","text":`)
	e.str(text)
	e.raw(`}`)
}

// block puts out one of several blocks: a text, an embedded resource or an image.
func (e *encoder) block(b toolkit.Block) {
	switch {
	case b.IsText():
		e.textBlock(b.Text)
	case b.URI != "":
		e.raw(`{"type":"resource","resource":{"uri":`)
		e.str(b.URI)
		e.raw(`,"mimeType":`)
		e.str(b.MediaType)
		e.raw(`,"blob":`)
		e.base64(b.Data)
		e.raw(`}}`)
	default:
		e.raw(`{"type":"image","mimeType":`)
		e.str(b.MediaType)
		e.raw(`,"data":`)
		e.base64(b.Data)
		e.raw(`}`)
	}
}
