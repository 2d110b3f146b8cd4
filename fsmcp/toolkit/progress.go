package toolkit

import "context"

type progressKey struct{}

// WithProgress returns a context in which [Progress] finds report. Whoever waits for a call sets it, when it asked to be
// told how far the call has come. It may be called from several goroutines, often, and must not block for long.
func WithProgress(ctx context.Context, report func(done, total int64, message string)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress returns the function that tells the caller how far a long call has come: how much of the work is done, in
// units of the handler's choice such as bytes, how much there is in all, or 0 where that is not known, and in a few words
// what is being done. It does nothing where nobody asked. It is never nil.
//
// A handler calls it after every piece of work that takes some milliseconds, as a megabyte hashed, and leaves it to the
// receiver how much of that is passed on.
func Progress(ctx context.Context) func(done, total int64, message string) {
	if report, ok := ctx.Value(progressKey{}).(func(done, total int64, message string)); ok {
		return report
	}
	return func(int64, int64, string) {}
}

type treelessKey struct{}

// WithoutTreeRevisions returns a context whose caller has no use for the revision of a directory, which is the one that
// can cost the reading of a whole tree (D5a). It concerns what a reading tool says of a directory, and nothing that a
// comparison needs.
func WithoutTreeRevisions(ctx context.Context) context.Context {
	return context.WithValue(ctx, treelessKey{}, true)
}

// TreeRevisions reports whether an answer should carry the revision of a directory. Where it should not, the state is
// unknown. It is true unless [WithoutTreeRevisions] says otherwise.
func TreeRevisions(ctx context.Context) bool {
	return ctx.Value(treelessKey{}) == nil
}
