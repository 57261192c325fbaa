// Package snapshot keeps the list of snapshots of a database, oldest first.
//
// Invariant: sequence numbers in the list never decrease from oldest to
// newest. All methods need the DB mutex, except reading a Snapshot's fields.
package snapshot
