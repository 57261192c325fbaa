// Port of include/rocksdb/advanced_options.h. Differs: the fields of
// AdvancedColumnFamilyOptions are part of ColumnFamilyOptions (options.go).

package rocksdb

import "slices"

// CompactionStyle selects how a column family's files are kept in order.
type CompactionStyle uint8

// The styles.
const (
	CompactionStyleLevel CompactionStyle = iota
	CompactionStyleUniversal
	CompactionStyleFIFO
	// CompactionStyleNone compacts by CompactFiles only.
	CompactionStyleNone
)

// CompactionStyleSet is a set of styles.
type CompactionStyleSet uint64

// NewCompactionStyleSet makes a set.
func NewCompactionStyleSet(styles ...CompactionStyle) (s CompactionStyleSet) {
	for _, v := range styles {
		s |= 1 << v
	}
	return s
}

// Contains tells whether the style is in the set.
func (s CompactionStyleSet) Contains(v CompactionStyle) bool { return s>>v&1 != 0 }

// With gives the set with the style added.
func (s CompactionStyleSet) With(v CompactionStyle) CompactionStyleSet { return s | 1<<v }

// Without gives the set with the style taken out.
func (s CompactionStyleSet) Without(v CompactionStyle) CompactionStyleSet { return s &^ (1 << v) }

// FileTypeSet is a set of file types.
type FileTypeSet uint64

// NewFileTypeSet makes a set.
func NewFileTypeSet(types ...FileType) (s FileTypeSet) {
	for _, v := range types {
		s |= 1 << v
	}
	return s
}

// Contains tells whether the type is in the set.
func (s FileTypeSet) Contains(v FileType) bool { return s>>v&1 != 0 }

// With gives the set with the type added.
func (s FileTypeSet) With(v FileType) FileTypeSet { return s | 1<<v }

// Without gives the set with the type taken out.
func (s FileTypeSet) Without(v FileType) FileTypeSet { return s &^ (1 << v) }

// CompactionPri is the order in which leveled compaction picks the files of a
// level.
type CompactionPri uint8

// The orders.
const (
	// ByCompensatedSize picks the largest file, deletions counted extra.
	ByCompensatedSize CompactionPri = iota
	// OldestLargestSeqFirst picks the file whose newest entry is oldest.
	OldestLargestSeqFirst
	// OldestSmallestSeqFirst picks the file whose oldest entry is oldest.
	OldestSmallestSeqFirst
	// MinOverlappingRatio picks the file with the least overlap below.
	MinOverlappingRatio
	// RoundRobin goes round the key space.
	RoundRobin
)

// FileTemperatureAge says from which age on a file gets a temperature.
type FileTemperatureAge struct {
	Temperature Temperature
	Age         uint64 // seconds
}

// CompactionOptionsFIFO tunes FIFO compaction.
type CompactionOptionsFIFO struct {
	// MaxTableFilesSize is the total size, in bytes, past which the oldest file
	// is dropped. Default 1 GiB.
	MaxTableFilesSize uint64
	// AllowCompaction merges small files. Default false.
	AllowCompaction bool
	// AgeForWarm is upstream's deprecated age, in seconds, for warm files.
	AgeForWarm uint64
	// FileTemperatureAgeThresholds lists ages (rising) and temperatures of
	// older files. Default empty.
	FileTemperatureAgeThresholds []FileTemperatureAge
	// AllowTrivialCopyWhenChangeTemperature copies a file's bytes when only its
	// temperature changes. Default false.
	AllowTrivialCopyWhenChangeTemperature bool
	// TrivialCopyBufferSize is that copy's buffer in bytes, at least 4096.
	TrivialCopyBufferSize uint64
	// MaxDataFilesSize, when not 0, replaces MaxTableFilesSize by a limit on
	// tables and blob files together, in bytes.
	MaxDataFilesSize uint64
	// UseKVRatioCompaction sizes merged files by the ratio of tables to blobs.
	// Default false.
	UseKVRatioCompaction bool
}

// DefaultCompactionOptionsFIFO gives the defaults.
func DefaultCompactionOptionsFIFO() CompactionOptionsFIFO {
	return CompactionOptionsFIFO{MaxTableFilesSize: 1 << 30, TrivialCopyBufferSize: 4096}
}

// Equal compares all fields.
func (o CompactionOptionsFIFO) Equal(p CompactionOptionsFIFO) bool {
	return o.MaxTableFilesSize == p.MaxTableFilesSize && o.AllowCompaction == p.AllowCompaction &&
		o.AgeForWarm == p.AgeForWarm &&
		slices.Equal(o.FileTemperatureAgeThresholds, p.FileTemperatureAgeThresholds) &&
		o.AllowTrivialCopyWhenChangeTemperature == p.AllowTrivialCopyWhenChangeTemperature &&
		o.TrivialCopyBufferSize == p.TrivialCopyBufferSize &&
		o.MaxDataFilesSize == p.MaxDataFilesSize && o.UseKVRatioCompaction == p.UseKVRatioCompaction
}

// CacheTier says which tiers of a cache may be used.
type CacheTier uint8

// The tiers.
const (
	VolatileTier           CacheTier = 0
	VolatileCompressedTier CacheTier = 1
	NonVolatileBlockTier   CacheTier = 2
)

// UpdateStatus is an InplaceCallback's answer.
type UpdateStatus uint8

// The answers.
const (
	UpdateFailed    UpdateStatus = iota // nothing is written
	UpdatedInplace                      // the existing value was changed
	UpdatedNewValue                     // a new value is to be written
)

// InplaceCallback updates an existing memtable value. existing is nil when
// there is none; it may be changed within its length, and n is then its new
// length (UpdatedInplace). merged is the value for UpdatedNewValue.
type InplaceCallback func(existing, delta []byte) (s UpdateStatus, n int, merged []byte)

// PrepopulateBlobCache says which blobs are put in the cache as they are
// written.
type PrepopulateBlobCache uint8

// The choices.
const (
	PrepopulateBlobCacheDisable   PrepopulateBlobCache = 0
	PrepopulateBlobCacheFlushOnly PrepopulateBlobCache = 1
)

// VerifyOutputFlags is a set of checks on compaction outputs.
type VerifyOutputFlags uint32

// The checks, and the compactions they are made for.
const (
	VerifyNone                VerifyOutputFlags = 0
	VerifyBlockChecksum       VerifyOutputFlags = 1 << 0
	VerifyIteration           VerifyOutputFlags = 1 << 1
	VerifyFileChecksum        VerifyOutputFlags = 1 << 2
	EnableForLocalCompaction  VerifyOutputFlags = 1 << 10
	EnableForRemoteCompaction VerifyOutputFlags = 1 << 11
	VerifyAll                 VerifyOutputFlags = 0xFFFFFFFF
)

// BlobFilePartitionStrategy picks the partition of a directly written blob.
// It is safe for concurrent use.
type BlobFilePartitionStrategy interface {
	Name() string
	SelectPartition(numPartitions, columnFamilyID uint32, key, value []byte) uint32
}
