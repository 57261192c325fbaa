// Package blob writes and reads blob files and holds what the engine knows of the
// live ones.
//
//   - BlobFileMetaData is one version's view of a blob file; versions that agree
//     share it. It does not change once made.
//   - BlobFileReader reads one file; BlobFileCache keeps the readers of a column
//     family, in the cache of open tables, whose keys are file numbers as well.
//   - BlobSource is what the rest of the engine asks for a blob: it looks into
//     the blob cache first.
//   - BlobFileBuilder moves the large values of a flush or compaction to new
//     files, by BlobLogWriter; BlobGarbageMeter finds what a compaction leaves
//     behind in old ones.
//
// The format of the files is in package blobformat. A reader's only lock is that
// of the stripe of files being opened; no other lock is taken under it. Start at
// blob_source.go.
package blob
