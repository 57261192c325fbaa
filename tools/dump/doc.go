// No upstream twin: Go package documentation.

// Package dump writes a database's keys and values into one file and loads such
// a file into a database; the commands rocksdb_dump and rocksdb_undump under it
// are its callers. Read db_dump_tool.go, which describes the file.
package dump
