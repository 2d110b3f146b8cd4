package compat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"lookfirst/fsmcp/toolkit"
)

const (
	pdfHeader = "%PDF-"
	// maxWholePDF and maxTextPDF are how many bytes a PDF may have to be sent whole, and to be read by pages.
	maxWholePDF = 20 << 20
	maxTextPDF  = 100 << 20
	// manyPages is how many pages a PDF may have to be sent whole.
	manyPages = 10
	// pdfTime is how long all the work on a PDF may take.
	pdfTime = 4 * time.Second
	// maxPDFText bounds the text of a call, in bytes (D27).
	maxPDFText = 8 << 20
)

// The reasons for which no text came out of a PDF.
var (
	errPDFLocked = errors.New("it is encrypted")
	errPDFBroken = errors.New("it cannot be read")
	errPDFSlow   = errors.New("it takes too long")
	errPDFHeavy  = errors.New("it takes too much memory")
	errNoReader  = errors.New("there is no program to read it")
)

func (r *reading) pdf(head []byte, pages *pageRange) ([]toolkit.Block, error) {
	switch {
	case len(head) == 0:
		return nil, textPDFEmpty(r.path)
	case !bytes.HasPrefix(head, []byte(pdfHeader)):
		return nil, textNoPDF(r.path)
	case pages == nil && r.size > maxWholePDF:
		return nil, toolkit.Refuse(textPDFSize)
	case r.size > maxTextPDF:
		return nil, toolkit.Refuse(textPDFSizeOf)
	}
	end, err := r.tools.begin(r.ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	b, err := r.whole(maxTextPDF)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.ctx, pdfTime)
	defer cancel()
	if pages == nil {
		return r.wholePDF(ctx, b)
	}
	return r.pagesOfPDF(ctx, b, pages)
}

func (r *reading) wholePDF(ctx context.Context, b []byte) ([]toolkit.Block, error) {
	// Without a program to count the pages the size alone decides.
	has, err := r.tools.pdfReader().count(ctx, b)
	switch {
	case err != nil && !errors.Is(err, errNoReader):
		return nil, r.explainPDF(err)
	case has > manyPages:
		return nil, textManyPages(has)
	case !isOn(r.tools.opt.ReadsPDF):
		return nil, toolkit.Refuse(textNoPDFs)
	}
	return []toolkit.Block{
		{Text: fmt.Sprintf(textPDFRead, r.path, size(int64(len(b))))},
		{Data: b, MediaType: "application/pdf", URI: fileURI(r.abs())},
	}, nil
}

func (r *reading) pagesOfPDF(ctx context.Context, b []byte, pages *pageRange) ([]toolkit.Block, error) {
	reader := r.tools.pdfReader()
	has, err := reader.count(ctx, b)
	if err != nil {
		return nil, r.explainPDF(err)
	}
	if pages.first > has {
		return nil, textOutsidePDF(pages.first, pages.last, has)
	}
	last := min(pages.last, has)
	texts, err := reader.text(ctx, b, pages.first, last)
	if err != nil {
		return nil, r.explainPDF(err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, textPDFPages, last-pages.first+1, r.path, size(int64(len(b))))
	for n := pages.first; n <= last; n++ {
		fmt.Fprintf(&out, textPDFPage, n)
		if i := n - pages.first; i < len(texts) {
			out.WriteString(strings.TrimRight(strings.ToValidUTF8(texts[i], "\ufffd"), " \n"))
		}
	}
	return []toolkit.Block{{Text: cutAtLine(out.String())}}, nil
}

// cutAtLine cuts what is longer than an answer may be.
func cutAtLine(text string) string {
	if len(text) <= maxPDFText {
		return text
	}
	text = text[:maxPDFText]
	return text[:strings.LastIndexByte(text, '\n')+1] + textPDFCut
}

func (r *reading) explainPDF(err error) error {
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case errors.Is(err, errPDFLocked):
		return toolkit.Refuse(textPDFLocked)
	case errors.Is(err, errPDFBroken):
		return toolkit.Refuse(textPDFBroken)
	case errors.Is(err, errPDFSlow):
		return toolkit.Refuse(textPDFSlow, pdfTime/time.Second)
	case errors.Is(err, errPDFHeavy):
		return toolkit.Refuse(textPDFHeavy)
	case errors.Is(err, errNoReader):
		return toolkit.Refuse(textPDFNoTool)
	}
	return err
}

// fileURI names a file by its absolute path.
func fileURI(abs string) string {
	path := filepath.ToSlash(abs)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // A drive.
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
