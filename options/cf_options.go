// Port of options/cf_options.{h,cc}. Differs: the option table is in
// cf_options_rows.go, the log text in cf_options_dump.go; strings for the
// mutable half go through the one table of ColumnFamilyOptions.

package options

import (
	"math"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// ImmutableCFOptions are the options of a column family that do not change.
// Fields are as in rocksdb.ColumnFamilyOptions; UserComparator is its
// Comparator and never nil.
type ImmutableCFOptions struct {
	CompactionStyle                       rocksdb.CompactionStyle
	CompactionPri                         rocksdb.CompactionPri
	UserComparator                        rocksdb.Comparator
	MergeOperator                         rocksdb.MergeOperator
	CompactionFilter                      rocksdb.CompactionFilter
	CompactionFilterFactory               rocksdb.CompactionFilterFactory
	MinWriteBufferNumberToMerge           int
	MaxWriteBufferSizeToMaintain          int64
	InplaceUpdateSupport                  bool
	InplaceCallback                       rocksdb.InplaceCallback
	MemtableFactory                       rocksdb.MemTableRepFactory
	TablePropertiesCollectorFactories     []rocksdb.TablePropertiesCollectorFactory
	BloomLocality                         uint32
	LevelCompactionDynamicLevelBytes      bool
	NumLevels                             int
	OptimizeFiltersForHits                bool
	ForceConsistencyChecks                bool
	DisallowMemtableWrites                bool
	DefaultTemperature                    rocksdb.Temperature
	MemtableInsertWithHintPrefixExtractor rocksdb.SliceTransform
	CFPaths                               []rocksdb.DBPath
	CompactionThreadLimiter               rocksdb.ConcurrentTaskLimiter
	SstPartitionerFactory                 rocksdb.SstPartitionerFactory
	BlobCache                             rocksdb.Cache
	EnableBlobDirectWrite                 bool
	BlobDirectWritePartitions             uint32
	BlobDirectWritePartitionStrategy      rocksdb.BlobFilePartitionStrategy
	PersistUserDefinedTimestamps          bool
	CFAllowIngestBehind                   bool
	MemtableBatchLookupOptimization       bool

	// InternalComparator orders internal keys by UserComparator.
	InternalComparator *dbformat.InternalKeyComparator
}

// NewImmutableCFOptions takes them out of o.
func NewImmutableCFOptions(o *rocksdb.ColumnFamilyOptions) ImmutableCFOptions {
	i := ImmutableCFOptions{
		CompactionStyle:                       o.CompactionStyle,
		CompactionPri:                         o.CompactionPri,
		UserComparator:                        o.Comparator,
		MergeOperator:                         o.MergeOperator,
		CompactionFilter:                      o.CompactionFilter,
		CompactionFilterFactory:               o.CompactionFilterFactory,
		MinWriteBufferNumberToMerge:           o.MinWriteBufferNumberToMerge,
		MaxWriteBufferSizeToMaintain:          o.MaxWriteBufferSizeToMaintain,
		InplaceUpdateSupport:                  o.InplaceUpdateSupport,
		InplaceCallback:                       o.InplaceCallback,
		MemtableFactory:                       o.MemtableFactory,
		TablePropertiesCollectorFactories:     o.TablePropertiesCollectorFactories,
		BloomLocality:                         o.BloomLocality,
		LevelCompactionDynamicLevelBytes:      o.LevelCompactionDynamicLevelBytes,
		NumLevels:                             o.NumLevels,
		OptimizeFiltersForHits:                o.OptimizeFiltersForHits,
		ForceConsistencyChecks:                o.ForceConsistencyChecks,
		DisallowMemtableWrites:                o.DisallowMemtableWrites,
		DefaultTemperature:                    o.DefaultTemperature,
		MemtableInsertWithHintPrefixExtractor: o.MemtableInsertWithHintPrefixExtractor,
		CFPaths:                               o.CFPaths,
		CompactionThreadLimiter:               o.CompactionThreadLimiter,
		SstPartitionerFactory:                 o.SstPartitionerFactory,
		BlobCache:                             o.BlobCache,
		EnableBlobDirectWrite:                 o.EnableBlobDirectWrite,
		BlobDirectWritePartitions:             o.BlobDirectWritePartitions,
		BlobDirectWritePartitionStrategy:      o.BlobDirectWritePartitionStrategy,
		PersistUserDefinedTimestamps:          o.PersistUserDefinedTimestamps,
		CFAllowIngestBehind:                   o.CFAllowIngestBehind,
		MemtableBatchLookupOptimization:       o.MemtableBatchLookupOptimization,
	}
	if i.UserComparator == nil {
		i.UserComparator = util.BytewiseComparator()
	}
	i.InternalComparator = dbformat.NewInternalKeyComparator(i.UserComparator)
	return i
}

// ImmutableOptions are the immutable options of a database and of one of its
// column families.
type ImmutableOptions struct {
	ImmutableDBOptions
	ImmutableCFOptions
}

// NewImmutableOptions takes them out of the options.
func NewImmutableOptions(db *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) ImmutableOptions {
	return ImmutableOptions{NewImmutableDBOptions(db), NewImmutableCFOptions(cf)}
}

// MutableCFOptions are the options of a column family that SetOptions changes.
// Fields are as in rocksdb.ColumnFamilyOptions. A value is not changed once it
// is shared.
type MutableCFOptions struct {
	WriteBufferSize                      uint64
	MaxWriteBufferNumber                 int
	ArenaBlockSize                       uint64
	MemtablePrefixBloomSizeRatio         float64
	MemtableWholeKeyFiltering            bool
	MemtableHugePageSize                 uint64
	MaxSuccessiveMerges                  uint64
	StrictMaxSuccessiveMerges            bool
	InplaceUpdateNumLocks                uint64
	PrefixExtractor                      rocksdb.SliceTransform
	ExperimentalMempurgeThreshold        float64
	DisableAutoCompactions               bool
	TableFactory                         rocksdb.TableFactory
	SoftPendingCompactionBytesLimit      uint64
	HardPendingCompactionBytesLimit      uint64
	Level0FileNumCompactionTrigger       int
	Level0SlowdownWritesTrigger          int
	Level0StopWritesTrigger              int
	MaxCompactionBytes                   uint64
	TargetFileSizeBase                   uint64
	TargetFileSizeMultiplier             int
	TargetFileSizeIsUpperBound           bool
	MaxBytesForLevelBase                 uint64
	MaxBytesForLevelMultiplier           float64
	TTL                                  uint64
	PeriodicCompactionSeconds            uint64
	ReadTriggeredCompactionThreshold     float64
	MaxBytesForLevelMultiplierAdditional []int
	CompactionOptionsFIFO                rocksdb.CompactionOptionsFIFO
	CompactionOptionsUniversal           rocksdb.CompactionOptionsUniversal
	PrecludeLastLevelDataSeconds         uint64
	PreserveInternalTimeSeconds          uint64
	VerifyOutputFlags                    rocksdb.VerifyOutputFlags
	EnableBlobFiles                      bool
	MinBlobSize                          uint64
	BlobFileSize                         uint64
	BlobCompressionType                  rocksdb.CompressionType
	BlobCompressionOpts                  rocksdb.CompressionOptions
	EnableBlobGarbageCollection          bool
	BlobGarbageCollectionAgeCutoff       float64
	BlobGarbageCollectionForceThreshold  float64
	BlobCompactionReadaheadSize          uint64
	BlobFileStartingLevel                int
	PrepopulateBlobCache                 rocksdb.PrepopulateBlobCache
	MaxSequentialSkipInIterations        uint64
	ParanoidFileChecks                   bool
	ReportBGIOStats                      bool
	Compression                          rocksdb.CompressionType
	BottommostCompression                rocksdb.CompressionType
	CompressionOpts                      rocksdb.CompressionOptions
	BottommostCompressionOpts            rocksdb.CompressionOptions
	CompressionManager                   rocksdb.CompressionManager
	LastLevelTemperature                 rocksdb.Temperature
	DefaultWriteTemperature              rocksdb.Temperature
	MemtableProtectionBytesPerKey        uint32
	BlockProtectionBytesPerKey           uint8
	ParanoidMemoryChecks                 bool
	MemtableVerifyPerKeyChecksumOnSeek   bool
	SampleForCompression                 uint64
	CompressionPerLevel                  []rocksdb.CompressionType
	MemtableMaxRangeDeletions            uint32
	BottommostFileCompactionDelay        uint32
	UncacheAggressiveness                uint32
	MemtableOpScanFlushTrigger           uint32
	MemtableAvgOpScanFlushTrigger        uint32
	MinTombstonesForRangeConversion      uint32

	// MaxFileSize is the target file size by level; RefreshDerivedOptions sets
	// it.
	MaxFileSize []uint64
}

// NewMutableCFOptions takes them out of o and refreshes what depends on them.
func NewMutableCFOptions(o *rocksdb.ColumnFamilyOptions) MutableCFOptions {
	m := MutableCFOptions{
		WriteBufferSize:                      o.WriteBufferSize,
		MaxWriteBufferNumber:                 o.MaxWriteBufferNumber,
		ArenaBlockSize:                       o.ArenaBlockSize,
		MemtablePrefixBloomSizeRatio:         o.MemtablePrefixBloomSizeRatio,
		MemtableWholeKeyFiltering:            o.MemtableWholeKeyFiltering,
		MemtableHugePageSize:                 o.MemtableHugePageSize,
		MaxSuccessiveMerges:                  o.MaxSuccessiveMerges,
		StrictMaxSuccessiveMerges:            o.StrictMaxSuccessiveMerges,
		InplaceUpdateNumLocks:                o.InplaceUpdateNumLocks,
		PrefixExtractor:                      o.PrefixExtractor,
		ExperimentalMempurgeThreshold:        o.ExperimentalMempurgeThreshold,
		DisableAutoCompactions:               o.DisableAutoCompactions,
		TableFactory:                         o.TableFactory,
		SoftPendingCompactionBytesLimit:      o.SoftPendingCompactionBytesLimit,
		HardPendingCompactionBytesLimit:      o.HardPendingCompactionBytesLimit,
		Level0FileNumCompactionTrigger:       o.Level0FileNumCompactionTrigger,
		Level0SlowdownWritesTrigger:          o.Level0SlowdownWritesTrigger,
		Level0StopWritesTrigger:              o.Level0StopWritesTrigger,
		MaxCompactionBytes:                   o.MaxCompactionBytes,
		TargetFileSizeBase:                   o.TargetFileSizeBase,
		TargetFileSizeMultiplier:             o.TargetFileSizeMultiplier,
		TargetFileSizeIsUpperBound:           o.TargetFileSizeIsUpperBound,
		MaxBytesForLevelBase:                 o.MaxBytesForLevelBase,
		MaxBytesForLevelMultiplier:           o.MaxBytesForLevelMultiplier,
		TTL:                                  o.TTL,
		PeriodicCompactionSeconds:            o.PeriodicCompactionSeconds,
		ReadTriggeredCompactionThreshold:     o.ReadTriggeredCompactionThreshold,
		MaxBytesForLevelMultiplierAdditional: o.MaxBytesForLevelMultiplierAdditional,
		CompactionOptionsFIFO:                o.CompactionOptionsFIFO,
		CompactionOptionsUniversal:           o.CompactionOptionsUniversal,
		PrecludeLastLevelDataSeconds:         o.PrecludeLastLevelDataSeconds,
		PreserveInternalTimeSeconds:          o.PreserveInternalTimeSeconds,
		VerifyOutputFlags:                    o.VerifyOutputFlags,
		EnableBlobFiles:                      o.EnableBlobFiles,
		MinBlobSize:                          o.MinBlobSize,
		BlobFileSize:                         o.BlobFileSize,
		BlobCompressionType:                  o.BlobCompressionType,
		BlobCompressionOpts:                  o.BlobCompressionOpts,
		EnableBlobGarbageCollection:          o.EnableBlobGarbageCollection,
		BlobGarbageCollectionAgeCutoff:       o.BlobGarbageCollectionAgeCutoff,
		BlobGarbageCollectionForceThreshold:  o.BlobGarbageCollectionForceThreshold,
		BlobCompactionReadaheadSize:          o.BlobCompactionReadaheadSize,
		BlobFileStartingLevel:                o.BlobFileStartingLevel,
		PrepopulateBlobCache:                 o.PrepopulateBlobCache,
		MaxSequentialSkipInIterations:        o.MaxSequentialSkipInIterations,
		ParanoidFileChecks:                   o.ParanoidFileChecks,
		ReportBGIOStats:                      o.ReportBGIOStats,
		Compression:                          o.Compression,
		BottommostCompression:                o.BottommostCompression,
		CompressionOpts:                      o.CompressionOpts,
		BottommostCompressionOpts:            o.BottommostCompressionOpts,
		CompressionManager:                   o.CompressionManager,
		LastLevelTemperature:                 o.LastLevelTemperature,
		DefaultWriteTemperature:              o.DefaultWriteTemperature,
		MemtableProtectionBytesPerKey:        o.MemtableProtectionBytesPerKey,
		BlockProtectionBytesPerKey:           o.BlockProtectionBytesPerKey,
		ParanoidMemoryChecks:                 o.ParanoidMemoryChecks,
		MemtableVerifyPerKeyChecksumOnSeek:   o.MemtableVerifyPerKeyChecksumOnSeek,
		SampleForCompression:                 o.SampleForCompression,
		CompressionPerLevel:                  o.CompressionPerLevel,
		MemtableMaxRangeDeletions:            o.MemtableMaxRangeDeletions,
		BottommostFileCompactionDelay:        o.BottommostFileCompactionDelay,
		UncacheAggressiveness:                o.UncacheAggressiveness,
		MemtableOpScanFlushTrigger:           o.MemtableOpScanFlushTrigger,
		MemtableAvgOpScanFlushTrigger:        o.MemtableAvgOpScanFlushTrigger,
		MinTombstonesForRangeConversion:      o.MinTombstonesForRangeConversion,
	}
	m.RefreshDerivedOptions(o.NumLevels, o.CompactionStyle)
	return m
}

// RefreshDerivedOptions computes MaxFileSize.
func (m *MutableCFOptions) RefreshDerivedOptions(numLevels int, style rocksdb.CompactionStyle) {
	m.MaxFileSize = make([]uint64, max(numLevels, 0))
	for i := range m.MaxFileSize {
		switch {
		case i == 0 && style == rocksdb.CompactionStyleUniversal:
			m.MaxFileSize[i] = math.MaxUint64
		case i > 1:
			m.MaxFileSize[i] = MultiplyCheckOverflow(m.MaxFileSize[i-1], float64(m.TargetFileSizeMultiplier))
		default:
			m.MaxFileSize[i] = m.TargetFileSizeBase
		}
	}
}

// MaxBytesMultiplerAdditional is the level's extra multiplier, 1 where none is
// set.
func (m *MutableCFOptions) MaxBytesMultiplerAdditional(level int) int {
	if level >= len(m.MaxBytesForLevelMultiplierAdditional) {
		return 1
	}
	return m.MaxBytesForLevelMultiplierAdditional[level]
}

// MultiplyCheckOverflow is op1*op2, or op1 where that is too large.
func MultiplyCheckOverflow(op1 uint64, op2 float64) uint64 {
	if op1 == 0 || op2 <= 0 {
		return 0
	}
	if p := float64(op1) * op2; p < math.MaxUint64 {
		return uint64(p)
	}
	return op1
}

// MaxFileSizeForLevel is the target size of a level's files, in bytes. With
// dynamic level sizes, levels count from baseLevel.
func MaxFileSizeForLevel(m *MutableCFOptions, level int, style rocksdb.CompactionStyle, baseLevel int, dynamicLevelBytes bool) uint64 {
	if !dynamicLevelBytes || level < baseLevel || style != rocksdb.CompactionStyleLevel {
		return m.MaxFileSize[level]
	}
	return m.MaxFileSize[level-baseLevel]
}

// MaxFileSizeForL0MetaPin is up to which size a level-0 file's metadata counts
// as freshly flushed, in bytes.
func MaxFileSizeForL0MetaPin(m *MutableCFOptions) uint64 {
	if math.MaxUint64/3 < m.WriteBufferSize/2 {
		return math.MaxUint64
	}
	return m.WriteBufferSize / 2 * 3
}

// UpdateColumnFamilyOptions puts the mutable half into o.
func (m *MutableCFOptions) UpdateColumnFamilyOptions(o *rocksdb.ColumnFamilyOptions) {
	o.WriteBufferSize = m.WriteBufferSize
	o.MaxWriteBufferNumber = m.MaxWriteBufferNumber
	o.ArenaBlockSize = m.ArenaBlockSize
	o.MemtablePrefixBloomSizeRatio = m.MemtablePrefixBloomSizeRatio
	o.MemtableWholeKeyFiltering = m.MemtableWholeKeyFiltering
	o.MemtableHugePageSize = m.MemtableHugePageSize
	o.MaxSuccessiveMerges = m.MaxSuccessiveMerges
	o.StrictMaxSuccessiveMerges = m.StrictMaxSuccessiveMerges
	o.InplaceUpdateNumLocks = m.InplaceUpdateNumLocks
	o.PrefixExtractor = m.PrefixExtractor
	o.ExperimentalMempurgeThreshold = m.ExperimentalMempurgeThreshold
	o.DisableAutoCompactions = m.DisableAutoCompactions
	o.TableFactory = m.TableFactory
	o.SoftPendingCompactionBytesLimit = m.SoftPendingCompactionBytesLimit
	o.HardPendingCompactionBytesLimit = m.HardPendingCompactionBytesLimit
	o.Level0FileNumCompactionTrigger = m.Level0FileNumCompactionTrigger
	o.Level0SlowdownWritesTrigger = m.Level0SlowdownWritesTrigger
	o.Level0StopWritesTrigger = m.Level0StopWritesTrigger
	o.MaxCompactionBytes = m.MaxCompactionBytes
	o.TargetFileSizeBase = m.TargetFileSizeBase
	o.TargetFileSizeMultiplier = m.TargetFileSizeMultiplier
	o.TargetFileSizeIsUpperBound = m.TargetFileSizeIsUpperBound
	o.MaxBytesForLevelBase = m.MaxBytesForLevelBase
	o.MaxBytesForLevelMultiplier = m.MaxBytesForLevelMultiplier
	o.TTL = m.TTL
	o.PeriodicCompactionSeconds = m.PeriodicCompactionSeconds
	o.ReadTriggeredCompactionThreshold = m.ReadTriggeredCompactionThreshold
	o.MaxBytesForLevelMultiplierAdditional = m.MaxBytesForLevelMultiplierAdditional
	o.CompactionOptionsFIFO = m.CompactionOptionsFIFO
	o.CompactionOptionsUniversal = m.CompactionOptionsUniversal
	o.PrecludeLastLevelDataSeconds = m.PrecludeLastLevelDataSeconds
	o.PreserveInternalTimeSeconds = m.PreserveInternalTimeSeconds
	o.VerifyOutputFlags = m.VerifyOutputFlags
	o.EnableBlobFiles = m.EnableBlobFiles
	o.MinBlobSize = m.MinBlobSize
	o.BlobFileSize = m.BlobFileSize
	o.BlobCompressionType = m.BlobCompressionType
	o.BlobCompressionOpts = m.BlobCompressionOpts
	o.EnableBlobGarbageCollection = m.EnableBlobGarbageCollection
	o.BlobGarbageCollectionAgeCutoff = m.BlobGarbageCollectionAgeCutoff
	o.BlobGarbageCollectionForceThreshold = m.BlobGarbageCollectionForceThreshold
	o.BlobCompactionReadaheadSize = m.BlobCompactionReadaheadSize
	o.BlobFileStartingLevel = m.BlobFileStartingLevel
	o.PrepopulateBlobCache = m.PrepopulateBlobCache
	o.MaxSequentialSkipInIterations = m.MaxSequentialSkipInIterations
	o.ParanoidFileChecks = m.ParanoidFileChecks
	o.ReportBGIOStats = m.ReportBGIOStats
	o.Compression = m.Compression
	o.BottommostCompression = m.BottommostCompression
	o.CompressionOpts = m.CompressionOpts
	o.BottommostCompressionOpts = m.BottommostCompressionOpts
	o.CompressionManager = m.CompressionManager
	o.LastLevelTemperature = m.LastLevelTemperature
	o.DefaultWriteTemperature = m.DefaultWriteTemperature
	o.MemtableProtectionBytesPerKey = m.MemtableProtectionBytesPerKey
	o.BlockProtectionBytesPerKey = m.BlockProtectionBytesPerKey
	o.ParanoidMemoryChecks = m.ParanoidMemoryChecks
	o.MemtableVerifyPerKeyChecksumOnSeek = m.MemtableVerifyPerKeyChecksumOnSeek
	o.SampleForCompression = m.SampleForCompression
	o.CompressionPerLevel = m.CompressionPerLevel
	o.MemtableMaxRangeDeletions = m.MemtableMaxRangeDeletions
	o.BottommostFileCompactionDelay = m.BottommostFileCompactionDelay
	o.UncacheAggressiveness = m.UncacheAggressiveness
	o.MemtableOpScanFlushTrigger = m.MemtableOpScanFlushTrigger
	o.MemtableAvgOpScanFlushTrigger = m.MemtableAvgOpScanFlushTrigger
	o.MinTombstonesForRangeConversion = m.MinTombstonesForRangeConversion
}

// UpdateColumnFamilyOptions puts the immutable half into o.
func (i *ImmutableCFOptions) UpdateColumnFamilyOptions(o *rocksdb.ColumnFamilyOptions) {
	o.CompactionStyle = i.CompactionStyle
	o.CompactionPri = i.CompactionPri
	o.Comparator = i.UserComparator
	o.MergeOperator = i.MergeOperator
	o.CompactionFilter = i.CompactionFilter
	o.CompactionFilterFactory = i.CompactionFilterFactory
	o.MinWriteBufferNumberToMerge = i.MinWriteBufferNumberToMerge
	o.MaxWriteBufferSizeToMaintain = i.MaxWriteBufferSizeToMaintain
	o.InplaceUpdateSupport = i.InplaceUpdateSupport
	o.InplaceCallback = i.InplaceCallback
	o.MemtableFactory = i.MemtableFactory
	o.TablePropertiesCollectorFactories = i.TablePropertiesCollectorFactories
	o.BloomLocality = i.BloomLocality
	o.LevelCompactionDynamicLevelBytes = i.LevelCompactionDynamicLevelBytes
	o.NumLevels = i.NumLevels
	o.OptimizeFiltersForHits = i.OptimizeFiltersForHits
	o.ForceConsistencyChecks = i.ForceConsistencyChecks
	o.DisallowMemtableWrites = i.DisallowMemtableWrites
	o.DefaultTemperature = i.DefaultTemperature
	o.MemtableInsertWithHintPrefixExtractor = i.MemtableInsertWithHintPrefixExtractor
	o.CFPaths = i.CFPaths
	o.CompactionThreadLimiter = i.CompactionThreadLimiter
	o.SstPartitionerFactory = i.SstPartitionerFactory
	o.BlobCache = i.BlobCache
	o.EnableBlobDirectWrite = i.EnableBlobDirectWrite
	o.BlobDirectWritePartitions = i.BlobDirectWritePartitions
	o.BlobDirectWritePartitionStrategy = i.BlobDirectWritePartitionStrategy
	o.PersistUserDefinedTimestamps = i.PersistUserDefinedTimestamps
	o.CFAllowIngestBehind = i.CFAllowIngestBehind
	o.MemtableBatchLookupOptimization = i.MemtableBatchLookupOptimization
}

// BuildColumnFamilyOptions is base with the mutable options replaced.
func BuildColumnFamilyOptions(base *rocksdb.ColumnFamilyOptions, m *MutableCFOptions) rocksdb.ColumnFamilyOptions {
	o := *base
	m.UpdateColumnFamilyOptions(&o)
	return o
}

// GetMutableOptionsFromStrings changes base by options given as strings, as
// SetOptions does. An immutable option is an InvalidArgument. Derived options
// are the caller's to refresh.
func GetMutableOptionsFromStrings(base MutableCFOptions, opts map[string]string, log rocksdb.Logger) (MutableCFOptions, error) {
	full := rocksdb.DefaultColumnFamilyOptions()
	base.UpdateColumnFamilyOptions(&full)
	cfg := rocksdb.DefaultConfigOptions()
	cfg.MutableOptionsOnly = true
	if err := ConfigureFromMap(&cfg, opts, []OptionSet{{cfOptionsTable, &full}}, nil); err != nil {
		return base, err
	}
	m := NewMutableCFOptions(&full)
	m.MaxFileSize = base.MaxFileSize
	return m, nil
}

// GetStringFromMutableCFOptions writes them as "name=value" with
// cfg.Delimiter.
func GetStringFromMutableCFOptions(cfg *rocksdb.ConfigOptions, m *MutableCFOptions) (string, error) {
	full := rocksdb.DefaultColumnFamilyOptions()
	m.UpdateColumnFamilyOptions(&full)
	c := *cfg
	c.MutableOptionsOnly = true
	return serializeRows(&c, cfOptionsTable, &full, "")
}
