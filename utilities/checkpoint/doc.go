// No upstream twin: Go package documentation.

// Package checkpoint makes copies of an open database that can be opened, and
// exports column families.
//
// Main type: Checkpoint. CreateCheckpoint collects the live files in a staging
// directory, tables and blob files as hard links where the file system has them,
// and renames it when all is there; ExportColumnFamily does the same for the
// tables of one family and describes them for DBImpl.CreateColumnFamilyWithImport.
//
// Invariants: file deletions are disabled while files are collected; after an
// error no directory is left, neither the one asked for nor the staging one.
//
// There are no locks: calls may run side by side for different directories. Read
// checkpoint_impl.go.
package checkpoint
