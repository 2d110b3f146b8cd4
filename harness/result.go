package harness

import (
	"maps"
	"slices"

	"lookfirst/fsmcp/revision"
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
	if len(r.Revisions) > 0 && p.placement == PlaceStructured {
		e.raw(`,"structuredContent":`)
		e.revisions(r.Revisions)
	}
	if r.IsError {
		e.raw(`,"isError":true`)
	}
	if p.serverInfo != nil {
		e.raw(`,"resultType":"complete"`)
	}
	e.meta(p, r.Revisions)
	e.raw(`}}`)
}

// revisions puts out what [toolkit.Result.Structured] gives. The library would look at its types for each answer anew, and
// that is a thirtieth of a small call.
func (e *encoder) revisions(set revision.Set) {
	e.raw(`{"revisionScheme":"` + revision.Scheme + `","revisions":{`)
	for i, key := range slices.Sorted(maps.Keys(set)) {
		if i > 0 {
			e.raw(`,`)
		}
		e.str(key)
		e.raw(`:{"state":`)
		e.str(string(set[key].State))
		if token := set[key].Token; token != "" {
			e.raw(`,"token":`)
			e.str(string(token))
		}
		e.raw(`}`)
	}
	e.raw(`}}`)
}

// meta puts out the _meta of a result where there is something to say in it.
func (e *encoder) meta(p *reply, revisions revision.Set) {
	if p.placement != PlaceMeta {
		revisions = nil
	}
	if p.serverInfo == nil && len(revisions) == 0 {
		return
	}
	e.raw(`,"_meta":{`)
	if p.serverInfo != nil {
		e.raw(`"io.modelcontextprotocol/serverInfo":`)
		e.bytes(p.serverInfo)
	}
	if len(revisions) > 0 {
		if p.serverInfo != nil {
			e.raw(`,`)
		}
		e.raw(`"` + MetaKeyRevisions + `":`)
		e.revisions(revisions)
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
