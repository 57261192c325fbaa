// No upstream twin: Go package documentation.

// Package sstfile works on single table files without a database.
//
// Main types: SstFileDumper prints a table's entries and properties, whatever
// its format; the tools sst_dump and ldb use it.
//
// Invariants: a dumper owns its file until Close. It never trusts the file: what
// it says is checked by the table's reader.
//
// There are no locks: a dumper is used by one goroutine. Read
// sst_file_dumper.go.
package sstfile
