package harness

import (
	"fmt"
	"strings"
)

// Placement says where an answer carries the revisions of its locations (D5a). The zero value is [PlaceAuto].
type Placement string

const (
	// PlaceAuto is meta for clients that show a model only the structured content where there is any, and structured for
	// every other.
	PlaceAuto Placement = "auto"
	// PlaceStructured puts them into the structured content.
	PlaceStructured Placement = "structured"
	// PlaceMeta puts the same object into the result's _meta, under MetaKeyRevisions.
	PlaceMeta Placement = "meta"
)

// MetaKeyRevisions is the key of the revisions in a result's _meta.
const MetaKeyRevisions = "lookfirst/revisions"

// ParsePlacement reads the name of a placement.
func ParsePlacement(name string) (Placement, error) {
	switch p := Placement(name); p {
	case PlaceAuto, PlaceStructured, PlaceMeta:
		return p, nil
	}
	return "", fmt.Errorf("'%s' is no place for revisions; there are '%s', '%s' and '%s'", name, PlaceAuto, PlaceStructured, PlaceMeta)
}

// For returns where a client of this name wants the revisions, which is PlaceStructured or PlaceMeta. The name is that of
// its clientInfo, or empty.
func (p Placement) For(client string) Placement {
	if !p.isAuto() {
		return p
	}
	if dropsText(client) {
		return PlaceMeta
	}
	return PlaceStructured
}

func (p Placement) isAuto() bool { return p != PlaceStructured && p != PlaceMeta }

// dropsText reports whether a client is known to drop the text of a result that has structured content, so that its model
// would read hashes in place of a file. It is the one table of such clients.
func dropsText(client string) bool {
	switch client {
	case "claude-code", // Claude Code, and programs built on its agent
		"Code - OSS", "VSCodium": // VS Code as others build it
		return true
	}
	// VS Code gives the long name of the product: that of the stable build, or with "- Insiders" or "- Exploration".
	return client == "Visual Studio Code" || strings.HasPrefix(client, "Visual Studio Code - ")
}
