package console

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lookfirst/harness"
)

// make makes calls, those that the person allows, and shows the results.
func (c *console) make(ctx context.Context, calls []harness.Call) {
	results := make([]harness.Result, len(calls))
	var allowed []harness.Call
	var at []int // in calls, of those that are allowed
	for i, call := range calls {
		if c.allows(ctx, call) {
			allowed, at = append(allowed, call), append(at, i)
			continue
		}
		results[i] = harness.Result{Role: "tool", ToolCallID: call.ID, Content: nothingChanged, IsError: true}
	}
	for i, r := range c.execute(ctx, allowed) {
		results[at[i]] = r
	}
	interrupted := c.interrupted && len(allowed) > 0
	if interrupted {
		c.talk.note("cancelled")
	}
	for i := range results {
		if interrupted && !c.JSON && results[i].IsError && strings.Contains(results[i].Content, "was cancelled before") {
			continue // It says no more than that.
		}
		c.answer(answer{result: &results[i]})
	}
}

// execute makes calls, and sees to it that each has a result.
func (c *console) execute(ctx context.Context, calls []harness.Call) []harness.Result {
	if len(calls) == 0 {
		return nil
	}
	results, err := run(ctx, c, func(ctx context.Context) ([]harness.Result, error) {
		return c.Provider.ExecuteToolCalls(ctx, slices.Clone(calls)), nil
	})
	if err == nil && len(results) == len(calls) {
		return results
	}
	if err == nil {
		err = errFailed
	}
	results = make([]harness.Result, len(calls))
	for i, call := range calls {
		results[i] = harness.Result{Role: "tool", ToolCallID: call.ID, Content: fmt.Sprintf("the call of '%s' has no answer: %v", call.Name, err), IsError: true}
	}
	return results
}
