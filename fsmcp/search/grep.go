package search

// systemGrep is the grep of GNU, BSD or POSIX. -a keeps it from passing over binary files, and -s from complaining about
// single ones; -r, other than -R, follows no link that it meets.
type systemGrep struct{}

func (systemGrep) program() string { return programName("MCP_FS_GREP", "grep") }

func (systemGrep) args(text, dir string) []string {
	return []string{"-r", "-l", "-F", "-a", "-s", "--", text, dir}
}
