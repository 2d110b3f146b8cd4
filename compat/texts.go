package compat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lookfirst/fsmcp/toolkit"
)

// The texts of the tools, in the order of their contract. They are an interface: models and clients know them, so not a
// byte may change. Those marked own have no counterpart there. A path is shown as the caller wrote it, or as abs: the
// absolute path that its text says.

// For all five.

func textOutside(abs string, allowed []string) error {
	return toolkit.Refuse("Error: Path escapes root: %s (allowed: %s)", abs, strings.Join(allowed, ", "))
}

// argumentFaults words what is wrong with the arguments of a call, a line each: what is missing first, then what nobody
// knows, then what is not as it should be.
func argumentFaults(tool string, faults []toolkit.Fault) string {
	var missing, unexpected, wrong []string
	for _, f := range faults {
		switch f.Kind {
		case toolkit.Missing:
			missing = append(missing, fmt.Sprintf("The required parameter `%s` is missing", f.Name))
		case toolkit.Unexpected:
			unexpected = append(unexpected, fmt.Sprintf("An unexpected parameter `%s` was provided", f.Name))
		case toolkit.Mistyped:
			wrong = append(wrong, fmt.Sprintf("The parameter `%s` type is expected as `%s` but provided as `%s`", f.Name, f.Want, f.Came))
		default:
			wrong = append(wrong, f.Sentence) // own
		}
	}
	return argumentFault(tool, slices.Concat(missing, unexpected, wrong)...)
}

func argumentFault(tool string, lines ...string) string {
	issue := "issue"
	if len(lines) > 1 {
		issue = "issues"
	}
	return fmt.Sprintf("InputValidationError: %s failed due to the following %s:\n%s", tool, issue, strings.Join(lines, "\n"))
}

// own
func textEmptyPath(tool string) error {
	return toolkit.Refuse("%s", argumentFault(tool, "The parameter `path` is empty; send `.` for the working directory"))
}

// size is a number of bytes for people.
func size(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	value, units := float64(n)/1024, []string{"KB", "MB", "GB"}
	for value >= 1024 && len(units) > 1 {
		value, units = value/1024, units[1:]
	}
	return strings.TrimSuffix(strconv.FormatFloat(value, 'f', 1, 64), ".0") + units[0]
}

// list_files.

func textNotDirectory(abs string) error { return toolkit.Refuse("Error: not a directory: %s", abs) }

// read_file.

const (
	textEmpty     = "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"
	textPastEnd   = "<system-reminder>Warning: the file exists but is shorter than the provided offset (%d). The file has %d lines.</system-reminder>"
	textEmptyImg  = "Empty image files cannot be processed."
	textNoImages  = "Reading images is not supported with this model." // own
	textScaled    = "[Image: original %dx%d, displayed at %dx%d. Multiply coordinates by %.2f to map to original image.]"
	textPDFRead   = "PDF file read: %s (%s)"
	textPDFPages  = "PDF pages extracted: %d page(s) from %s (%s)\n"
	textPDFPage   = "\n--- page %d ---\n" // own
	textNoPDFs    = "Reading full PDFs is not supported with this model. Use a newer model (Sonnet 3.5 v2 or later), or use the pages parameter to read specific page ranges (e.g., pages: \"1-5\", maximum 20 pages per request)."
	textPDFSize   = "PDF file exceeds maximum allowed size of 20MB."
	textPDFSizeOf = "PDF file exceeds maximum allowed size for text extraction (100MB)."
	textPDFLocked = "PDF is password-protected. Please provide an unprotected version."
	textPDFBroken = "PDF file is corrupted or invalid."
	textPDFSlow   = "PDF could not be read within %d seconds. Ask for fewer pages, or use other tools."                                         // own
	textPDFHeavy  = "PDF needs more memory than is allowed to be read."                                                                         // own
	textPDFNoTool = "PDF text cannot be extracted: pdftotext is not installed. Install poppler (e.g. apt-get install poppler-utils) and retry." // own
	textPDFCut    = "\n[The text is longer than 8MB and was cut here. Ask for fewer pages.]"                                                    // own
	textImgBroken = "The image could not be decoded; it may be corrupted or cut short."                                                         // own
	textImgLarge  = "The image (%dx%d) is too large to be scaled down. Use other tools to make it smaller."                                     // own
	textFileLarge = "The file (%s) exceeds the maximum size of %s."                                                                             // own
	textListCut   = "\n[The list is longer than 8MB and was cut here.]"                                                                         // own

	textNotebookCells   = "Notebook file is not a valid Jupyter notebook (top-level \"cells\" must be an array of cell objects)."
	textNotebookMany    = "Notebook has %d cells, which is too many to read at once (maximum %d)." // own
	textNotebookOutputs = "Outputs are too large to include. Use Bash with: cat <notebook_path> | jq '.cells[%d].outputs'"
)

