// Package blobdb has the dumping of blob files. The stacked BlobDB itself is not
// ported; values in blob files are an option of every column family
// (enable_blob_files).
package blobdb
