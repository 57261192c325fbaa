// Port of include/rocksdb/table_properties.h. Differs: the text forms and the
// arithmetic are in table_properties_text.go.

package rocksdb

import "math"

// UserCollectedProperties are the properties a collector adds to a file; keys
// and values are byte strings.
type UserCollectedProperties = map[string]string

// TablePropertiesCollection is properties by file path.
type TablePropertiesCollection = map[string]*TableProperties

// Names of the properties in the properties block.
const (
	TablePropertyDBID                             = "rocksdb.creating.db.identity"
	TablePropertyDBSessionID                      = "rocksdb.creating.session.identity"
	TablePropertyDBHostID                         = "rocksdb.creating.host.identity"
	TablePropertyOriginalFileNumber               = "rocksdb.original.file.number"
	TablePropertyDataSize                         = "rocksdb.data.size"
	TablePropertyIndexSize                        = "rocksdb.index.size"
	TablePropertyIndexPartitions                  = "rocksdb.index.partitions"
	TablePropertyTopLevelIndexSize                = "rocksdb.top-level.index.size"
	TablePropertyIndexKeyIsUserKey                = "rocksdb.index.key.is.user.key"
	TablePropertyIndexValueIsDeltaEncoded         = "rocksdb.index.value.is.delta.encoded"
	TablePropertyUDIIsPrimaryIndex                = "rocksdb.udi.is.primary.index"
	TablePropertyFilterSize                       = "rocksdb.filter.size"
	TablePropertyRawKeySize                       = "rocksdb.raw.key.size"
	TablePropertyRawValueSize                     = "rocksdb.raw.value.size"
	TablePropertyNumDataBlocks                    = "rocksdb.num.data.blocks"
	TablePropertyNumDataBlocksCompressionRejected = "rocksdb.num.data.blocks.compression.rejected"
	TablePropertyNumDataBlocksCompressionBypassed = "rocksdb.num.data.blocks.compression.bypassed"
	TablePropertyNumUniformBlocks                 = "rocksdb.num.uniform.blocks"
	TablePropertyNumEntries                       = "rocksdb.num.entries"
	TablePropertyNumFilterEntries                 = "rocksdb.num.filter_entries"
	TablePropertyDeletedKeys                      = "rocksdb.deleted.keys"
	TablePropertyMergeOperands                    = "rocksdb.merge.operands"
	TablePropertyNumRangeDeletions                = "rocksdb.num.range-deletions"
	TablePropertyFilterPolicy                     = "rocksdb.filter.policy"
	TablePropertyFormatVersion                    = "rocksdb.format.version"
	TablePropertyFixedKeyLen                      = "rocksdb.fixed.key.length"
	TablePropertyColumnFamilyID                   = "rocksdb.column.family.id"
	TablePropertyColumnFamilyName                 = "rocksdb.column.family.name"
	TablePropertyComparator                       = "rocksdb.comparator"
	TablePropertyMergeOperator                    = "rocksdb.merge.operator"
	TablePropertyPrefixExtractorName              = "rocksdb.prefix.extractor.name"
	TablePropertyPropertyCollectors               = "rocksdb.property.collectors"
	TablePropertyCompression                      = "rocksdb.compression"
	TablePropertyCompressionOptions               = "rocksdb.compression_options"
	TablePropertyCreationTime                     = "rocksdb.creation.time"
	TablePropertyOldestKeyTime                    = "rocksdb.oldest.key.time"
	TablePropertyNewestKeyTime                    = "rocksdb.newest.key.time"
	TablePropertyFileCreationTime                 = "rocksdb.file.creation.time"
	TablePropertySlowCompressionEstimatedDataSize = "rocksdb.sample_for_compression.slow.data.size"
	TablePropertyFastCompressionEstimatedDataSize = "rocksdb.sample_for_compression.fast.data.size"
	TablePropertySequenceNumberTimeMapping        = "rocksdb.seqno.time.map"
	TablePropertyTailStartOffset                  = "rocksdb.tail.start.offset"
	TablePropertyUserDefinedTimestampsPersisted   = "rocksdb.user.defined.timestamps.persisted"
	TablePropertyKeyLargestSeqno                  = "rocksdb.key.largest.seqno"
	TablePropertyKeySmallestSeqno                 = "rocksdb.key.smallest.seqno"
	TablePropertyDataBlockRestartInterval         = "rocksdb.data.block.restart.interval"
	TablePropertyIndexBlockRestartInterval        = "rocksdb.index.block.restart.interval"
	TablePropertySeparateKeyValueInDataBlock      = "rocksdb.separate.key.value.in.data.block"
)

// Places of TablePropertiesCollectorFactoryContext fields that are not known.
const (
	UnknownColumnFamily    uint32 = math.MaxInt32
	UnknownLevelAtCreation        = -1
	UnknownNumLevels              = -1
)

// TablePropertiesCollector gathers properties while a file is written. One
// goroutine uses it.
type TablePropertiesCollector interface {
	Name() string
	// AddUserKey sees each entry in order; fileSize is the file's size so far.
	AddUserKey(key, value []byte, t EntryType, seq SequenceNumber, fileSize uint64) error
	// BlockAdd sees each data block: its size and, where sampled, its size by
	// two kinds of compression.
	BlockAdd(blockUncompBytes, blockCompressedBytesFast, blockCompressedBytesSlow uint64)
	// Finish adds what was gathered to properties.
	Finish(properties UserCollectedProperties) error
	// GetReadableProperties is for people; called after Finish.
	GetReadableProperties() UserCollectedProperties
	// NeedCompact marks the file for compaction.
	NeedCompact() bool
}

