package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"lookfirst/harness"
)

// completionCommand prints a script that lets a shell complete our command line. Its name is no ROOT any more, and neither
// is help or console: such a directory is served with --root.
func completionCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "print a script that completes this command line in a shell",
		Long: `Print a script that completes the command line of lookfirst in bash, zsh or fish. To have it in every session:

  bash   lookfirst completion bash > ~/.local/share/bash-completion/completions/lookfirst
  zsh    lookfirst completion zsh > a file _lookfirst in a directory of $fpath
  fish   lookfirst completion fish > ~/.config/fish/completions/lookfirst.fish

A directory called completion is served with --root=completion.`,
		ValidArgs:             []string{"bash", "zsh", "fish"},
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			const described = true
			if len(args) == 1 {
				switch args[0] {
				case "bash":
					return cmd.Root().GenBashCompletionV2(stdout, described)
				case "zsh":
					return cmd.Root().GenZshCompletion(stdout)
				case "fish":
					return cmd.Root().GenFishCompletion(stdout, described)
				}
			}
			return errors.New("completion is for one shell: bash, zsh or fish; a directory of that name is served with --root=completion")
		},
	}
}

// completeRoot offers directories, of which one is served.
func completeRoot(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeFlags offers what can stand behind a flag.
func completeFlags(cmd *cobra.Command) {
	placements := []string{string(harness.PlaceAuto), string(harness.PlaceStructured), string(harness.PlaceMeta)}
	var toolkits []string
	for _, k := range kinds() {
		toolkits = append(toolkits, k.name)
	}
	nothing := cobra.NoFileCompletions
	for name, complete := range map[string]cobra.CompletionFunc{
		"root":           completeRoot,
		"config":         cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveFilterFileExt),
		"tool":           cobra.FixedCompletions(toolkits, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace),
		"describe":       cobra.FixedCompletions(toolkits, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace),
		"vocabulary":     cobra.FixedCompletions([]string{vocabularyBoth, vocabularyFileSystem, vocabularyFileTools}, cobra.ShellCompDirectiveNoFileComp),
		"revisions":      cobra.FixedCompletions(placements, cobra.ShellCompDirectiveNoFileComp),
		"name":           nothing,
		"server-version": nothing,
		"instructions":   nothing,
		"http":           nothing,
		"host":           cobra.FixedCompletions([]string{defaultHost, "::1", "localhost"}, cobra.ShellCompDirectiveNoFileComp),
		"http-path":      nothing,
		"allow-origin":   nothing,
		"script": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
	} {
		if cmd.Flags().Lookup(name) == nil {
			continue // The console has not all of them.
		}
		if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
			panic(err) // It has been registered before.
		}
	}
}
