package compat

import (
	"strconv"
	"strings"
)

// maxPages is how many pages of a PDF one call reads.
const maxPages = 20

// pageRange is some neighbouring pages, counted from 1.
type pageRange struct{ first, last int }

// parsePages reads "3" or "1-5". Blank counts as absent, and gives nil.
func parsePages(arg string) (*pageRange, error) {
	text := strings.TrimSpace(arg)
	if text == "" {
		return nil, nil
	}
	from, to, isRange := strings.Cut(text, "-")
	first, ok := pageNumber(from)
	if !ok {
		return nil, textBadPages(arg)
	}
	last := first
	if isRange {
		if strings.TrimSpace(to) == "" {
			return nil, textTooManyPages(arg) // It has no end.
		}
		if last, ok = pageNumber(to); !ok || last < first {
			return nil, textBadPages(arg)
		}
	}
	if last-first >= maxPages {
		return nil, textTooManyPages(arg)
	}
	return &pageRange{first, last}, nil
}

func pageNumber(text string) (int, bool) {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int(n), err == nil && n > 0
}
