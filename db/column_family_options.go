// Port of db/column_family.cc (SanitizeCfOptions, ValidateOptions and the
// write stall conditions).

package db

import (
	"math"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

const thirtyDays = 30 * 24 * 60 * 60 // seconds

// What ttl and periodic_compaction_seconds are when nobody set them.
const (
	defaultTTL              = ^uint64(0) - 1
	defaultPeriodicCompSecs = ^uint64(0) - 1
)

// SanitizeColumnFamilyOptions fills in defaults that need higher packages and
// brings options into a consistent state.
func SanitizeColumnFamilyOptions(dbo *options.ImmutableDBOptions, readOnly bool, src *rocksdb.ColumnFamilyOptions) rocksdb.ColumnFamilyOptions {
	o := *src
	if o.Comparator == nil {
		o.Comparator = util.BytewiseComparator()
	}
	if o.MemtableFactory == nil {
		o.MemtableFactory = memtable.NewSkipListFactory(0)
	}
	if o.TableFactory == nil {
		bo := rocksdb.DefaultBlockBasedTableOptions()
		o.TableFactory = blockbased.NewBlockBasedTableFactory(&bo)
	}
	sanitizeMemtables(dbo, &o)
	sanitizeLevels(dbo, &o)
	sanitizeTimes(dbo, &o)
	if len(o.CFPaths) == 0 {
		o.CFPaths = dbo.DBPaths
	}
	if o.LevelCompactionDynamicLevelBytes {
		switch {
		case o.CompactionStyle != rocksdb.CompactionStyleLevel:
			logging.Info(dbo.InfoLog, "level_compaction_dynamic_level_bytes only makes sense for level-based compaction")
			o.LevelCompactionDynamicLevelBytes = false
		case len(o.CFPaths) > 1:
			logging.Warn(dbo.InfoLog, "multiple cf_paths/db_paths and level_compaction_dynamic_level_bytes can't be used together")
			o.LevelCompactionDynamicLevelBytes = false
		}
	}
	if o.MaxCompactionBytes == 0 &&
		(o.CompactionStyle != rocksdb.CompactionStyleFIFO || !o.CompactionOptionsFIFO.UseKVRatioCompaction) {
		o.MaxCompactionBytes = o.TargetFileSizeBase * 25
	}
	if readOnly {
		o.PreserveInternalTimeSeconds = 0
		o.PrecludeLastLevelDataSeconds = 0
		o.MemtableOpScanFlushTrigger = 0
		o.MemtableAvgOpScanFlushTrigger = 0
	}
	if o.EnableBlobDirectWrite && !o.EnableBlobFiles {
		o.EnableBlobDirectWrite = false
	}
	if o.BlobDirectWritePartitions == 0 {
		o.BlobDirectWritePartitions = 1
	}
	return o
}

func sanitizeMemtables(dbo *options.ImmutableDBOptions, o *rocksdb.ColumnFamilyOptions) {
	o.WriteBufferSize = min(max(o.WriteBufferSize, 64<<10), 64<<30)
	if o.ArenaBlockSize <= 0 {
		const align = 4 << 10
		o.ArenaBlockSize = (min(1<<20, o.WriteBufferSize/8) + align - 1) / align * align
	}
	o.MinWriteBufferNumberToMerge = max(1, min(o.MinWriteBufferNumberToMerge, o.MaxWriteBufferNumber-1))
	if dbo.AtomicFlush && o.MinWriteBufferNumberToMerge > 1 {
		logging.Warn(dbo.InfoLog, "min_write_buffer_number_to_merge > 1 does not go with atomic_flush; it is set to 1")
		o.MinWriteBufferNumberToMerge = 1
	}
	if o.DisallowMemtableWrites {
		o.MemtableFactory = memtable.NewVectorRepFactory(0)
	}
	o.MaxWriteBufferNumber = max(o.MaxWriteBufferNumber, 2)
	if o.MaxWriteBufferSizeToMaintain < 0 {
		o.MaxWriteBufferSizeToMaintain = int64(o.MaxWriteBufferNumber) * int64(o.WriteBufferSize)
	}
	o.MemtablePrefixBloomSizeRatio = min(max(o.MemtablePrefixBloomSizeRatio, 0), 0.25)
	if o.PrefixExtractor == nil {
		switch o.MemtableFactory.Name() {
		case "HashSkipListRepFactory", "HashLinkListRepFactory":
			o.MemtableFactory = memtable.NewSkipListFactory(0)
		}
	}
}

func sanitizeLevels(dbo *options.ImmutableDBOptions, o *rocksdb.ColumnFamilyOptions) {
	o.NumLevels = max(o.NumLevels, 1)
	if o.CompactionStyle == rocksdb.CompactionStyleLevel {
		o.NumLevels = max(o.NumLevels, 2)
	}
	if o.CompactionStyle == rocksdb.CompactionStyleUniversal && (dbo.AllowIngestBehind || o.CFAllowIngestBehind) {
		o.NumLevels = max(o.NumLevels, 3)
	}
	if o.CompactionStyle == rocksdb.CompactionStyleFIFO {
		o.Level0SlowdownWritesTrigger = math.MaxInt32
		o.Level0StopWritesTrigger = math.MaxInt32
	}
	if o.MaxBytesForLevelMultiplier <= 0 {
		o.MaxBytesForLevelMultiplier = 1
	}
	if o.Level0FileNumCompactionTrigger == 0 {
		logging.Warn(dbo.InfoLog, "level0_file_num_compaction_trigger cannot be 0")
		o.Level0FileNumCompactionTrigger = 1
	}
	if o.Level0StopWritesTrigger < o.Level0SlowdownWritesTrigger || o.Level0SlowdownWritesTrigger < o.Level0FileNumCompactionTrigger {
		logging.Warn(dbo.InfoLog, "This condition must be satisfied: level0_stop_writes_trigger(%d) >= "+
			"level0_slowdown_writes_trigger(%d) >= level0_file_num_compaction_trigger(%d)",
			o.Level0StopWritesTrigger, o.Level0SlowdownWritesTrigger, o.Level0FileNumCompactionTrigger)
		o.Level0SlowdownWritesTrigger = max(o.Level0SlowdownWritesTrigger, o.Level0FileNumCompactionTrigger)
		o.Level0StopWritesTrigger = max(o.Level0StopWritesTrigger, o.Level0SlowdownWritesTrigger)
		logging.Warn(dbo.InfoLog, "Adjust the value to level0_stop_writes_trigger(%d) "+
			"level0_slowdown_writes_trigger(%d) level0_file_num_compaction_trigger(%d)",
			o.Level0StopWritesTrigger, o.Level0SlowdownWritesTrigger, o.Level0FileNumCompactionTrigger)
	}
	soft, hard := o.SoftPendingCompactionBytesLimit, o.HardPendingCompactionBytesLimit
	if soft == 0 || hard > 0 && soft > hard {
		o.SoftPendingCompactionBytesLimit = hard
	}
}

func sanitizeTimes(dbo *options.ImmutableDBOptions, o *rocksdb.ColumnFamilyOptions) {
	blockBased := o.TableFactory.Name() == rocksdb.BlockBasedTableName
	if o.TTL == defaultTTL {
		o.TTL = 0
		if blockBased {
			o.TTL = thirtyDays
		}
	}
	isDefault := o.PeriodicCompactionSeconds == defaultPeriodicCompSecs
	filters := o.CompactionFilter != nil || o.CompactionFilterFactory != nil
	switch o.CompactionStyle {
	case rocksdb.CompactionStyleLevel:
		if filters && isDefault && blockBased {
			o.PeriodicCompactionSeconds = thirtyDays
		}
	case rocksdb.CompactionStyleUniversal:
		if isDefault && blockBased {
			o.PeriodicCompactionSeconds = thirtyDays
		}
		if o.PeriodicCompactionSeconds == 0 {
			o.PeriodicCompactionSeconds = o.TTL
		} else if o.TTL != 0 {
			o.PeriodicCompactionSeconds = min(o.TTL, o.PeriodicCompactionSeconds)
		}
	case rocksdb.CompactionStyleFIFO:
		if !isDefault {
			logging.Warn(dbo.InfoLog, "periodic_compaction_seconds does not support FIFO compaction; see option ttl")
		}
		o.LastLevelTemperature = rocksdb.TemperatureUnknown
	}
	if o.PeriodicCompactionSeconds == defaultPeriodicCompSecs {
		o.PeriodicCompactionSeconds = 0
	}
}

// ValidateOptions refuses options that cannot work together, or that this
// engine does not have.
// Upstream: CheckConcurrentWritesSupported, CheckCFPathsSupported.
func ValidateOptions(dbo *rocksdb.DBOptions, o *rocksdb.ColumnFamilyOptions) error {
	if err := checkCompression(o); err != nil {
		return err
	}
	if dbo.AllowConcurrentMemtableWrite {
		if o.InplaceUpdateSupport {
			return rocksdb.InvalidArgument("In-place memtable updates (inplace_update_support) is not compatible with concurrent writes (allow_concurrent_memtable_write)")
		}
		if o.MemtableFactory != nil && !o.MemtableFactory.IsInsertConcurrentlySupported() {
			return rocksdb.InvalidArgument("Memtable doesn't allow concurrent writes (allow_concurrent_memtable_write)")
		}
	}
	if o.MemtableFactory != nil && o.MemtableFactory.Name() != "SkipListFactory" && !o.DisallowMemtableWrites {
		// Reads would fail, but for memtables that stay empty.
		if o.ParanoidMemoryChecks {
			return rocksdb.NotSupported("paranoid_memory_checks is not supported by " + o.MemtableFactory.Name())
		}
		if o.MemtableVerifyPerKeyChecksumOnSeek {
			return rocksdb.NotSupported("memtable_verify_per_key_checksum_on_seek is not supported by " + o.MemtableFactory.Name())
		}
	}
	if dbo.UnorderedWrite && o.MaxSuccessiveMerges != 0 {
		return rocksdb.InvalidArgument("max_successive_merges > 0 is incompatible with unordered_write")
	}
	if len(o.CFPaths) > 1 || len(dbo.DBPaths) > 1 {
		if o.CompactionStyle != rocksdb.CompactionStyleUniversal && o.CompactionStyle != rocksdb.CompactionStyleLevel {
			return rocksdb.NotSupported("More than one CF/DB paths are only supported in universal and level compaction styles. ")
		}
	}
	if o.TableFactory != nil && o.TableFactory.Name() != rocksdb.BlockBasedTableName {
		// Other tables do not tell how old they are.
		if o.TTL > 0 && o.TTL != defaultTTL {
			return rocksdb.NotSupported("TTL is only supported in Block-Based Table format. ")
		}
		if o.PeriodicCompactionSeconds > 0 && o.PeriodicCompactionSeconds != defaultPeriodicCompSecs {
			return rocksdb.NotSupported("Periodic Compaction is only supported in Block-Based Table format. ")
		}
	}
	if o.CompactionStyle == rocksdb.CompactionStyleFIFO && dbo.MaxOpenFiles != -1 && o.TTL > 0 && o.TTL != defaultTTL {
		return rocksdb.NotSupported("FIFO compaction only supported with max_open_files = -1.")
	}
	if dbo.OpenFilesAsync {
		// Its picker reads properties of tables under the mutex.
		if o.CompactionStyle == rocksdb.CompactionStyleFIFO {
			return rocksdb.NotSupported("FIFO compaction is not supported with open_files_async = true.")
		}
		// Open would read the tables for its statistics all the same.
		if !dbo.SkipStatsUpdateOnDBOpen {
			return rocksdb.InvalidArgument("open_files_async requires skip_stats_update_on_db_open = true.")
		}
	}
	if err := checkProtectionBytes("memtable_protection_bytes_per_key", o.MemtableProtectionBytesPerKey); err != nil {
		return err
	}
	if err := checkProtectionBytes("block_protection_bytes_per_key", uint32(o.BlockProtectionBytesPerKey)); err != nil {
		return err
	}
	if o.Comparator != nil && o.Comparator.TimestampSize() > 0 && !o.PersistUserDefinedTimestamps {
		if err := checkMemtableOnlyTimestamps(dbo, o.Comparator); err != nil {
			return err
		}
	}
	if o.EnableBlobGarbageCollection {
		if c := o.BlobGarbageCollectionAgeCutoff; c < 0 || c > 1 {
			return rocksdb.InvalidArgument("The age cutoff for blob garbage collection should be in the range [0.0, 1.0].")
		}
		if c := o.BlobGarbageCollectionForceThreshold; c < 0 || c > 1 {
			return rocksdb.InvalidArgument("The garbage ratio threshold for forcing blob garbage collection should be in the range [0.0, 1.0].")
		}
	}
	if t := o.ReadTriggeredCompactionThreshold; t < 0 || math.IsNaN(t) || math.IsInf(t, 0) {
		return rocksdb.InvalidArgument("read_triggered_compaction_threshold must be >= 0.0 and finite. Use 0.0 to disable.")
	}
	if err := checkTemperatureAges(o); err != nil {
		return err
	}
	if o.CompactionStyle == rocksdb.CompactionStyleUniversal {
		amp := o.CompactionOptionsUniversal.MaxReadAmp
		if amp < -1 {
			return rocksdb.NotSupported("CompactionOptionsUniversal::max_read_amp should be at least -1.")
		}
		if amp > 0 && amp < o.Level0FileNumCompactionTrigger {
			return rocksdb.NotSupported("CompactionOptionsUniversal::max_read_amp limits the number of sorted runs but is smaller than the compaction trigger level0_file_num_compaction_trigger.")
		}
	}
	return notBuiltYet(o)
}

// checkTemperatureAges refuses ages that FIFO compaction could not go by.
func checkTemperatureAges(o *rocksdb.ColumnFamilyOptions) error {
	ages := o.CompactionOptionsFIFO.FileTemperatureAgeThresholds
	switch {
	case len(ages) == 0:
		return nil
	case o.CompactionStyle != rocksdb.CompactionStyleFIFO:
		return rocksdb.NotSupported("Option file_temperature_age_thresholds only supports FIFO compaction.")
	case o.NumLevels > 1:
		return rocksdb.NotSupported("Option file_temperature_age_thresholds is only supported when num_levels = 1.")
	}
	for i := 1; i < len(ages); i++ {
		if ages[i-1].Age >= ages[i].Age {
			return rocksdb.NotSupported("Option file_temperature_age_thresholds requires elements to be sorted in increasing order with respect to `age` field.")
		}
	}
	return nil
}

// checkMemtableOnlyTimestamps refuses what does not go with timestamps that
// tables do not keep: the newest one of a memtable is tracked by one writer, and
// the flush of one family moves its full_history_ts_low up by a number.
func checkMemtableOnlyTimestamps(dbo *rocksdb.DBOptions, cmp rocksdb.Comparator) error {
	const suffix = ".u64ts"
	switch name := cmp.Name(); {
	case dbo.AtomicFlush:
		return rocksdb.NotSupported("Not persisting user-defined timestamps feature is not supported in combination with atomic flush.")
	case dbo.AllowConcurrentMemtableWrite:
		return rocksdb.NotSupported("Not persisting user-defined timestamps feature is not supported in combination with concurrent memtable write.")
	case len(name) <= len(suffix) || !strings.HasSuffix(name, suffix):
		return rocksdb.NotSupported("Not persisting user-defined timestamps feature only support user-defined timestamps formatted as uint64_t.")
	}
	return nil
}

// CheckBuilt refuses, beside ValidateOptions, values whose feature is not there
// yet.
func CheckBuilt(o *rocksdb.ColumnFamilyOptions) error {
	if o.CompactionThreadLimiter != nil && !isBuiltInLimiter(o.CompactionThreadLimiter) {
		return rocksdb.NotSupported("compaction_thread_limiter other than the built-in one")
	}
	return nil
}

func isBuiltInLimiter(l rocksdb.ConcurrentTaskLimiter) bool {
	_, ok := l.(*util.ConcurrentTaskLimiterImpl)
	return ok
}

// notBuiltYet names the options whose feature is not there yet.
func notBuiltYet(o *rocksdb.ColumnFamilyOptions) error {
	switch {
	case o.EnableBlobDirectWrite:
		return rocksdb.NotSupported("enable_blob_direct_write is not built yet")
	}
	return nil
}

func checkProtectionBytes(option string, n uint32) error {
	switch n {
	case 0, 1, 2, 4, 8:
		return nil
	}
	return rocksdb.NotSupported(option + " only supports 0, 1, 2, 4 or 8 bytes per key.")
}

// checkCompressionType is upstream's CheckCompressionSupportedWithManager.
func checkCompressionType(t rocksdb.CompressionType, m rocksdb.CompressionManager) error {
	text := "Compression type " + compression.CompressionTypeToString(t)
	switch {
	case m != nil && !m.SupportsCompressionType(t):
		return rocksdb.NotSupported(text + " is not recognized/supported by this version of CompressionManager " + m.Name())
	case m != nil || compression.CompressionTypeSupported(t):
		return nil
	case t <= rocksdb.LastBuiltinCompression:
		return rocksdb.InvalidArgument(text + " is not linked with the binary.")
	}
	return rocksdb.NotSupported(text + " is not recognized/supported by built-in CompressionManager.")
}

// checkCompression is upstream's CheckCompressionSupported.
func checkCompression(o *rocksdb.ColumnFamilyOptions) error {
	types := o.CompressionPerLevel
	if len(types) == 0 {
		types = []rocksdb.CompressionType{o.Compression}
	}
	for _, t := range types {
		if err := checkCompressionType(t, o.CompressionManager); err != nil {
			return err
		}
	}
	if o.CompressionOpts.ZSTDMaxTrainBytes > 0 && o.CompressionOpts.MaxDictBytes == 0 {
		return rocksdb.InvalidArgument("The dictionary size limit (`CompressionOptions::max_dict_bytes`) should be nonzero if we're using zstd's dictionary generator.")
	}
	if !compression.CompressionTypeSupported(o.BlobCompressionType) {
		return rocksdb.InvalidArgument("The specified blob compression type " + compression.CompressionTypeToString(o.BlobCompressionType) + " is not available.")
	}
	return nil
}
