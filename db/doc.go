// Package db holds a database's state below the database object itself: column
// families with their memtables and versions, the MANIFEST's version set, the
// jobs that flush memtables, and the insertion of batches into memtables. The
// database object is package db/db_impl.
//
// Main types:
//
//	ColumnFamilyData, ColumnFamilySet   one family; all of them
//	SuperVersion                        what a reader sees: memtable, immutable
//	                                    memtables, version
//	MemTableList                        immutable memtables waiting for flush
//	VersionSet, Version                 the tree of files, and its log
//	FlushJob, MemTableInserter
//
// Lock order: DB mutex → MemTable's own locks; DB mutex → version set's
// manifest queue (released while writing). A function that needs the DB mutex
// says so or ends in Locked. Readers take no lock: they reference the family's
// current SuperVersion by an atomic counter that never rises from zero.
//
// Read column_family.go first, then version_set.go, memtable_list.go.
package db
