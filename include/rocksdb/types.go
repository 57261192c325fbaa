// Port of include/rocksdb/types.h.

package rocksdb

// SequenceNumber numbers the writes of a database; 56 bits are used.
type SequenceNumber = uint64

// MinUnCommittedSeq is the least sequence number an uncommitted entry of a
// write-prepared transaction may have.
const MinUnCommittedSeq SequenceNumber = 1

// ColumnFamilyID identifies a column family within one database.
type ColumnFamilyID = uint32

// TableFileCreationReason says why a table file was made.
type TableFileCreationReason uint8

// The reasons a table file is made for.
const (
	TableFileCreationReasonFlush TableFileCreationReason = iota
	TableFileCreationReasonCompaction
	TableFileCreationReasonRecovery
	TableFileCreationReasonMisc
)

// BlobFileCreationReason says why a blob file was made.
type BlobFileCreationReason uint8

// The reasons a blob file is made for.
const (
	BlobFileCreationReasonFlush BlobFileCreationReason = iota
	BlobFileCreationReasonCompaction
	BlobFileCreationReasonRecovery
	BlobFileCreationReasonDirectWrite
)

// FileType is the kind of a file in a database's directory. The order is
// that of upstream.
type FileType uint8

// The kinds of file.
const (
	WalFile FileType = iota
	DBLockFile
	TableFile
	DescriptorFile
	CurrentFile
	TempFile
	InfoLogFile
	MetaDatabase
	IdentityFile
	OptionsFile
	BlobFile
	CompactionProgressFile
)

// EntryType is the kind of an entry as users see it (table property
// collectors, ParsedEntryInfo).
type EntryType uint8

// The kinds of entry.
const (
	EntryPut EntryType = iota
	EntryDelete
	EntrySingleDelete
	EntryMerge
	EntryRangeDeletion
	EntryBlobIndex
	EntryDeleteWithTimestamp
	EntryWideColumnEntity
	EntryTimedPut
	EntryOther
)

// Temperature is a hint of how often a file's data is read. The numbers go to
// the MANIFEST.
type Temperature uint8

// The temperatures.
const (
	TemperatureUnknown Temperature = 0
	TemperatureHot     Temperature = 0x04
	TemperatureWarm    Temperature = 0x08
	TemperatureCool    Temperature = 0x0A
	TemperatureCold    Temperature = 0x0C
	TemperatureIce     Temperature = 0x10
	LastTemperature    Temperature = 0x11
)

// ParsedEntryInfo is an entry's internal key taken apart.
type ParsedEntryInfo struct {
	UserKey   []byte
	Timestamp []byte
	Sequence  SequenceNumber
	Type      EntryType
}

// WriteStallCause says what slows or stops writes.
type WriteStallCause uint8

// The causes: of one column family, then of the whole database.
const (
	WriteStallCauseMemtableLimit WriteStallCause = iota
	WriteStallCauseL0FileCountLimit
	WriteStallCausePendingCompactionBytes
	CFScopeWriteStallCauseEnumMax
	WriteStallCauseWriteBufferManagerLimit
	DBScopeWriteStallCauseEnumMax
	WriteStallCauseNone
)

// WriteStallCondition says how writes fare.
type WriteStallCondition uint8

// The conditions.
const (
	WriteStallConditionDelayed WriteStallCondition = iota
	WriteStallConditionStopped
	WriteStallConditionNormal
)
