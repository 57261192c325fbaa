// No upstream twin: Go package documentation.

// Command rocksdb_dump is upstream's, under its flags; package tools/dump does the
// work.
package main
