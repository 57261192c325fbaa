// Port of table/table_builder.h and the constructors of
// include/rocksdb/table.h's TableFactory. Differs: Add returns the status.

package table

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/tblpropcoll"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
)

// TableReaderOptions say how to open a table. The pointers have to outlive the
// reader.
type TableReaderOptions struct {
	IOptions           *options.ImmutableOptions
	PrefixExtractor    rocksdb.SliceTransform     // nil for none
	CompressionManager rocksdb.CompressionManager // nil for the built-in one
	FileOptions        rocksdb.FileOptions
	InternalComparator *dbformat.InternalKeyComparator
	// SkipFilters leaves the filter unread.
	SkipFilters bool
	// Immortal tables live as long as the database is open.
	Immortal bool
	// ForceDirectPrefetch reads ahead into own buffers with buffered I/O too.
	ForceDirectPrefetch bool
	// Level is -1 when not known.
	Level int
	// LargestSeqno of the table; 0 when not known.
	LargestSeqno rocksdb.SequenceNumber
	// MaxFileSizeForL0MetaPin is the largest L0 file whose meta blocks may be
	// pinned, in bytes; 0 when not known.
	MaxFileSizeForL0MetaPin uint64
	CurDBSessionID          string
	CurFileNum              uint64
	// UniqueID the file should have; NullUniqueId64x2 when not known.
	UniqueID                   uniqueid.UniqueId64x2
	BlockProtectionBytesPerKey uint8
	// TailSize is that of all after the data blocks; 0 when not known.
	TailSize uint64
	// UserDefinedTimestampsPersisted is false when keys were stored without
	// their timestamps.
	UserDefinedTimestampsPersisted bool
	// AvoidSharedMetadataCache keeps index, filter and dictionary blocks out
	// of the block cache at opening.
	AvoidSharedMetadataCache bool
	// BlockCacheTracer traces lookups of blocks while it has a trace; nil: none.
	BlockCacheTracer *tracereplay.BlockCacheTracer
	// BlobSource reads same-file blobs through the blob cache; nil for direct
	// reads.
	BlobSource EmbeddedBlobSource
	// OldFormats lets block-based tables of format versions 0 (LevelDB's) and 1
	// be read, for importing.
	OldFormats bool
}

// DefaultTableReaderOptions fills in what is "not known" otherwise.
func DefaultTableReaderOptions(io *options.ImmutableOptions, icmp *dbformat.InternalKeyComparator) TableReaderOptions {
	return TableReaderOptions{IOptions: io, InternalComparator: icmp, Level: -1, UserDefinedTimestampsPersisted: true}
}

// TableBuilderOptions say how to build a table. The pointers have to outlive
// the builder.
type TableBuilderOptions struct {
	rocksdb.TablePropertiesCollectorFactoryContext
	IOptions                     *options.ImmutableOptions
	MOptions                     *options.MutableCFOptions
	ReadOptions                  *rocksdb.ReadOptions
	WriteOptions                 *rocksdb.WriteOptions
	InternalComparator           *dbformat.InternalKeyComparator
	InternalTblPropCollFactories tblpropcoll.InternalTblPropCollFactories
	CompressionType              rocksdb.CompressionType
	CompressionOpts              rocksdb.CompressionOptions
	ColumnFamilyName             string
	OldestKeyTime                int64  // seconds
	NewestKeyTime                int64  // seconds
	TargetFileSize               uint64 // bytes; 0 when not known
	FileCreationTime             uint64 // seconds
	DBID                         string
	DBSessionID                  string
	IsBottommost                 bool
	Reason                       rocksdb.TableFileCreationReason
	CurFileNum                   uint64
	// EmbeddedBlobs makes a block-based table hold large values as blobs in the
	// same file; nil: none.
	EmbeddedBlobs *rocksdb.SstFileWriterEmbeddedBlobOptions
}

// DefaultTableBuilderOptions fills in what is "not known" otherwise.
func DefaultTableBuilderOptions(io *options.ImmutableOptions, mo *options.MutableCFOptions, icmp *dbformat.InternalKeyComparator) TableBuilderOptions {
	return TableBuilderOptions{
		TablePropertiesCollectorFactoryContext: rocksdb.TablePropertiesCollectorFactoryContext{
			ColumnFamilyID:                      rocksdb.UnknownColumnFamily,
			LevelAtCreation:                     rocksdb.UnknownLevelAtCreation,
			NumLevels:                           rocksdb.UnknownNumLevels,
			LastLevelInclusiveMaxSeqnoThreshold: dbformat.MaxSequenceNumber,
		},
		IOptions: io, MOptions: mo, InternalComparator: icmp,
		Reason: rocksdb.TableFileCreationReasonMisc,
	}
}

