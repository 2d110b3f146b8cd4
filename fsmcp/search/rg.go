package search

// ripgrep is asked for every file that could matter: ignored and hidden ones, and binary ones, which are the scan's to
// drop. No configuration file can change what it does, and it follows no link.
type ripgrep struct{}

func (ripgrep) program() string { return programName("MCP_FS_RG", "rg") }

func (ripgrep) args(text, dir string) []string {
	return []string{
		"--files-with-matches", "--no-config", "--no-ignore", "--hidden", "--no-follow",
		"--no-messages", "--text", "--fixed-strings", "--", text, dir,
	}
}
