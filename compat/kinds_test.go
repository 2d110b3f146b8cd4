package compat

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp/toolkit"
)

// smallWebP is a WebP image of one pixel.
func smallWebP(t *testing.T) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestImages(t *testing.T) {
	var jpg, gifs bytes.Buffer
	if err := jpeg.Encode(&jpg, image.NewGray(image.Rect(0, 0, 9, 9)), nil); err != nil {
		t.Fatal(err)
	}
	if err := gif.Encode(&gifs, image.NewPaletted(image.Rect(0, 0, 9, 9), color.Palette{color.Black, color.White}), nil); err != nil {
		t.Fatal(err)
	}
	whole := pngOf(t, 4, 4)
	for name, want := range map[string]toolkit.Block{
		"a.png":       {Data: whole, MediaType: "image/png"},
		"wrong.jpg":   {Data: whole, MediaType: "image/png"}, // The content tells, not the name.
		"noextension": {Data: jpg.Bytes(), MediaType: "image/jpeg"},
		"a.gif":       {Data: gifs.Bytes(), MediaType: "image/gif"},
		"a.webp":      {Data: smallWebP(t), MediaType: "image/webp"},
	} {
		t.Run("it shows "+name, func(t *testing.T) {
			s := open(t, map[string]string{name: string(want.Data)})
			r := s.works(s.call("read_file", args{"path": name}))
			if diff := cmp.Diff([]toolkit.Block{want}, r.Blocks); diff != "" || r.Text != "" {
				t.Errorf("%q %s", r.Text, diff)
			}
			if got := string(r.Revisions["path"].Token); got != s.token(name) {
				t.Errorf("the token is %s", got)
			}
		})
	}
}

func TestLargeImages(t *testing.T) {
	var jpg bytes.Buffer
	if err := jpeg.Encode(&jpg, image.NewGray(image.Rect(0, 0, 500, 4000)), nil); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, content, note, mediaType string
		w, h                           int
	}{
		{"a wide PNG", string(pngOf(t, 3000, 600)), "[Image: original 3000x600, displayed at 2000x400. Multiply coordinates by 1.50 to map to original image.]", "image/png", 2000, 400},
		{"a high JPEG", jpg.String(), "[Image: original 500x4000, displayed at 250x2000. Multiply coordinates by 2.00 to map to original image.]", "image/jpeg", 250, 2000},
		{"a line", string(pngOf(t, 2001, 1)), "[Image: original 2001x1, displayed at 2000x1. Multiply coordinates by 1.00 to map to original image.]", "image/png", 2000, 1},
	}
	for _, tt := range tests {
		t.Run("it scales "+tt.name, func(t *testing.T) {
			s := open(t, map[string]string{"f": tt.content})
			r := s.works(s.call("read_file", args{"path": "f"}))
			if len(r.Blocks) != 2 || r.Blocks[1].Text != tt.note || r.Text != tt.note || r.Blocks[0].MediaType != tt.mediaType {
				t.Fatalf("%q", r.Text)
			}
			m, format, err := image.Decode(bytes.NewReader(r.Blocks[0].Data))
			if err != nil || m.Bounds() != image.Rect(0, 0, tt.w, tt.h) || "image/"+format != tt.mediaType {
				t.Fatalf("%v %v", err, format)
			}
			if tt.w > 1000 && tt.h > 100 {
				left, right := m.At(tt.w/4, 9), m.At(3*tt.w/4, 9)
				if r, _, _, _ := left.RGBA(); r != 0xffff {
					t.Errorf("left is %v", left)
				}
				if _, _, b, _ := right.RGBA(); b != 0xffff {
					t.Errorf("right is %v", right)
				}
			}
		})
	}
}

