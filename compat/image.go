package compat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"strings"
	"time"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"lookfirst/fsmcp/toolkit"
)

const (
	// maxSide is how many pixels a side of an image has at most when it is shown.
	maxSide = 2000
	// maxPixels bounds the memory of an unpacked image, in bytes: a small file can hold an image of gigabytes. It is
	// enough for 80 megapixels of eight bits, which hardly a camera surpasses, and for 20 of a progressive JPEG.
	maxPixels = 320 << 20
	// imageTime is how long unpacking may take: the pixels of a progressive JPEG can be gone over thousands of times.
	imageTime = 3 * time.Second
)

// picture is a kind of image, which is told by the first bytes.
type picture struct {
	mediaType  string
	starts     func(head []byte) bool
	config     func(io.Reader) (image.Config, error)
	decode     func(io.Reader) (image.Image, error)
	extensions string
}

func pictures() []picture {
	prefix := func(p string) func([]byte) bool {
		return func(head []byte) bool { return bytes.HasPrefix(head, []byte(p)) }
	}
	return []picture{
		{"image/png", prefix("\x89PNG\r\n\x1a\n"), png.DecodeConfig, png.Decode, ".png"},
		{"image/jpeg", prefix("\xff\xd8\xff"), jpeg.DecodeConfig, jpeg.Decode, ".jpg .jpeg"},
		{"image/gif", prefix("GIF8"), gif.DecodeConfig, gif.Decode, ".gif"},
		{"image/webp", isWebP, webp.DecodeConfig, webp.Decode, ".webp"},
	}
}

func isWebP(head []byte) bool {
	return len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP"
}

func pictureOf(head []byte) *picture {
	for _, p := range pictures() {
		if p.starts(head) {
			return &p
		}
	}
	return nil
}

func isImage(head []byte) bool { return pictureOf(head) != nil }

func isImageExtension(extension string) bool {
	for _, p := range pictures() {
		for known := range strings.FieldsSeq(p.extensions) {
			if known == extension {
				return true
			}
		}
	}
	return false
}

func (r *reading) image(head []byte) ([]toolkit.Block, error) {
	switch {
	case len(head) == 0:
		return nil, toolkit.Refuse(textEmptyImg)
	case !isOn(r.tools.opt.SeesImages):
		return nil, toolkit.Refuse(textNoImages)
	}
	b, err := r.whole(maxWhole)
	if err != nil {
		return nil, err
	}
	p := pictureOf(head)
	is, err := p.config(bytes.NewReader(b))
	if err != nil || is.Width <= 0 || is.Height <= 0 {
		return nil, toolkit.Refuse(textImgBroken)
	}
	if is.Width <= maxSide && is.Height <= maxSide {
		return []toolkit.Block{{Data: b, MediaType: p.mediaType}}, nil
	}
	if int64(is.Width) > maxPixels || int64(is.Width)*int64(is.Height)*depth(is.ColorModel, b) > maxPixels {
		return nil, toolkit.Refuse(textImgLarge, is.Width, is.Height)
	}
	end, err := r.tools.begin(r.ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return scaled(r.ctx, p, b, is)
}

// depth is how many bytes a pixel takes while it is unpacked.
func depth(m color.Model, b []byte) int64 {
	switch {
	case m == color.RGBA64Model || m == color.NRGBA64Model:
		return 8
	case isProgressive(b):
		return 16 // All coefficients are kept until the last scan, four bytes each.
	}
	return 4
}

// isProgressive says whether the bytes are a JPEG that comes in scans. Its segments are a marker of two bytes, and a length
// of two that counts itself.
func isProgressive(b []byte) bool {
	const progressive, scan = 0xc2, 0xda
	if !bytes.HasPrefix(b, []byte("\xff\xd8")) {
		return false
	}
	for b = b[2:]; len(b) >= 4 && b[0] == 0xff && b[1] != scan; {
		switch {
		case b[1] == progressive:
			return true
		case b[1] == 0xff: // filling
			b = b[1:]
			continue
		}
		b = b[min(len(b), 2+(int(b[2])<<8|int(b[3]))):]
	}
	return false
}

// scaled makes an image that can be shown, and the text that says how much smaller it is. The decoders are not ours: what
// makes one panic is a broken image too.
func scaled(ctx context.Context, p *picture, b []byte, is image.Config) (blocks []toolkit.Block, err error) {
	ctx, cancel := context.WithTimeout(ctx, imageTime)
	defer cancel()
	defer func() {
		if recover() != nil {
			blocks, err = nil, toolkit.Refuse(textImgBroken)
		}
	}()
	source, err := p.decode(&patientReader{ctx, bytes.NewReader(b)})
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		return nil, toolkit.Refuse(textImgBroken)
	}
	w, h := fit(is.Width, is.Height)
	small := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.ApproxBiLinear.Scale(small, placed(source.Bounds(), is, w, h), source, source.Bounds(), draw.Src, nil)
	data, mediaType, err := pack(small, p)
	if err != nil {
		return nil, fmt.Errorf("encode an image: %w", err)
	}
	note := fmt.Sprintf(textScaled, is.Width, is.Height, w, h, float64(is.Width)/float64(w))
	if is.Height > is.Width {
		note = fmt.Sprintf(textScaled, is.Width, is.Height, w, h, float64(is.Height)/float64(h))
	}
	return []toolkit.Block{{Data: data, MediaType: mediaType}, {Text: note}}, nil
}

// fit is the size that an image has when it is shown.
func fit(w, h int) (int, int) {
	f := float64(maxSide) / float64(max(w, h))
	return max(1, int(math.Round(float64(w)*f))), max(1, int(math.Round(float64(h)*f)))
}

// placed is where the decoded image goes: the first frame of a GIF may be a part of its canvas alone.
func placed(frame image.Rectangle, is image.Config, w, h int) image.Rectangle {
	return image.Rect(frame.Min.X*w/is.Width, frame.Min.Y*h/is.Height,
		max(1, frame.Max.X*w/is.Width), max(1, frame.Max.Y*h/is.Height))
}

// pack encodes the image: as JPEG what came as that, since a photograph is many times larger as PNG; PNG else, be it that
// there is no encoder for what came.
func pack(m image.Image, p *picture) ([]byte, string, error) {
	var b bytes.Buffer
	if p.mediaType == "image/jpeg" {
		err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 85})
		return b.Bytes(), p.mediaType, err
	}
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m)
	return b.Bytes(), "image/png", err
}

// patientReader fails once a context is done. A decoder asks for bytes again and again, so it is stopped by that.
type patientReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements [io.Reader].
func (p *patientReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.r.Read(b[:min(len(b), 1<<10)]) // Few at a time, since each can cost much.
}
