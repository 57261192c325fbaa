// Port of include/rocksdb/metadata.h.

package rocksdb

// FileStorageInfo describes a file of a database. Sizes are in bytes.
type FileStorageInfo struct {
	RelativeFilename     string // within Directory
	Directory            string
	FileNumber           uint64 // 0 when it has none
	FileType             FileType
	Size                 uint64
	Temperature          Temperature
	FileChecksum         string
	FileChecksumFuncName string
}

// LiveFileStorageInfo tells how to copy a file of a consistent state.
type LiveFileStorageInfo struct {
	FileStorageInfo
	// ReplacementContents, when not empty, is what the copy has to contain.
	ReplacementContents string
	// TrimToSize says that the file may have grown past Size since.
	TrimToSize bool
}

// SstFileMetaData describes a table file.
type SstFileMetaData struct {
	FileStorageInfo
	SmallestSeqno        SequenceNumber
	LargestSeqno         SequenceNumber
	SmallestKey          []byte // user key
	LargestKey           []byte // user key
	NumReadsSampled      uint64
	BeingCompacted       bool
	NumEntries           uint64
	NumDeletions         uint64
	OldestBlobFileNumber uint64
	OldestAncesterTime   uint64 // seconds since the epoch, 0 not known
	FileCreationTime     uint64 // the same
	EpochNumber          uint64
	Smallest             []byte // encoded internal key
	Largest              []byte // encoded internal key
	Name                 string // "/" and RelativeFilename
	DBPath               string // Directory
}

// LiveFileMetaData is a table file with its place.
type LiveFileMetaData struct {
	SstFileMetaData
	ColumnFamilyName string
	Level            int
}

// BlobMetaData describes a blob file.
type BlobMetaData struct {
	BlobFileNumber   uint64
	BlobFileName     string
	BlobFilePath     string
	BlobFileSize     uint64
	TotalBlobCount   uint64
	TotalBlobBytes   uint64
	GarbageBlobCount uint64
	GarbageBlobBytes uint64
	ChecksumMethod   string
	ChecksumValue    string
}

// LevelMetaData describes a level.
type LevelMetaData struct {
	Level int
	Size  uint64 // bytes
	Files []SstFileMetaData
}

// GetColumnFamilyMetaDataOptions selects files by key range and level.
type GetColumnFamilyMetaDataOptions struct {
	Range RangeOpt
	Level int // -1 for all
}

// ColumnFamilyMetaData describes a column family.
type ColumnFamilyMetaData struct {
	Size          uint64 // bytes in table files
	FileCount     int
	Name          string
	Levels        []LevelMetaData
	BlobFileSize  uint64
	BlobFileCount int
	BlobFiles     []BlobMetaData
}

// ExportImportFilesMetaData is what an export hands to an import.
type ExportImportFilesMetaData struct {
	DBComparatorName string
	Files            []LiveFileMetaData
}
