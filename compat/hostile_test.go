package compat

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

// damaged is a corpus of files that were damaged by a fixed seed: bytes flipped, pieces cut out, doubled and swapped,
// numbers made large, ends cut off.
func damaged(seeds map[string][]byte, each int) map[string][]byte {
	corpus := map[string][]byte{}
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, seed := range seeds {
		for i := range each {
			b := bytes.Clone(seed)
			for range 1 + rnd.IntN(4) {
				b = damage(rnd, b)
			}
			dot := strings.LastIndexByte(name, '.')
			corpus[fmt.Sprintf("%s-%d%s", name[:dot], i, name[dot:])] = b
		}
	}
	return corpus
}

func damage(rnd *rand.Rand, b []byte) []byte {
	if len(b) < 16 {
		return b
	}
	// The head stays more often than not, or all would only be refused as something else.
	at := 8 + rnd.IntN(len(b)-8)
	end := min(len(b), at+1+rnd.IntN(64))
	switch rnd.IntN(7) {
	case 0:
		b[at] ^= 1 << rnd.IntN(8)
	case 1:
		for i := at; i < end; i++ {
			b[i] = byte(rnd.Uint32())
		}
	case 2:
		b = append(b[:at:at], b[end:]...)
	case 3:
		b = append(b[:end:end], b[at:]...)
	case 4:
		b = b[:at]
	case 5:
		for i := at; i < end; i++ {
			if '0' <= b[i] && b[i] <= '9' {
				b[i] = '9'
			}
		}
	case 6:
		for i := at; i < min(len(b), at+4); i++ {
			b[i] = 0xff
		}
	}
	return b
}

// crafted are files that were made to hurt: each unpacks, nests, repeats or points back without end.
func crafted(t *testing.T, times int) map[string][]byte {
	content := func(stream string) []byte {
		return bytes.Replace(pdfOf("X"), []byte("BT /F1 12 Tf 72 720 Td (X) Tj ET"), []byte(stream), 1)
	}
	pdf := func(old, new string) []byte {
		return bytes.Replace(pdfOf("Hello", "World"), []byte(old), []byte(new), 1)
	}
	return map[string][]byte{
		"nest.pdf":      []byte("%PDF-1.4\n1 0 obj\n" + strings.Repeat("[", 500_000*times)),
		"dicts.pdf":     []byte("%PDF-1.4\ntrailer\n" + strings.Repeat("<</A ", 200_000*times) + "\nstartxref\n9\n%%EOF"),
		"cycle.pdf":     pdf("/Kids [4 0 R 6 0 R]", "/Kids [2 0 R 2 0 R]"),
		"count.pdf":     pdf("/Count 2", "/Count 999999999"),
		"negative.pdf":  pdf("/Count 2", "/Count -9"),
		"self.pdf":      pdf("/Length 38", "/Length 5 0 R"),
		"length.pdf":    pdf("/Length 38", "/Length 99999999999"),
		"startxref.pdf": pdf("startxref\n", "startxref\n99999"),
		"font.pdf":      pdf("/BaseFont /Helvetica", "/BaseFont 3 0 R /ToUnicode 3 0 R"),
		"stack.pdf":     content(strings.Repeat("q ", 300_000*times)),
		"nested.ipynb":  []byte(`{"cells":` + strings.Repeat("[", 300_000*times)),
		"objects.ipynb": []byte(`{"cells":` + strings.Repeat(`{"a":`, 300_000*times)),
		"many.ipynb":    []byte(`{"cells":[` + strings.Repeat(`{},`, 100_000*times) + `{}]}`),
		"large.png":     []byte(bomb(t, 8000, 8000)),
		"scans.jpg":     manyScans(t),
	}
}

// manyScans is a progressive JPEG of 4400 x 4400 pixels whose scans say over and over that there is nothing new.
func manyScans(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("\xff\xd8")
	b.WriteString("\xff\xdb\x00\x43\x00" + strings.Repeat("\x01", 64))
	b.WriteString("\xff\xc2\x00\x0b\x08\x11\x30\x11\x30\x01\x01\x11\x00") // progressive, one component
	b.WriteString("\xff\xc4\x00\x14\x00\x01" + strings.Repeat("\x00", 15) + "\x00")
	b.WriteString("\xff\xc4\x00\x14\x10\x01" + strings.Repeat("\x00", 15) + "\xe0") // a run of 16384 blocks and more
	for range 20_000 {
		b.WriteString("\xff\xda\x00\x08\x01\x01\x00\x01\x3f\x00" + strings.Repeat("\x00", 200))
	}
	return b.Bytes()
}

// samples are well-formed files, those of the machine among them that the variable names.
func samples(t *testing.T) map[string][]byte {
	t.Helper()
	seeds := map[string][]byte{
		"a.pdf":   pdfOf("Hello", "World"),
		"a.png":   pngOf(t, 2100, 40),
		"a.webp":  smallWebP(t),
		"a.ipynb": []byte(`{"cells":[{"cell_type":"code","id":"c","source":["x"],"outputs":[{"output_type":"stream","text":["1\n"]},{"output_type":"error","ename":"E","evalue":"v","traceback":["t"]}]}],"metadata":{"language_info":{"name":"R"}}}`),
	}
	for i, path := range strings.Fields(os.Getenv("LOOKFIRST_SAMPLES")) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		seeds[fmt.Sprintf("s%d%s", i, path[strings.LastIndexByte(path, '.'):])] = b
	}
	return seeds
}

// TestHostileFiles reads the whole corpus by both readers of PDFs. Every answer comes within five seconds, and none is a
// failure of the server: the tools of a session report those as errors of the test.
func TestHostileFiles(t *testing.T) {
	const patience = 5 * time.Second
	each, times := 8, 1
	if os.Getenv("LOOKFIRST_LONG") != "" {
		each, times = 150, 10
	}
	corpus := damaged(samples(t), each)
	for name, b := range crafted(t, times) {
		corpus[name] = b
	}
	readers(t, func(t *testing.T, set func(*Options)) {
		s := open(t, nil, set)
		longest, slow, refused := time.Duration(0), "", 0
		for name, b := range corpus {
			if strings.HasSuffix(t.Name(), "own") && !strings.HasSuffix(name, ".pdf") {
				continue // The other reader of PDFs makes no difference.
			}
			s.put(name, string(b))
			for _, a := range []args{{"path": name}, {"path": name, "pages": "1-2"}} {
				begun := time.Now()
				r := s.call("read_file", a)
				took := time.Since(begun)
				if took > longest {
					longest, slow = took, name
				}
				if took > time.Second {
					t.Logf("%s took %v: %s", name, took, r.Text)
				}
				if r.IsError {
					refused++
				}
				if !strings.HasSuffix(name, ".pdf") {
					break
				}
			}
		}
		t.Logf("%d files, %d refusals, the longest %v for %s", len(corpus), refused, longest, slow)
		if longest > patience {
			t.Errorf("%s took %v", slow, longest)
		}
		s.put("after.pdf", string(pdfOf("Hello")))
		s.works(s.call("read_file", args{"path": "after.pdf"}))
	})
}
