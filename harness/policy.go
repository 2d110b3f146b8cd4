package harness

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Decision is what becomes of a call. The zero value is Ask.
type Decision int

const (
	// Ask puts the call to a person, and is Deny where there is nobody to ask.
	Ask Decision = iota
	// Allow hands the call on.
	Allow
	// Deny answers the call with a refusal.
	Deny
)

// Rule says what becomes of the calls that it speaks of.
type Rule struct {
	// Tool is a pattern for the names of tools, as [path.Match] reads it: "fs_*". If empty, any tool.
	Tool string
	// Under is a directory, with slashes. An Allow then speaks of calls all of whose locations are this directory or below
	// it, any other decision of calls one of whose locations is. If empty, of every call.
	Under string
	// Decision is what becomes of them.
	Decision Decision
}

// Question is a call that is put to a person.
type Question struct {
	// Call has its arguments as one compact JSON object.
	Call Call
	// Unclear says that the rules could not be applied to the call, and not that they say to ask.
	Unclear bool
}

// Reply is a person's answer. The zero value denies the one call.
type Reply struct {
	Allow bool
	// Remember makes the reply that to every later call of the same tool for the same locations, all of them together; of
	// a call whose locations are not clear, to those with the same arguments.
	Remember bool
}

// PolicyOptions are the settings of a [Policy].
type PolicyOptions struct {
	// Rules are tried in order, and the first that speaks of a call decides. Where none does, somebody is asked.
	Rules []Rule
	// Base is the absolute directory, with slashes, in which relative paths start, those of rules too. If empty, whether a
	// relative path is below an absolute one, or the other way about, is not clear.
	Base string
	// Resolve gives the physical path of a location, for directories in which links lead elsewhere; then Under must name
	// physical directories. What it gives an error for is not clear. If nil, a path is judged by its text.
	Resolve func(path string) (string, error)
	// Ask puts a question to a person. It is called for one call at a time, before any call of a batch is made. If nil,
	// there is nobody to ask, and what would be asked is denied.
	Ask func(ctx context.Context, q Question) Reply
}

// Policy is a layer that hands on only calls that its rules, or a person, allow (D21). It judges a call by its tool's name
// and by the locations in the arguments path, from and to.
//
// Whether a location is under a directory is yes, no or unclear: a path with "..", with another spelling that some system
// takes for the same, or above the directory of a rule, is unclear, and so is a call without a location. Where a rule that
// is unclear could make a difference, somebody is asked.
//
// Invariant: a call that is not surely allowed is not handed on. A grant is for a whole call, with all of its locations, or
// for nothing. Not promised: that a path leads where its text says, unless Resolve is set, and even then a link may be
// retargeted between judging and acting; to keep calls inside a directory is for its toolkit. Other arguments, as a
// command, are not looked at. A Policy may be used from several goroutines, and remembers a line for each reply.
type Policy struct {
	provider Provider
	opt      PolicyOptions

	asking  chan struct{} // holds an item while a question is being settled, and guards replies
	replies map[string]bool
}

// NewPolicy makes a Policy. It fails when a rule cannot be read.
func NewPolicy(p Provider, o PolicyOptions) (*Policy, error) {
	o.Rules = slices.Clone(o.Rules)
	if o.Base != "" && !path.IsAbs(o.Base) {
		return nil, fmt.Errorf("base '%s' is not absolute", o.Base)
	}
	for i := range o.Rules {
		r := &o.Rules[i]
		if _, err := path.Match(r.Tool, ""); err != nil {
			return nil, fmt.Errorf("rule %d: tool '%s': %w", i+1, r.Tool, err)
		}
		if r.Under != "" && !isClear(r.Under) {
			return nil, fmt.Errorf("rule %d: under '%s': name the directory without '..' and the characters '\\', ':' and '~'", i+1, r.Under)
		}
		if r.Decision < Ask || r.Decision > Deny {
			return nil, fmt.Errorf("rule %d: there is no decision %d", i+1, r.Decision)
		}
	}
	return &Policy{provider: p, opt: o, asking: make(chan struct{}, 1), replies: map[string]bool{}}, nil
}

