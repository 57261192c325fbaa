// Package cuckoo is the cuckoo table format: one hash table of keys and values of
// fixed lengths, in a file that has to be mapped. A point lookup looks at few
// buckets; iterators sort the keys first.
//
// Main types: CuckooTableBuilder, where the format is described, CuckooTableReader
// and CuckooTableFactory.
//
// Invariants:
//   - A user key is in a table once; there are no merges, no range tombstones and
//     no snapshots.
//   - A key is in one of the buckets of its hashes, and those before it, in the
//     order of the hashes, are full.
//   - Empty buckets hold a key that the table does not have.
//
// There are no locks but the one under which a reader's first iterator sorts the
// buckets; all else does not change after opening.
//
// Read cuckoo_table_builder.go first.
package cuckoo
