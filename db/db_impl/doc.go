// Package dbimpl is the database object: opening and recovery, writing,
// reading, scheduling of flushes and compactions, deletion of obsolete files.
//
// Main type: DBImpl. Its parts, by file:
//
//	db_impl.go                   state, column families, snapshots, options, close
//	db_impl_open.go              Open: locks, MANIFEST and WAL recovery
//	db_impl_write.go             the write path: groups, memtables
//	db_impl_write_wal.go         a group's log record, syncing the logs
//	db_impl_write_preprocess.go  what is due before a group: stalls, switches
//	db_impl_write_unordered.go   two write queues, unordered writes, what waits for them
//	db_impl_atomic_flush.go      flushes of several families as one
//	db_impl_resume.go            going on after a background error
//	db_impl_read.go              Get, MultiGet, iterators
//	db_impl_compaction_flush.go  background jobs, manual flush and compaction
//	db_impl_files.go             what may be deleted, and deleting it
//	db_impl_readonly.go          a database that is only read
//	db_impl_properties.go        properties
//
// Locks, in order: mutex (all state in the group mu), walMu (the list of open
// logs). The leader of the write thread owns the active memtables and the last
// log (with two write queues, or unordered writes, the log is walMu's, and so is
// the giving out of sequence numbers); so SwitchMemtable runs as leader with mutex held. Nothing slow is done
// under mutex: files are written, synced and deleted with it released.
//
// Readers take neither: see db.ColumnFamilyData.GetReferencedSuperVersion.
package dbimpl
