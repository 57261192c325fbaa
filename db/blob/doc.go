// Package blob holds what the engine knows of blob files: the metadata of the
// live ones (BlobFileMetaData), which versions share.
//
// A BlobFileMetaData does not change once made. Start at blob_file_meta.go.
package blob
