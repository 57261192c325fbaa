// No upstream twin: Go package documentation.

// Package wbwi makes immutable memtables of indexed write batches, so that a large
// batch comes into the database without being inserted entry by entry.
//
// Main types: Source, one family's part of a batch as package memtable reads it;
// SeqnoRange, the sequence numbers of the batch. NewMemTable puts them together.
//
// Invariants: the batch was made with Options.OverwriteKey and is not changed any
// more. An entry's sequence number is the range's lower bound plus the number of
// updates of its key before it, so that entries of one key have different ones;
// an overwritten single deletion, which a flush has to keep, has the lower bound.
//
// There are no locks: a Source is constant. Read wbwi_memtable.go.
package wbwi
