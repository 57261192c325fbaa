// Port of include/rocksdb/external_table.h and, of
// include/rocksdb/advanced_iterator.h, IterateResult. Differs: iterators and
// readers are closed explicitly; what is optional upstream is in
// ExternalTableReaderBase and ExternalTableBuilderBase.

package rocksdb

// IterBoundCheck says what an iterator knows about its key and the upper bound.
type IterBoundCheck uint8

// The answers. BoundUnknown is always a legal one for a valid iterator.
const (
	BoundUnknown IterBoundCheck = iota
	OutOfBound
	Inbound
)

// IterateResult is what NextAndGetResult found.
type IterateResult struct {
	// Key is valid until the iterator moves.
	Key []byte
	// BoundCheckResult of an iterator that became invalid is OutOfBound when the
	// next key lies beyond the bound and BoundUnknown at the end of the source.
	BoundCheckResult IterBoundCheck
	// ValuePrepared is false when PrepareValue has to come before Value.
	ValuePrepared bool
}

// ExternalTableIterator walks an external table. Keys are user keys; keys and
// values are valid until the iterator moves. It belongs to one goroutine.
type ExternalTableIterator interface {
	Valid() bool
	SeekToFirst()
	SeekToLast()
	// Seek goes to the first key at or after target, or, in a table without a
	// total order, to one that has its prefix.
	Seek(target []byte)
	// SeekForPrev goes to the last key at or before target.
	SeekForPrev(target []byte)
	Next()
	Prev()
	Key() []byte
	Value() []byte
	Status() error
	// NextAndGetResult is Next; it fills res and returns Valid().
	NextAndGetResult(res *IterateResult) bool
	// PrepareValue loads a value that NextAndGetResult left unread; false: it
	// cannot be.
	PrepareValue() bool
	// UpperBoundCheckResult is Inbound on a key, OutOfBound when the bound ended
	// the scan, BoundUnknown at the end of the file.
	UpperBoundCheckResult() IterBoundCheck
	// Prepare announces scans, whose starts are sought in this order; they live
	// until the next Prepare. Without scans it ends what was prepared.
	Prepare(scans []ScanOptions)
	Close() error
}

// ExternalTableReader reads a file of an application's own format. It is safe
// for concurrent use until Close. Embed ExternalTableReaderBase for the optional
// methods.
type ExternalTableReader interface {
	// NewIterator gives an iterator that the caller closes; ro has to outlive
	// it, and may have an upper bound.
	NewIterator(ro *ReadOptions, prefixExtractor SliceTransform) ExternalTableIterator
	// Get sets value, or returns ErrNotFound.
	Get(ro *ReadOptions, key []byte, prefixExtractor SliceTransform, value *PinnableSlice) error
	// MultiGet is Get for each key. The three slices have the same length.
	MultiGet(ro *ReadOptions, keys [][]byte, prefixExtractor SliceTransform, values []PinnableSlice, errs []error)
	// GetPropertiesBlock gives the block that the builder was given and its
	// offset in the file; NotSupported where there is none.
	GetPropertiesBlock() (block []byte, offset uint64, err error)
	// GetTableProperties gives at least ComparatorName, NumEntries, RawKeySize
	// and RawValueSize. It counts without a properties block.
	GetTableProperties() *TableProperties
	// VerifyChecksum reads and checks the file; NotSupported where it cannot.
	VerifyChecksum(ro *ReadOptions) error
	Close() error
}

// ExternalTableReaderBase gives ExternalTableReader's optional methods.
type ExternalTableReaderBase struct{}

// GetPropertiesBlock is not supported.
func (ExternalTableReaderBase) GetPropertiesBlock() ([]byte, uint64, error) {
	return nil, 0, NotSupported("GetPropertiesBlock() not supported")
}

// VerifyChecksum is not supported.
func (ExternalTableReaderBase) VerifyChecksum(*ReadOptions) error {
	return NotSupported("VerifyChecksum() not supported")
}

// Close has nothing to give up.
func (ExternalTableReaderBase) Close() error { return nil }

// ExternalTableBuilder writes a file of an application's own format, for
// SstFileWriter. Embed ExternalTableBuilderBase for the optional methods.
type ExternalTableBuilder interface {
	// Add appends an entry; user keys come in strictly ascending order. The
	// slices stay the caller's.
	Add(key, value []byte)
	// Status is asked after each Add.
	Status() error
	// Finish completes the file, without syncing or closing it.
	Finish() error
	// Abandon, called instead of Finish, drops the contents.
	Abandon()
	// FileSize is asked after Finish, in bytes.
	FileSize() uint64
	// PutPropertiesBlock is called before Finish with a block to be stored in
	// the file as it is; NotSupported where it cannot.
	PutPropertiesBlock(block []byte) error
	// GetTableProperties gives at least ComparatorName, NumEntries, RawKeySize
	// and RawValueSize.
	GetTableProperties() TableProperties
	GetFileChecksum() string
	GetFileChecksumFuncName() string
}

// ExternalTableBuilderBase gives ExternalTableBuilder's optional methods.
type ExternalTableBuilderBase struct{}

// PutPropertiesBlock is not supported.
func (ExternalTableBuilderBase) PutPropertiesBlock([]byte) error {
	return NotSupported("PutPropertiesBlock() not supported")
}

// GetFileChecksum has none.
func (ExternalTableBuilderBase) GetFileChecksum() string { return UnknownFileChecksum }

// GetFileChecksumFuncName has none.
func (ExternalTableBuilderBase) GetFileChecksumFuncName() string { return UnknownFileChecksumFuncName }

// ExternalTableOptions say how to open an external table.
type ExternalTableOptions struct {
	PrefixExtractor SliceTransform // nil for none
	Comparator      Comparator
	// FS opens the file; what is read of it counts in the database's statistics.
	FS          FileSystem
	FileOptions FileOptions
}

// ExternalTableBuilderOptions say how to build an external table.
type ExternalTableBuilderOptions struct {
	ReadOptions      *ReadOptions
	WriteOptions     *WriteOptions
	PrefixExtractor  SliceTransform // nil for none
	Comparator       Comparator
	ColumnFamilyName string
	Reason           TableFileCreationReason
	FS               FileSystem
}

// ExternalTableFactory makes external tables: files of an application's own
// format that SstFileWriter writes, SstFileReader reads and databases ingest, at
// sequence number 0. Their entries are puts.
type ExternalTableFactory interface {
	Name() string
	// NewTableReader opens the file at path.
	NewTableReader(ro *ReadOptions, path string, o *ExternalTableOptions) (ExternalTableReader, error)
	// NewTableBuilder appends to f, which the caller syncs and closes.
	NewTableBuilder(o *ExternalTableBuilderOptions, path string, f FSWritableFile) (ExternalTableBuilder, error)
}