func textTooMuch(tokens int64) error {
	return toolkit.Refuse("File content (%d tokens) exceeds maximum allowed tokens (%d). Use offset and limit parameters to read specific portions of the file, or search for specific content instead of reading the whole file.", tokens, maxTokens)
}

func textMissing(cwd, similar string) error {
	if similar != "" {
		similar = " Did you mean " + similar + "?"
	}
	return toolkit.Refuse("File does not exist. Note: your current working directory is %s.%s", cwd, similar)
}

func textIsDirectory(doing, abs string) error {
	return toolkit.Refuse("EISDIR: illegal operation on a directory, %s '%s'", doing, abs)
}

func textDenied(abs string) error { return toolkit.Refuse("EACCES: permission denied, open '%s'", abs) }

// own, in the form of its neighbours
func textThroughFile(abs string) error {
	return toolkit.Refuse("ENOTDIR: not a directory, open '%s'", abs)
}

func textDevice(doing, path string) error {
	return toolkit.Refuse("Cannot %s '%s': this device file would block or produce infinite output.", doing, path)
}

func textBinary(extension string) error {
	if extension != "" {
		extension += " "
	}
	return toolkit.Refuse("This tool cannot read binary files. The file appears to be a binary %sfile. Please use appropriate tools for binary file analysis.", extension)
}

func textManyPages(pages int) error {
	return toolkit.Refuse("This PDF has %d pages, which is too many to read at once. Use the pages parameter to read specific page ranges (e.g., pages: \"1-5\"). Maximum %d pages per request.", pages, maxPages)
}

func textBadPages(pages string) error {
	return toolkit.Refuse("Invalid pages parameter: \"%s\". Use formats like \"1-5\", \"3\", or \"10-20\". Pages are 1-indexed.", pages)
}

func textTooManyPages(pages string) error {
	return toolkit.Refuse("Page range \"%s\" exceeds maximum of %d pages per request. Please use a smaller range.", pages, maxPages)
}

func textOutsidePDF(first, last, has int) error {
	asked, pages := fmt.Sprintf("page %d", first), "pages"
	if last > first {
		asked = fmt.Sprintf("pages %d-%d", first, last)
	}
	if has == 1 {
		pages = "page"
	}
	return toolkit.Refuse("Requested %s is outside the document (PDF has %d %s). Use a range within 1-%d, maximum %d pages per request (e.g. pages: \"1-%d\").",
		asked, has, pages, has, maxPages, min(has, maxPages))
}

func textPDFEmpty(path string) error { return toolkit.Refuse("PDF file is empty: %s", path) }

func textNoPDF(path string) error {
	return toolkit.Refuse("File is not a valid PDF (missing %%PDF- header): %s", path)
}

func textNotebookJSON(detail string) error {
	return toolkit.Refuse("Notebook file is not valid JSON (it may be truncated, corrupted, or still being written): %s", detail)
}

// write_file. What a session has not seen, or not as it is, is refused in the words of readstate.

const current = " (file state is current in your context — no need to Read it back)"

func textCreated(path string) string {
	return "File created successfully at: " + path + current
}

func textUpdated(path string) string {
	return "The file " + path + " has been updated successfully." + current
}

// edit_file.

const (
	textSame     = "No changes to make: old_string and new_string are exactly the same."
	textExists   = "Cannot create new file - file already exists."
	textNotebook = "File is a Jupyter Notebook. Use the NotebookEdit to edit this file."
)

func textUpdatedAll(path string) string {
	return "The file " + path + " has been updated. All occurrences were successfully replaced." + current
}

func textNotFound(old string) error {
	return toolkit.Refuse("String to replace not found in file.\nString: %s", echoed(old))
}

func textSeveral(n int, old string) error {
	return toolkit.Refuse("Found %d matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: %s", n, echoed(old))
}

// maxEcho is how much of what the caller sent is sent back, in bytes: far more than anybody looks for, and far less than
// fits into a message.
const maxEcho = 64 << 10

func echoed(old string) string {
	if len(old) <= maxEcho {
		return old
	}
	return strings.ToValidUTF8(old[:maxEcho], "") + "…"
}

// multi_edit.

const (
	textNoEdits   = "At least one edit is required"
	textEditedOut = "String not found in file. Failed to apply edit."
)

func textApplied(path string, edits []edit) string {
	var b strings.Builder
	noun := "edits"
	if len(edits) == 1 {
		noun = "edit"
	}
	fmt.Fprintf(&b, "Applied %d %s to %s:", len(edits), noun, path)
	for i, e := range edits {
		fmt.Fprintf(&b, "\n%d. Replaced \"%s\" with \"%s\"", i+1, shortened(e.old), shortened(e.new))
	}
	return b.String()
}

// shortened cuts a text to 50 characters.
func shortened(s string) string {
	n := 0
	for i := range s {
		if n == 50 {
			return s[:i] + "..."
		}
		n++
	}
	return s
}