// TablePropertiesCollectorFactoryContext describes the file.
type TablePropertiesCollectorFactoryContext struct {
	ColumnFamilyID  uint32
	LevelAtCreation int
	NumLevels       int
	// LastLevelInclusiveMaxSeqnoThreshold is the greatest sequence number that
	// may go to the last level.
	LastLevelInclusiveMaxSeqnoThreshold SequenceNumber
}

// TablePropertiesCollectorFactory makes a collector for each file; nil for
// none.
type TablePropertiesCollectorFactory interface {
	Name() string
	CreateTablePropertiesCollector(ctx TablePropertiesCollectorFactoryContext) TablePropertiesCollector
}

// TableProperties describe a table file. Sizes are in bytes, times in seconds
// since the Unix epoch, and 0 means not known unless said otherwise. Get a
// fresh one from NewTableProperties.
type TableProperties struct {
	// OrigFileNumber is the number at creation; with DBSessionID it identifies
	// the file.
	OrigFileNumber uint64
	// DataSize of all data blocks in the file.
	DataSize uint64
	// UncompressedDataSize of the same (since 10.7).
	UncompressedDataSize uint64
	IndexSize            uint64
	// IndexPartitions and TopLevelIndexSize are of two-level indexes.
	IndexPartitions   uint64
	TopLevelIndexSize uint64
	// IndexKeyIsUserKey is 1 when index keys have no sequence number.
	IndexKeyIsUserKey uint64
	// IndexValueIsDeltaEncoded is 1 when index values are differences.
	IndexValueIsDeltaEncoded uint64
	// UDIIsPrimaryIndex is 1 when reads use the user-defined index.
	UDIIsPrimaryIndex uint64
	FilterSize        uint64
	// RawKeySize and RawValueSize are uncompressed, without delta encoding.
	RawKeySize    uint64
	RawValueSize  uint64
	NumDataBlocks uint64
	// NumDataBlocksCompressionRejected did not shrink enough.
	NumDataBlocksCompressionRejected uint64
	// NumDataBlocksCompressionBypassed were never tried.
	NumDataBlocksCompressionBypassed uint64
	NumUniformBlocks                 uint64
	NumEntries                       uint64
	// NumFilterEntries counts distinct keys and prefixes in the filter.
	NumFilterEntries  uint64
	NumDeletions      uint64
	NumMergeOperands  uint64
	NumRangeDeletions uint64
	FormatVersion     uint64
	// FixedKeyLen is 0 for keys of any length.
	FixedKeyLen uint64
	// ColumnFamilyID; UnknownColumnFamily when not known.
	ColumnFamilyID uint64
	// CreationTime is the oldest ancestor's.
	CreationTime     uint64
	OldestKeyTime    uint64
	NewestKeyTime    uint64
	FileCreationTime uint64
	// Estimates by sampled compression.
	SlowCompressionEstimatedDataSize uint64
	FastCompressionEstimatedDataSize uint64
	// ExternalSstFileGlobalSeqnoOffset is that property's place in the file.
	ExternalSstFileGlobalSeqnoOffset uint64
	// TailStartOffset is the end of the data blocks.
	TailStartOffset uint64
	// UserDefinedTimestampsPersisted is 0 when timestamps were cut off.
	UserDefinedTimestampsPersisted uint64
	// KeyLargestSeqno and KeySmallestSeqno are MaxUint64 when not known.
	KeyLargestSeqno           uint64
	KeySmallestSeqno          uint64
	DataBlockRestartInterval  uint64
	IndexBlockRestartInterval uint64
	// SeparateKeyValueInDataBlock is 1 when keys and values are apart.
	SeparateKeyValueInDataBlock uint64

	DBID             string
	DBSessionID      string
	DBHostID         string
	ColumnFamilyName string
	FilterPolicyName string
	ComparatorName   string
	// MergeOperatorName and PrefixExtractorName are "nullptr" for none.
	MergeOperatorName   string
	PrefixExtractorName string
	// PropertyCollectorsNames is "[a,b]".
	PropertyCollectorsNames string
	// CompressionName is an algorithm's name or, from format 7 on, the
	// manager's compatibility name and the types in hexadecimal, each followed
	// by ';'.
	CompressionName    string
	CompressionOptions string
	// SeqnoToTimeMapping is encoded.
	SeqnoToTimeMapping string

	UserCollectedProperties UserCollectedProperties
	ReadableProperties      UserCollectedProperties
}

// NewTableProperties gives properties of which nothing is known yet.
func NewTableProperties() TableProperties {
	return TableProperties{
		ColumnFamilyID:                 uint64(UnknownColumnFamily),
		UserDefinedTimestampsPersisted: 1,
		KeyLargestSeqno:                math.MaxUint64,
		KeySmallestSeqno:               math.MaxUint64,
	}
}

// HasKeyLargestSeqno tells whether it is known.
func (p *TableProperties) HasKeyLargestSeqno() bool { return p.KeyLargestSeqno != math.MaxUint64 }

// HasKeySmallestSeqno tells whether it is known.
func (p *TableProperties) HasKeySmallestSeqno() bool { return p.KeySmallestSeqno != math.MaxUint64 }
