// No upstream twin: Go package documentation.

// Package writebatchwithindex has the write batch that can be read before it is
// written.
//
// Main types: WriteBatchWithIndex is a write batch with a skip list over its
// entries, in order of column family and key, the newest entry of a key first.
// Iterator walks one family's entries. BaseDeltaIterator shows a database
// iterator as it would be once the batch is written; the Get…FromBatchAndDB calls
// are the same for lookups.
//
// Invariants: an index entry names a record by its offset in the batch, never by
// an address, so the batch may grow while it is iterated. With
// Options.OverwriteKey a key has one entry, and one more for each merge; the
// batch itself keeps every record. The skip list lies in the Go heap
// (heapArena), so that a batch needs no closing.
//
// There are no locks: a batch and its iterators belong to one goroutine at a
// time; batches that nobody changes any more may be read by several. The
// database is an interface (DB), since package db_impl is above this one. Read
// write_batch_with_index.go first, then base_delta_iterator.go.
package writebatchwithindex
