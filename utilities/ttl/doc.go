// No upstream twin: Go package documentation.

// Package ttl opens databases whose values carry the time they were written, and
// whose compactions drop values that have become too old.
//
// Main types: DBWithTTL, the database; Iterator; and what makes it work,
// CompactionFilter, CompactionFilterFactory and MergeOperator, which OPTIONS
// files name.
//
// Invariants: each value ends in four bytes, the Unix time in seconds; users
// never see them. Nothing is dropped but by compactions, so that a value may be
// read after its time. A database must always be opened this way.
//
// There are no locks but the one of a family's ttl, which is an atomic. Read
// db_ttl_impl.go first.
package ttl
