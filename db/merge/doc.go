// Package merge applies merge operators, for reads and for compactions.
//
// Main types: MergeHelper, which joins the merge operands of one key of a
// compaction's input, and FullMerge, one application of the operator.
//
// Invariants: operands are handed to the operator oldest first; what a helper
// gives out (keys newest first, each with its operand) is valid until its next
// MergeUntil. A helper belongs to one goroutine; there are no locks.
//
// Read merge_helper.go.
package merge
