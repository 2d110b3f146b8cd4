package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"lookfirst/fsmcp"
	"lookfirst/harness"
)

// A harness: the tools of a directory, a fence that lets no change land on what the model has not seen, a policy that asks
// a person before anything is deleted, and the commands /rescan and /reload.
func Example() {
	ctx := context.Background()
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	_ = os.WriteFile(dir+"/todo.md", []byte("- feed the yak\n"), 0o644)

	set, _ := harness.NewToolset()
	open := func(context.Context) (string, error) { // reads the configuration, of which this harness has none, and serves it
		files, err := fsmcp.New(fsmcp.Options{Root: dir})
		if err != nil {
			return "", err
		}
		kit := harness.Toolkit{Prefix: "fs", Tools: files.Tools()}
		return "The tools were opened again.", set.Replace([]harness.Toolkit{kit}, func() { files.Close() })
	}
	host, _ := harness.NewHost(harness.HostOptions{Toolset: set})
	fence, _ := harness.NewFence(host, "fs")
	tools, _ := harness.NewPolicy(fence, harness.PolicyOptions{
		Rules: []harness.Rule{{Tool: "fs_delete", Decision: harness.Ask}, {Tool: "fs_*", Decision: harness.Allow}},
		Ask: func(_ context.Context, q harness.Question) harness.Reply {
			fmt.Println("May I", q.Call.Name, string(q.Call.Arguments)+"? No.")
			return harness.Reply{Allow: false}
		},
	})
	commands, _ := harness.NewCommands(harness.Rescan(), harness.Reload(open))
	fmt.Println(commands.Run(ctx, "/reload"))                     // a line that a person typed; here it opens the directory too
	offered, _ := harness.ToolsForLLM(ctx, tools, harness.OpenAI) // what goes into the request to the model
	fmt.Println(len(offered), "tools")
	for _, r := range tools.ExecuteToolCalls(ctx, []harness.Call{ // what came back from it
		{ID: "a", Name: "fs_write", Arguments: json.RawMessage(`{"path":"todo.md","content":"- done\n"}`)},
		{ID: "b", Name: "fs_read", Arguments: json.RawMessage(`{"path":"todo.md"}`)},
		{ID: "c", Name: "fs_write", Arguments: json.RawMessage(`{"path":"todo.md","content":"- done\n"}`)},
		{ID: "d", Name: "fs_delete", Arguments: json.RawMessage(`{"path":"todo.md"}`)},
	}) {
		fmt.Printf("%s: %q\n", r.ToolCallID, r.Content)
	}
	// Output:
	// The tools were opened again. <nil>
	// 11 tools
	// May I fs_delete {"path":"todo.md"}? No.
	// a: "'todo.md' exists, and was expected to be absent; nothing was changed; read it first and use its revision"
	// b: "- feed the yak\n"
	// c: "Wrote 7 bytes to 'todo.md'"
	// d: "the person did not allow this call of 'fs_delete'; do without it, or ask what to do instead"
}