// Tools implements [Provider].
func (p *Policy) Tools(ctx context.Context) ([]Tool, error) { return p.provider.Tools(ctx) }

// ExecuteToolCalls implements [Provider]. All calls are judged first, and those that are allowed are then handed on
// together.
func (p *Policy) ExecuteToolCalls(ctx context.Context, calls []Call) []Result {
	results := make([]Result, len(calls))
	var allowed []Call
	var at []int // in calls, of those that are allowed
	for i, c := range calls {
		arguments, err := object(c.Arguments)
		if err != nil {
			results[i] = unreadable(c, err).answering(c)
			continue
		}
		c.Arguments = arguments
		if refusal := p.judge(ctx, c); refusal != "" {
			results[i] = refused("%s", refusal).answering(c)
			continue
		}
		allowed, at = append(allowed, c), append(at, i)
	}
	for i, r := range execute(ctx, p.provider, allowed) {
		results[at[i]] = r
	}
	return results
}

// judge returns why the call is not allowed, or nothing.
func (p *Policy) judge(ctx context.Context, c Call) string {
	places := p.places(c.Arguments)
	decision, unclear := p.decide(c.Name, places)
	switch {
	case decision == Allow:
		return ""
	case decision == Deny:
		return fmt.Sprintf("the rules of this host do not allow this call of %s; do without it", quoted(c.Name))
	case p.opt.Ask == nil:
		return fmt.Sprintf("this call of %s needs a person's permission, and there is nobody to ask; do without it", quoted(c.Name))
	}
	about := c.Name + "\x00" + string(c.Arguments)
	if isSure(places) {
		about = c.Name + "\x00\x00" + strings.Join(places, "\x00")
	}
	granted, err := p.ask(ctx, about, Question{c, unclear})
	switch {
	case err != nil:
		return fmt.Sprintf("this call of %s was cancelled before somebody had allowed it", quoted(c.Name))
	case !granted:
		return fmt.Sprintf("the person did not allow this call of %s; do without it, or ask what to do instead", quoted(c.Name))
	}
	return ""
}

// decide applies the rules. It goes on past rules of which it is unclear whether they speak of the call, and is sure all
// the same when these and the first clear one say the same.
func (p *Policy) decide(tool string, places []string) (decision Decision, unclear bool) {
	possible := map[Decision]bool{}
	for _, r := range append(slices.Clip(p.opt.Rules), Rule{}) { // The last one asks about everything.
		if ok, _ := path.Match(r.Tool, tool); r.Tool != "" && !ok {
			continue
		}
		speaks := p.speaks(r, places)
		if speaks != no {
			possible[r.Decision], decision = true, r.Decision
		}
		if speaks == yes {
			break
		}
	}
	if len(possible) > 1 {
		return Ask, true
	}
	return decision, false
}

// verdict says whether something is so.
type verdict int

const (
	no verdict = iota
	yes
	perhaps
)

// speaks says whether the rule speaks of a call for the places.
func (p *Policy) speaks(r Rule, places []string) verdict {
	if r.Under == "" {
		return yes
	}
	if len(places) == 0 {
		return perhaps
	}
	dir := p.absolute(r.Under)
	var found [3]int
	for _, at := range places {
		found[under(dir, locationOf(at))]++
	}
	switch {
	case found[yes] == len(places):
		return yes
	case r.Decision == Allow && found[no] > 0:
		return no
	case r.Decision != Allow && found[yes] > 0:
		return yes
	case found[perhaps] > 0:
		return perhaps
	}
	return no
}

// ask returns what a person says of a call, or has said of others like it. The error is that of a context that is done.
func (p *Policy) ask(ctx context.Context, about string, q Question) (granted bool, err error) {
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if granted, ok := p.replies[about]; ok {
		return granted, nil
	}
	reply := p.put(ctx, q)
	if ctx.Err() == nil && reply.Remember {
		p.replies[about] = reply.Allow
	}
	return reply.Allow, ctx.Err()
}

// put asks the person. A question that ends in a panic has not been answered.
func (p *Policy) put(ctx context.Context, q Question) (reply Reply) {
	defer func() { reportPanic("question", recover()) }()
	return p.opt.Ask(ctx, q)
}
