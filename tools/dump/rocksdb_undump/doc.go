// No upstream twin: Go package documentation.

// Command rocksdb_undump is upstream's, under its flags; package tools/dump does the
// work.
package main
