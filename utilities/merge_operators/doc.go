// Package mergeoperators has the merge operators that come with the engine:
// appending of strings, addition, maximum, xor, sorted lists, put.
//
// Operators are made by their constructors, by New from a name or an option
// string, or by a registry that Register filled. NewAssociative makes a full
// merge operator of the simple form, rocksdb.AssociativeMergeOperator.
//
// Operators have no mutable state, so that many goroutines may use one; the
// options of one (a delimiter) are set before it is used. Results are appended
// to the buffers of the caller; an operator allocates nothing once those have
// grown.
//
// Read merge_operators.go first.
package mergeoperators
