// Package tablecache keeps table files open. A TableCache belongs to one
// column family; the cache of open readers under it is shared by the whole
// database and counts readers, not bytes.
//
// A table that is opened while the cache has no limit (max_open_files -1) is
// pinned to its FileMetaData: from then on a read takes one atomic load and no
// lookup. Otherwise each use looks the reader up and holds a handle.
//
// Locks: one of a number of loader mutexes, by file number, is held while a
// table is opened; nothing else is taken under it but the cache's own locks.
// Read table_cache.go.
package tablecache
