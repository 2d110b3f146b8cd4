package toolkit

import "strings"

// Block is one piece of an answer that is more than one text. Exactly one of Text and Data is set.
type Block struct {
	// Text must be valid UTF-8.
	Text string
	// Data is the bytes of an image, or of a file if URI is set.
	Data []byte
	// MediaType is what Data is, as "image/png".
	MediaType string
	// URI names the file that Data is.
	URI string
}

// IsText says whether the block is a text.
func (b *Block) IsText() bool { return b.Data == nil }

// textOf joins the texts among the blocks, for those who take no more than a text.
func textOf(blocks []Block) string {
	var texts []string
	for i := range blocks {
		if blocks[i].IsText() {
			texts = append(texts, blocks[i].Text)
		}
	}
	return strings.Join(texts, "\n")
}
