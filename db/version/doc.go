// Package version holds what a database knows about its files, without any
// database: the MANIFEST's record (VersionEdit, with its byte format), the
// metadata of one table file (FileMetaData), the set of write-ahead logs
// (WalSet), the search hints between levels (FileIndexer), and the shape of
// one tree of files (StorageInfo, upstream's VersionStorageInfo) with
// everything that compaction picking asks of it.
//
// Invariants:
//   - A *FileMetaData belongs to the StorageInfos that list it and is counted
//     by Refs; its keys and numbers do not change after it was added to a
//     StorageInfo, apart from the fields that say so.
//   - Files of levels above 0 are sorted by smallest key and disjoint; those of
//     level 0 are sorted newest first (by epoch number).
//   - A StorageInfo is built by one goroutine, then finalized; after that only
//     the compaction scores and marks change, under the database's mutex.
//
// There is no lock in this package. Start reading at version_edit.go, then
// version_set_storage_info.go.
package version