// bomb is a PNG that says to have a size, with hardly anything in it.
func bomb(t *testing.T, w, h uint32) string {
	t.Helper()
	b := pngOf(t, 1, 1)
	header := b[16:33]
	for i := range 4 {
		header[i], header[4+i] = byte(w>>(24-8*i)), byte(h>>(24-8*i))
	}
	sum := crc(b[12:29])
	for i := range 4 {
		b[29+i] = byte(sum >> (24 - 8*i))
	}
	if _, err := png.DecodeConfig(bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func crc(b []byte) uint32 {
	c := ^uint32(0)
	for _, x := range b {
		c ^= uint32(x)
		for range 8 {
			c = c>>1 ^ 0xedb88320&-(c&1)
		}
	}
	return ^c
}

func TestRefusedImages(t *testing.T) {
	never := func(o *Options) { o.SeesImages = func() bool { return false } }
	png := string(pngOf(t, 4, 4))
	tests := []struct {
		name, file, content, want string
		set                       func(*Options)
	}{
		{"an empty image", "a.jpeg", "", "Empty image files cannot be processed.", nil},
		{"an image when the model takes none", "a.png", png, "Reading images is not supported with this model.", never},
		{"an image that would unpack to gigabytes", "a.png", bomb(t, 60000, 60000), "The image (60000x60000) is too large to be scaled down. Use other tools to make it smaller.", nil},
		{"a progressive JPEG that would unpack to much more", "a.jpg", "\xff\xd8\xff\xe0\x00\x04xx\xff\xc2\x00\x11\x08\x20\x00\x20\x00\x03\x01\x11\x00\x02\x11\x00\x03\x11\x00\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00", "The image (8192x8192) is too large to be scaled down. Use other tools to make it smaller.", nil},
		{"an image of an absurd side", "a.png", bomb(t, 0x7fffffff, 1), "The image (2147483647x1) is too large to be scaled down. Use other tools to make it smaller.", nil},
		{"an image that is cut short", "a.png", png[:20], "The image could not be decoded; it may be corrupted or cut short.", nil},
		{"a large image that is cut short", "a.png", string(pngOf(t, 3000, 3000)[:900]), "The image could not be decoded; it may be corrupted or cut short.", nil},
		{"text that is called an image", "a.png", "text", "This tool cannot read binary files. The file appears to be a binary .png file. Please use appropriate tools for binary file analysis.", nil},
		{"an image of another kind", "x.heic", "\x00\x00\x00\x18ftypheic", "This tool cannot read binary files. The file appears to be a binary .heic file. Please use appropriate tools for binary file analysis.", nil},
	}
	for _, tt := range tests {
		t.Run("it refuses "+tt.name, func(t *testing.T) {
			s := open(t, map[string]string{tt.file: tt.content}, func(o *Options) {
				if tt.set != nil {
					tt.set(o)
				}
			})
			r := s.call("read_file", args{"path": tt.file})
			s.want(r, true, tt.want)
		})
	}
}

func TestNotebooks(t *testing.T) {
	pixel := base64.StdEncoding.EncodeToString(pngOf(t, 1, 1))
	out := func(output string) string {
		return `{"cells":[{"cell_type":"code","id":"c","source":"x","outputs":[` + output + `]}]}`
	}
	tests := []struct{ name, content, want string }{
		{
			"shows cells with their outputs", `{"cells":[{"cell_type":"markdown","id":"m1","source":["# ","Title"]},{"cell_type":"code","id":"c1","source":"print(1)","outputs":[{"output_type":"stream","text":["1\n"]}]}],"metadata":{}}`,
			"<cell id=\"m1\"><cell_type>markdown</cell_type># Title</cell id=\"m1\">\n<cell id=\"c1\">print(1)</cell id=\"c1\">\n\n1\n",
		},
		{"counts cells without an id", `{"cells":[{"cell_type":"raw","source":"a"},{"cell_type":"code","source":"b"}]}`, "<cell id=\"cell-0\"><cell_type>raw</cell_type>a</cell id=\"cell-0\">\n<cell id=\"cell-1\">b</cell id=\"cell-1\">"},
		{"names another language", `{"cells":[{"cell_type":"code","id":"c","source":"x"},{"cell_type":"markdown","id":"m","source":"y"}],"metadata":{"language_info":{"name":"R"}}}`, "<cell id=\"c\"><language>R</language>x</cell id=\"c\">\n<cell id=\"m\"><cell_type>markdown</cell_type>y</cell id=\"m\">"},
		{"shows results", out(`{"output_type":"execute_result","data":{"text/plain":["4","2"],"text/html":"<b>"}}`), "<cell id=\"c\">x</cell id=\"c\">\n\n42"},
		{"shows errors without colours", out(`{"output_type":"error","ename":"E","evalue":"v","traceback":["\u001b[0;31mE\u001b[0m","at"]}`), "<cell id=\"c\">x</cell id=\"c\">\n\nE: v\nE\nat"},
		{"leaves out outputs that are too large", out(`{"output_type":"stream","text":"` + strings.Repeat("y", 10001) + `"}`), "<cell id=\"c\">x</cell id=\"c\">\n\nOutputs are too large to include. Use Bash with: cat <notebook_path> | jq '.cells[0].outputs'"},
		{"shows outputs that are just not", out(`{"output_type":"stream","text":"` + strings.Repeat("y", 10000) + `"}`), "<cell id=\"c\">x</cell id=\"c\">\n\n" + strings.Repeat("y", 10000)},
		{"passes over what it does not know", out(`{"output_type":"stream","text":7},{"output_type":"display_data","data":[]},3,null`), "<cell id=\"c\">x</cell id=\"c\">"},
		{"shows a notebook without cells as nothing", `{"cells":[]}`, ""},
		{"takes a byte order mark", "\ufeff" + `{"cells":[]}`, ""},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			s := open(t, map[string]string{"n.ipynb": tt.content})
			s.want(s.call("read_file", args{"path": "n.ipynb"}), false, tt.want)
		})
	}

	content := out(`{"output_type":"stream","text":"before"},{"output_type":"display_data","data":{"image/png":"` + pixel[:20] + `\n` + pixel[20:] + `","text/plain":"<Figure>"}},{"output_type":"stream","text":"after"}`)
	t.Run("it splits the text at an image", func(t *testing.T) {
		s := open(t, map[string]string{"n.ipynb": content})
		want := []toolkit.Block{{Text: "<cell id=\"c\">x</cell id=\"c\">\n\nbefore\n\n<Figure>"}, {Data: pngOf(t, 1, 1), MediaType: "image/png"}, {Text: "\nafter"}}
		if diff := cmp.Diff(want, s.works(s.call("read_file", args{"path": "n.ipynb"})).Blocks); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("it leaves images out when the model takes none", func(t *testing.T) {
		s := open(t, map[string]string{"n.ipynb": content}, func(o *Options) { o.SeesImages = func() bool { return false } })
		s.want(s.call("read_file", args{"path": "n.ipynb"}), false, "<cell id=\"c\">x</cell id=\"c\">\n\nbefore\n\n<Figure>\n\nafter")
	})
}

func TestRefusedNotebooks(t *testing.T) {
	const noNotebook = "Notebook file is not a valid Jupyter notebook (top-level \"cells\" must be an array of cell objects)."
	const noJSON = "Notebook file is not valid JSON (it may be truncated, corrupted, or still being written): "
	for content, want := range map[string]string{
		"{":                     noJSON + "unexpected end of JSON input",
		"":                      noJSON + "unexpected end of JSON input",
		"{}":                    noNotebook,
		"[]":                    noNotebook,
		`{"cells":{}}`:          noNotebook,
		`{"cells":null}`:        noNotebook,
		`{"cells":["x"]}`:       noNotebook,
		`{"cells":[null]}`:      noNotebook,
		`{"cells":[{"id":"a"}`:  noJSON + "unexpected end of JSON input",
		`{"cells":[]} trailing`: noJSON + "invalid character 't' after top-level value",
	} {
		s := open(t, map[string]string{"n.ipynb": content})
		s.want(s.call("read_file", args{"path": "n.ipynb"}), true, want)
		if got := s.content("n.ipynb"); got != content {
			t.Errorf("the file was changed to %q", got)
		}
	}
	var cells []map[string]string
	for range 20 {
		cells = append(cells, map[string]string{"cell_type": "code", "source": strings.Repeat("z", 6000)})
	}
	b, err := json.Marshal(map[string]any{"cells": cells})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, map[string]string{"n.ipynb": string(b)})
	if r := s.call("read_file", args{"path": "n.ipynb"}); !r.IsError || !strings.HasPrefix(r.Text, "File content (30") {
		t.Errorf("too much: %.100s", r.Text)
	}
}

func TestParsePages(t *testing.T) {
	const formats = ". Use formats like \"1-5\", \"3\", or \"10-20\". Pages are 1-indexed."
	const many = " exceeds maximum of 20 pages per request. Please use a smaller range."
	for arg, want := range map[string]any{
		"": (*pageRange)(nil), " ": (*pageRange)(nil), "3": &pageRange{3, 3}, " 2 ": &pageRange{2, 2}, "1-20": &pageRange{1, 20}, "10-11": &pageRange{10, 11},
		"abc": `Invalid pages parameter: "abc"` + formats, "0": `Invalid pages parameter: "0"` + formats, "5-3": `Invalid pages parameter: "5-3"` + formats,
		"1,3": `Invalid pages parameter: "1,3"` + formats, "-1": `Invalid pages parameter: "-1"` + formats, "99999999999": `Invalid pages parameter: "99999999999"` + formats,
		"1-21": `Page range "1-21"` + many, "3-": `Page range "3-"` + many, "1-999": `Page range "1-999"` + many,
	} {
		got, err := parsePages(arg)
		if text, ok := want.(string); ok {
			if err == nil || err.Error() != text {
				t.Errorf("%q: got %v %v, want %s", arg, got, err, text)
			}
			continue
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(pageRange{})); diff != "" || err != nil {
			t.Errorf("%q: %v %s", arg, err, diff)
		}
	}
}

// readers are the two ways to read a PDF. The tools do not tell which it was.
func readers(t *testing.T, test func(t *testing.T, without func(*Options))) {
	t.Run("poppler", func(t *testing.T) {
		if _, err := exec.LookPath("pdftotext"); err != nil {
			t.Skip("pdftotext is not installed")
		}
		test(t, func(*Options) {})
	})
	t.Run("own", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		test(t, func(*Options) {})
	})
}

