// Port of include/rocksdb/file_checksum.h. Differs: checksums are byte strings
// kept in Go strings; a factory says "not mine" with nil.

package rocksdb

// What stands in a file's metadata in place of a checksum or its function.
const (
	// UnknownFileChecksum is the checksum of a file written without one.
	UnknownFileChecksum = ""
	// UnknownFileChecksumFuncName says that no factory was configured when the
	// file was written.
	UnknownFileChecksumFuncName = "Unknown"
	// NoFileChecksumFuncName says that there is no metadata at all.
	NoFileChecksumFuncName = "Unavailable"
	// StandardDBFileChecksumFuncName is the built-in CRC-32C function.
	StandardDBFileChecksumFuncName = "FileChecksumCrc32c"
)

// FileChecksumGenContext says what a generator is wanted for.
type FileChecksumGenContext struct {
	FileName string
	// RequestedChecksumFuncName is empty for the factory's choice.
	RequestedChecksumFuncName string
}

// FileChecksumGenerator computes one file's checksum. Update comes any number
// of times, then Finalize once, then GetChecksum. Used by one goroutine.
type FileChecksumGenerator interface {
	// Update takes the next bytes of the file; it may not keep data.
	Update(data []byte)
	Finalize()
	// GetChecksum gives the checksum: any bytes, not empty.
	GetChecksum() string
	// Name identifies the function; it is stored beside the checksum.
	Name() string
}

// FileChecksumGenFactory makes a generator for each file written. Safe for
// concurrent use.
type FileChecksumGenFactory interface {
	Name() string
	// CreateFileChecksumGenerator gives nil if the factory does not know the
	// requested function.
	CreateFileChecksumGenerator(ctx FileChecksumGenContext) FileChecksumGenerator
}

// FileChecksumList holds the checksums of a set of files by file number, such
// as those of all live SST files. Not safe for concurrent use.
type FileChecksumList interface {
	Reset()
	Size() int
	// GetAllFileChecksums gives parallel slices, in rising order of number.
	GetAllFileChecksums() (fileNumbers []uint64, checksums, checksumFuncNames []string)
	// SearchOneFileChecksum gives ErrNotFound for an unknown file.
	SearchOneFileChecksum(fileNumber uint64) (checksum, checksumFuncName string, err error)
	// InsertOneFileChecksum adds or replaces.
	InsertOneFileChecksum(fileNumber uint64, checksum, checksumFuncName string)
	// RemoveOneFileChecksum gives ErrNotFound for an unknown file.
	RemoveOneFileChecksum(fileNumber uint64) error
}
