// Package blobformat holds the formats of blobs: the index that stands for a
// value in a table, the records of a blob file, and the MANIFEST's records of
// blob files.
//
// Main types: BlobIndex, BlobLogHeader, BlobLogFooter, BlobLogRecord,
// BlobFileAddition, BlobFileGarbage, and the interface BlobFetcher, which reads
// the value of an index.
//
// Invariant: all of these are on disk and frozen. There are no locks.
//
// Read blob_index.go first.
package blobformat