// NewCollectors makes the collectors of properties for a new table.
func (o *TableBuilderOptions) NewCollectors() (list []tblpropcoll.InternalTblPropColl) {
	ctx := rocksdb.TablePropertiesCollectorFactoryContext{
		ColumnFamilyID: o.ColumnFamilyID, LevelAtCreation: o.LevelAtCreation, NumLevels: o.IOptions.NumLevels,
		LastLevelInclusiveMaxSeqnoThreshold: o.LastLevelInclusiveMaxSeqnoThreshold,
	}
	for _, f := range o.InternalTblPropCollFactories {
		if c := f.CreateInternalTblPropColl(ctx); c != nil {
			list = append(list, c)
		}
	}
	return list
}

// DBHostID is the db_host_id property of new tables: the option, or the machine's
// name where it stands for that.
func DBHostID(io *options.ImmutableOptions) string {
	if io.DBHostID != rocksdb.HostnameForDBHostID {
		return io.DBHostID
	}
	if io.Env == nil {
		return ""
	}
	name, err := io.Env.GetHostName()
	if err != nil {
		logging.Info(io.Logger, "db_host_id property will not be set: %v", err)
		return ""
	}
	return name
}

// TableBuilder writes one table file. It belongs to one goroutine; either
// Finish or Abandon ends it. Embed TableBuilderBase for the optional methods.
type TableBuilder interface {
	// Add appends an entry; internal keys come in strictly ascending order.
	// Range tombstones (TypeRangeDeletion) may come in any order among
	// themselves and the others. It returns Status.
	Add(key, value []byte) error
	// Status is the first error; all calls after one do nothing.
	Status() error
	// IOStatus is Status where that came of I/O, else nil.
	IOStatus() error
	// Finish writes the rest of the file, without syncing or closing it.
	Finish() error
	// Abandon drops the contents.
	Abandon()
	// NumEntries counts the calls of Add.
	NumEntries() uint64
	// IsEmpty tells whether there are neither entries nor tombstones.
	IsEmpty() bool
	// PreCompressionSize is the file's size before compression, in bytes.
	PreCompressionSize() uint64
	// FileSize is the size so far; after Finish, the file's.
	FileSize() uint64
	// EstimatedFileSize also counts blocks still being compressed.
	EstimatedFileSize() uint64
	// EstimatedTailSize is about the size of what follows the data blocks.
	EstimatedTailSize() uint64
	// GetTailSize is that size after Finish.
	GetTailSize() uint64
	// NeedCompact tells whether a properties collector asks for a compaction.
	NeedCompact() bool
	// GetTableProperties gives a copy.
	GetTableProperties() rocksdb.TableProperties
	GetFileChecksum() string
	GetFileChecksumFuncName() string
	// SetSeqnoTimeTableProperties gives the mapping (enforced) and the oldest
	// ancestor's time in seconds, before Finish.
	SetSeqnoTimeTableProperties(relevant *seqnotime.SeqnoToTimeMapping, oldestAncestorTime uint64)
	// GetWorkerCPUMicros is the CPU time of other goroutines.
	GetWorkerCPUMicros() uint64
}

// TableBuilderBase gives TableBuilder's optional methods.
type TableBuilderBase struct{}

// PreCompressionSize is not known.
func (TableBuilderBase) PreCompressionSize() uint64 { return 0 }

// EstimatedTailSize is not known.
func (TableBuilderBase) EstimatedTailSize() uint64 { return 0 }

// GetTailSize is not known.
func (TableBuilderBase) GetTailSize() uint64 { return 0 }

// NeedCompact is false.
func (TableBuilderBase) NeedCompact() bool { return false }

// SetSeqnoTimeTableProperties does nothing.
func (TableBuilderBase) SetSeqnoTimeTableProperties(*seqnotime.SeqnoToTimeMapping, uint64) {}

// GetWorkerCPUMicros is 0.
func (TableBuilderBase) GetWorkerCPUMicros() uint64 { return 0 }

// Factory is a rocksdb.TableFactory that opens and builds tables. All of this
// module's table factories are Factories; a column family refuses others.
type Factory interface {
	rocksdb.TableFactory
	// NewTableReader opens a table of fileSize bytes. It takes f over, also
	// on an error.
	NewTableReader(ro *rocksdb.ReadOptions, o *TableReaderOptions, f *file.RandomAccessFileReader, fileSize uint64, prefetchIndexAndFilterInCache bool) (TableReader, error)
	// NewTableBuilder writes to f, which stays the caller's.
	NewTableBuilder(o *TableBuilderOptions, f *file.WritableFileWriter) (TableBuilder, error)
}
