// Port of include/rocksdb/sst_file_writer.h (ExternalSstFileInfo and the
// arguments of SstFileWriter's constructor).

package rocksdb

// SstFileWriterOptions are what a SstFileWriter takes besides Options. Get them
// from DefaultSstFileWriterOptions.
type SstFileWriterOptions struct {
	// FileOptions say how the file is written; nil makes them of the options.
	FileOptions *FileOptions
	// Comparator is the order of keys; nil stands for the options'.
	Comparator Comparator
	// ColumnFamily is where the file will be ingested; it is written into the
	// file. Nil leaves that open.
	ColumnFamily ColumnFamilyHandle
	// InvalidatePageCache tells the system with every MiB written that it need
	// not keep the file's pages. Default true.
	InvalidatePageCache bool
	// IOPriority other than IOTotal charges the rate limiter. Default IOTotal.
	IOPriority IOPriority
}

// DefaultSstFileWriterOptions gives the defaults.
func DefaultSstFileWriterOptions() SstFileWriterOptions {
	return SstFileWriterOptions{InvalidatePageCache: true, IOPriority: IOTotal}
}

// ExternalSstFileInfo describes a file made by a SstFileWriter. Keys are user
// keys, with their timestamps where the file keeps them.
type ExternalSstFileInfo struct {
	FilePath             string
	SmallestKey          []byte // of puts, merges and deletions
	LargestKey           []byte
	SmallestRangeDelKey  []byte
	LargestRangeDelKey   []byte
	FileChecksum         string
	FileChecksumFuncName string
	SequenceNumber       SequenceNumber // of all entries
	FileSize             uint64         // bytes
	NumEntries           uint64         // without range deletions
	NumRangeDelEntries   uint64
	Version              int32 // of the external file's format
	// PreparedFileInfo, in IngestExternalFileArg.FileInfos, saves opening the
	// file for its ingestion.
	PreparedFileInfo *PreparedFileInfo
}

// SstFileWriterEmbeddedBlobOptions are OpenWithEmbeddedBlobs' options.
type SstFileWriterEmbeddedBlobOptions struct {
	// MinBlobSize is the least size in bytes of values that are stored as blobs
	// in the file. Default 2048.
	MinBlobSize uint64
	// Compression and CompressionOpts have no effect yet, as upstream: blobs in
	// table files are never compressed.
	Compression     CompressionType
	CompressionOpts CompressionOptions
}

// DefaultSstFileWriterEmbeddedBlobOptions gives the defaults.
func DefaultSstFileWriterEmbeddedBlobOptions() SstFileWriterEmbeddedBlobOptions {
	return SstFileWriterEmbeddedBlobOptions{MinBlobSize: 2048, Compression: DisableCompressionOption,
		CompressionOpts: DefaultCompressionOptions()}
}