func TestPDFs(t *testing.T) {
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprintf("This is page %d", i+1)
	}
	readers(t, func(t *testing.T, set func(*Options)) {
		one, twelve := pdfOf("Hello"), pdfOf(many...)
		s := open(t, map[string]string{"a b.pdf": string(one), "12.pdf": string(twelve), "noextension": string(one), "empty.pdf": "", "text.pdf": "text", "bad.pdf": "%PDF-1.4\nnothing here"}, set)
		read := func(path, pages string) *toolkit.Result {
			a := args{"path": path}
			if pages != "" {
				a["pages"] = pages
			}
			return s.call("read_file", a)
		}
		want := []toolkit.Block{
			{Text: "PDF file read: a b.pdf (" + size(int64(len(one))) + ")"},
			{Data: one, MediaType: "application/pdf", URI: "file://" + s.root + "/a%20b.pdf"},
		}
		if diff := cmp.Diff(want, s.works(read("a b.pdf", "")).Blocks); diff != "" {
			t.Error(diff)
		}
		if r := s.works(read("noextension", "")); len(r.Blocks) != 2 {
			t.Errorf("by its content: %q", r.Text)
		}
		s.want(read("12.pdf", ""), true, "This PDF has 12 pages, which is too many to read at once. Use the pages parameter to read specific page ranges (e.g., pages: \"1-5\"). Maximum 20 pages per request.")
		s.want(read("12.pdf", "2-3"), false, "PDF pages extracted: 2 page(s) from 12.pdf ("+size(int64(len(twelve)))+")\n\n--- page 2 ---\nThis is page 2\n--- page 3 ---\nThis is page 3")
		s.want(read("12.pdf", "11-30"), false, "PDF pages extracted: 2 page(s) from 12.pdf ("+size(int64(len(twelve)))+")\n\n--- page 11 ---\nThis is page 11\n--- page 12 ---\nThis is page 12")
		s.want(read("a b.pdf", "2"), true, "Requested page 2 is outside the document (PDF has 1 page). Use a range within 1-1, maximum 20 pages per request (e.g. pages: \"1-1\").")
		s.want(read("12.pdf", "13-14"), true, "Requested pages 13-14 is outside the document (PDF has 12 pages). Use a range within 1-12, maximum 20 pages per request (e.g. pages: \"1-12\").")
		for _, pages := range []string{"", "1"} {
			s.want(read("empty.pdf", pages), true, "PDF file is empty: empty.pdf")
			s.want(read("text.pdf", pages), true, "File is not a valid PDF (missing %PDF- header): text.pdf")
			s.want(read("bad.pdf", pages), true, "PDF file is corrupted or invalid.")
		}
		s.want(read("nowhere.pdf", "5-3"), true, `Invalid pages parameter: "5-3". Use formats like "1-5", "3", or "10-20". Pages are 1-indexed.`)
	})
}

