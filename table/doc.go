// Package table is what all table formats share: the interfaces of readers and
// builders, point lookups (GetContext, MultiGetContext), the merge of sorted
// iterators with range tombstones, the meta blocks, and block reads.
//
// Main types: TableReader, TableBuilder and Factory, which the formats
// implement; GetContext, one point lookup's state; MergingIterator and
// CompactionMergingIterator; PropertyBlockBuilder and MetaIndexBuilder;
// BlockFetcher.
//
// Invariants:
//   - Tables are immutable; readers are safe for concurrent use, builders,
//     iterators and contexts belong to one goroutine.
//   - A value handed to a caller without a copy is kept by a counted reference
//     (ValuePinner gives it, PinnableSlice releases it).
//   - MergingIterator's invariants are listed at its type.
//
// There are no locks here.
//
// Read table_reader.go and get_context.go first, then merging_iterator.go.
package table
