package compat

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"lookfirst/fsmcp/confine"
	"lookfirst/fsmcp/revision"
	"lookfirst/fsmcp/toolkit"
	"lookfirst/readstate"
)

// maxWhole is the largest notebook or image that is read, in bytes (D27).
const maxWhole = 32 << 20

func (f *FileTools) readFileTool() *toolkit.Tool {
	zero, one := int64(0), int64(1)
	return &toolkit.Tool{
		Name: "read_file",
		Description: "Read a file. Text comes with line numbers, each followed by a tab: at most 2000 lines from offset on unless limit says " +
			"otherwise, lines longer than 2000 characters cut. Images (PNG, JPEG, GIF, WebP) and PDFs come as such, Jupyter notebooks as their " +
			"cells with outputs. A PDF of more than 10 pages is read with pages.",
		Params: []toolkit.Param{
			{Name: "path", Type: "string", Description: "The file, absolute or relative to the working directory.", Required: true},
			{Name: "offset", Type: "integer", Description: "The first line to read, counted from 1.", Min: &zero},
			{Name: "limit", Type: "integer", Description: "How many lines to read.", Min: &one},
			{Name: "pages", Type: "string", Description: "Pages of a PDF to read as text, as \"3\" or \"1-5\"; at most 20."},
		},
		ReadOnly: true,
		Handle:   f.readFile,
	}
}

func (f *FileTools) readFile(ctx context.Context, a *toolkit.Args) (*toolkit.Answer, error) {
	pages, err := parsePages(a.String("pages"))
	if err != nil {
		return nil, err
	}
	p, err := f.place("read_file", a.String("path"))
	if err != nil {
		return nil, err
	}
	loc, err := p.resolve()
	if err != nil {
		return nil, err
	}
	defer loc.Close()
	if err := p.file(loc, "read"); err != nil {
		return nil, err
	}
	release, err := f.tree(loc.Root()).Observe(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	file, err := loc.Open()
	if err != nil {
		return nil, p.explain(err)
	}
	defer file.Close()
	r := &reading{place: p, ctx: ctx, size: file.Info().Size, hashed: f.hasher.NewReader(ctx, file)}
	r.content = bufio.NewReaderSize(r.hashed, piece)
	blocks, seen, err := r.blocks(a, pages)
	if err != nil {
		return nil, err
	}
	return r.answer(loc, file, blocks, seen), nil
}

// reading is one call of read_file on a file that was opened.
type reading struct {
	*place
	ctx     context.Context
	size    int64
	hashed  *revision.Reader
	content *bufio.Reader // of hashed
}

// blocks reads the file by its kind. Seen says that what is shown can be written upon: an image or a PDF is shown as a
// picture of the file, and not its content.
func (r *reading) blocks(a *toolkit.Args, pages *pageRange) (blocks []toolkit.Block, seen bool, err error) {
	head, err := r.content.Peek(binaryHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, r.explain(confine.Explain(r.path, err))
	}
	switch extension := r.extension(); {
	case extension == ".pdf" || bytes.HasPrefix(head, []byte(pdfHeader)):
		blocks, err = r.pdf(head, pages)
	case isImage(head) || len(head) == 0 && isImageExtension(extension):
		blocks, err = r.image(head)
	case extension == ".ipynb":
		seen = true
		blocks, err = r.notebook()
	case isBinaryExtension(extension) || isBinary(head):
		err = textBinary(extension)
	default:
		seen = true
		blocks, err = r.text(a, encodingOf(head))
	}
	return blocks, seen, err
}

// isBinary says whether there is a NUL where text has none. UTF-16 is full of them.
func isBinary(head []byte) bool {
	return !encodingOf(head).isUTF16() && bytes.IndexByte(head, 0) >= 0
}

func (r *reading) text(a *toolkit.Args, e encoding) ([]toolkit.Block, error) {
	limit := int64(defaultLines)
	if a.Has("limit") {
		limit = a.Int("limit")
	}
	w := newWindow(a.Int("offset"), limit)
	if _, err := r.content.Discard(len(e.mark())); err != nil {
		return nil, r.explain(confine.Explain(r.path, err))
	}
	var content io.Reader = r.content
	if e.isUTF16() {
		content = &utf16Reader{src: r.content, order: e.order()}
	}
	if err := w.read(content); errors.Is(err, errNotText) {
		return nil, textBinary(r.extension())
	} else if err != nil {
		return nil, r.failed(err)
	}
	text := string(w.out)
	switch {
	case !w.any:
		text = textEmpty
	case w.line < w.first:
		text = fmt.Sprintf(textPastEnd, w.first, w.line)
	case w.tokens() > maxTokens:
		return nil, textTooMuch(w.tokens())
	}
	return []toolkit.Block{{Text: text}}, nil
}

// failed is the error of a file that could not be read on.
func (r *reading) failed(err error) error {
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	return r.explain(confine.Explain(r.path, err))
}

// whole reads all of a file of at most limit bytes, also when it has grown since it was opened.
func (r *reading) whole(limit int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, min(r.size, limit)+bytes.MinRead))
	n, err := io.Copy(b, io.LimitReader(r.content, limit+1))
	if err != nil {
		return nil, r.failed(err)
	}
	if n > limit || r.size > limit {
		return nil, toolkit.Refuse(textFileLarge, size(max(n, r.size)), size(limit))
	}
	return b.Bytes(), nil
}

// answer gives what was read, with the revision of the very bytes.
func (r *reading) answer(loc *confine.Location, file *confine.File, blocks []toolkit.Block, seen bool) *toolkit.Answer {
	named := r.hashed.Revision()
	if seen {
		readstate.From(r.tools.session(r.ctx)).Saw(file.Physical(), named.Token)
	}
	at := named
	if loc.Linked {
		at = r.tools.hasher.Through(loc, named)
	}
	answer := &toolkit.Answer{Revisions: revision.Set{"path": at}}
	if len(blocks) == 1 && blocks[0].IsText() {
		answer.Text = blocks[0].Text
	} else {
		answer.Blocks = blocks
	}
	return answer
}

// isBinaryExtension knows the kinds of file that are never text. What is not among them is judged by its bytes.
func isBinaryExtension(extension string) bool {
	const binary = " .png .jpg .jpeg .gif .webp .bmp .ico .tiff .tif .heic .avif .mp4 .mov .avi .mkv .webm .wmv .flv .m4v .mpeg .mpg" +
		" .mp3 .wav .ogg .flac .aac .m4a .wma .aiff .opus .zip .tar .gz .bz2 .7z .rar .xz .z .tgz .zst .iso .dmg" +
		" .exe .dll .so .dylib .o .obj .msi .deb .rpm .doc .docx .xls .xlsx .ppt .pptx .odt .ods .odp" +
		" .ttf .otf .woff .woff2 .eot .pyc .pyo .class .jar .war .ear .node .wasm .rlib .sqlite .sqlite3 .mdb .psd .swf .blend "
	return extension != "" && strings.Contains(binary, " "+extension+" ")
}
