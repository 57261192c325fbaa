// Package dbiter makes the iterator that users see of an iterator over
// internal keys: of each user key's entries it shows the newest one visible at
// the iterator's sequence number, deletions and hidden entries skipped, merge
// operands applied.
//
// Main type: DBIter. It has two directions, each with its own state machine:
//
//	forward   the inner iterator stands on the entry shown, or, when the entry
//	          is a merge's result, behind all of the merge's operands
//	reverse   the inner iterator stands before all entries of the key shown;
//	          key and value are held by DBIter
//
// With ReadOptions.IterStartTS each version of a key is an entry of its own
// (db_iter_versions.go). Columns parses wide columns when it is called
// (db_iter_columns.go).
//
// Invariants: where Valid() is true Status() is nil; the value shown is either
// the inner iterator's present one, pinned by the pinning manager, or in a
// buffer of DBIter's.
package dbiter
