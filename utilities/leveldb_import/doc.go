// No upstream twin: package documentation.

// Package leveldbimport makes a RocksDB database of a LevelDB directory, which
// LevelDB or goleveldb wrote. Nothing in the source is changed.
//
// A Source is what CURRENT names: the tables of the MANIFEST and the logs that
// LevelDB would replay. Iterate merges them and gives each key's newest value.
// Import writes that to a database beside the target's name and renames it when
// it is complete, so that there is either the whole database or none.
//
// LevelDB's formats are those RocksDB began with: internal keys, log records,
// MANIFEST records and blocks are read by the engine's own readers, tables by
// package table/block_based with TableReaderOptions.OldFormats. What LevelDB
// passes over by default is passed over here too (a record cut off at the end
// of a log, which Stats tells of); any other damage is an error that names the
// file, and the offset where it is known.
//
// A Source is for one goroutine. Read source.go first, then iterate.go.
package leveldbimport