func TestPDFsThatTheModelDoesNotTake(t *testing.T) {
	takes := false
	s := open(t, map[string]string{"a.pdf": string(pdfOf("Hello"))}, func(o *Options) { o.ReadsPDF = func() bool { return takes } })
	s.want(s.call("read_file", args{"path": "a.pdf"}), true, "Reading full PDFs is not supported with this model. Use a newer model (Sonnet 3.5 v2 or later), or use the pages parameter to read specific page ranges (e.g., pages: \"1-5\", maximum 20 pages per request).")
	s.works(s.call("read_file", args{"path": "a.pdf", "pages": "1"}))
	takes = true
	s.works(s.call("read_file", args{"path": "a.pdf"}))
}

func TestPDFBounds(t *testing.T) {
	s := open(t, map[string]string{"20.pdf": pdfHeader, "100.pdf": pdfHeader})
	s.grow("20.pdf", maxWholePDF+1)
	s.grow("100.pdf", maxTextPDF+1)
	s.want(s.call("read_file", args{"path": "20.pdf"}), true, "PDF file exceeds maximum allowed size of 20MB.")
	s.want(s.call("read_file", args{"path": "100.pdf", "pages": "1"}), true, "PDF file exceeds maximum allowed size for text extraction (100MB).")
}

// A program that was not there is looked for anew at each call, and one that was found until it is forgotten.
func TestProbe(t *testing.T) {
	dir, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Skip("pdftotext is not installed")
	}
	var p probe
	path := dir[:strings.LastIndex(dir, "/")]
	t.Setenv("PATH", t.TempDir())
	if got := p.find(); got != "" {
		t.Errorf("found in an empty directory: %s", got)
	}
	t.Setenv("PATH", path)
	if got := p.find(); got != path {
		t.Errorf("found %q", got)
	}
	t.Setenv("PATH", t.TempDir())
	if got := p.find(); got != path {
		t.Errorf("forgotten: %q", got)
	}
	if p.forget(); p.find() != "" {
		t.Error("not forgotten")
	}
}

func TestWithoutAReader(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := open(t, map[string]string{"a.pdf": string(pdfOf("Hello"))}, func(o *Options) { o.PDFReader = nil })
	s.works(s.call("read_file", args{"path": "a.pdf"}))
	s.want(s.call("read_file", args{"path": "a.pdf", "pages": "1"}), true, "PDF text cannot be extracted: pdftotext is not installed. Install poppler (e.g. apt-get install poppler-utils) and retry.")
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1KB", 1946: "1.9KB", 300032: "293KB", 119603: "116.8KB", 2 << 20: "2MB", 3 << 30: "3GB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
