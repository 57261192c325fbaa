// Port of include/rocksdb/table_reader_caller.h.

package rocksdb

// TableReaderCaller says who reads a table; block cache traces keep the number.
type TableReaderCaller uint8

// The callers.
const (
	CallerUserGet TableReaderCaller = iota + 1
	CallerUserMultiGet
	CallerUserIterator
	CallerUserApproximateSize
	CallerUserVerifyChecksum
	CallerSSTDumpTool
	CallerExternalSSTIngestion
	CallerRepair
	CallerPrefetch
	CallerCompaction
	CallerCompactionRefill
	CallerFlush
	CallerSSTFileReader
	CallerUncategorized
	MaxBlockCacheLookupCaller
)
