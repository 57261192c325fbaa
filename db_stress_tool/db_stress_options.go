// Port of db_stress_tool/db_stress_test_base.cc (InitializeOptionsFromFile,
// InitializeOptionsFromFlags, InitializeOptionsGeneral, NewCache).

package dbstresstool

import (
	"fmt"
	"math"
	"strings"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
	tablepropertiescollectors "github.com/rocksdb-go/rocksdb/utilities/table_properties_collectors"
)

// compressionType takes upstream's names; what this build lacks is Snappy, and
// so is what nobody knows, after a warning.
func (t *Tool) compressionType(name string) rocksdb.CompressionType {
	names := map[string]rocksdb.CompressionType{
		"disable": rocksdb.DisableCompressionOption, "none": rocksdb.NoCompression, "snappy": rocksdb.SnappyCompression,
		"zlib": rocksdb.ZlibCompression, "bzip2": rocksdb.BZip2Compression, "lz4": rocksdb.LZ4Compression,
		"lz4hc": rocksdb.LZ4HCCompression, "xpress": rocksdb.XpressCompression, "zstd": rocksdb.ZSTD,
	}
	c, ok := names[strings.ToLower(name)]
	if !ok {
		t.errf("Cannot parse compression type '%s'\n", name)
		return rocksdb.SnappyCompression
	}
	if c != rocksdb.DisableCompressionOption && !compression.CompressionTypeSupported(c) {
		return rocksdb.SnappyCompression
	}
	return c
}

var checksumTypes = map[string]rocksdb.ChecksumType{
	"kNoChecksum": rocksdb.NoChecksum, "kCRC32c": rocksdb.CRC32c, "kxxHash": rocksdb.XXHash, "kxxHash64": rocksdb.XXHash64, "kXXH3": rocksdb.XXH3,
}

func (t *Tool) checksumType() rocksdb.ChecksumType {
	c, ok := checksumTypes[t.flags.ChecksumType]
	if !ok {
		t.errf("Cannot parse checksum type '%s'\n", t.flags.ChecksumType)
		return rocksdb.CRC32c
	}
	return c
}

var temperatures = map[string]rocksdb.Temperature{
	"kUnknown": rocksdb.TemperatureUnknown, "kHot": rocksdb.TemperatureHot, "kWarm": rocksdb.TemperatureWarm,
	"kCool": rocksdb.TemperatureCool, "kCold": rocksdb.TemperatureCold, "kIce": rocksdb.TemperatureIce,
}

func (t *Tool) temperature(flag, name string) (rocksdb.Temperature, error) {
	v, ok := temperatures[name]
	if !ok {
		return 0, rocksdb.InvalidArgument("--"+flag, name)
	}
	return v, nil
}

func (t *Tool) filterPolicy() rocksdb.FilterPolicy {
	f := t.flags
	switch {
	case f.BloomBits < 0:
		return nil
	case f.BloomBeforeLevel == math.MaxInt32:
		return blockbased.NewBloomFilterPolicy(f.BloomBits)
	}
	return blockbased.NewRibbonFilterPolicy(f.BloomBits, int(f.BloomBeforeLevel))
}

// initOptions makes the options of the next opening.
func (s *stressTest) initOptions() error {
	f, t := s.flags, s.tool
	o := rocksdb.DefaultOptions()
	if f.OptionsFile != "" {
		if err := s.optionsFromFile(&o); err != nil {
			return err
		}
	} else if err := s.optionsFromFlags(&o); err != nil {
		return err
	}
	o.CreateIfMissing, o.CreateMissingColumnFamilies = true, true
	if f.Statistics {
		o.Statistics = monitoring.CreateDBStatistics()
	}
	o.Env = s.env
	if b, ok := o.TableFactory.(*blockbased.BlockBasedTableFactory); ok {
		bo, _ := b.OptionsPtr(rocksdb.BlockBasedTableOptionsName).(*rocksdb.BlockBasedTableOptions)
		if bo != nil {
			c := *bo
			if f.CacheSize > 0 {
				c.BlockCache = t.cache
			}
			if c.FilterPolicy == nil {
				c.FilterPolicy = t.filterPolicy()
			}
			o.TableFactory = blockbased.NewBlockBasedTableFactory(&c)
		}
	}
	if o.RateLimiter == nil && t.rateLimiter != nil {
		o.RateLimiter = t.rateLimiter
	}
	if o.FileChecksumGenFactory == nil {
		g, err := checksumFactory(f.FileChecksumImpl)
		if err != nil {
			return err
		}
		o.FileChecksumGenFactory = g
	}
	if f.PreserveUnverifiedChanges {
		if !o.AvoidFlushDuringRecovery {
			t.errf("WARNING: flipping `avoid_flush_during_recovery` to true for `preserve_unverified_changes` to keep all files\n")
			o.AvoidFlushDuringRecovery = true
		}
		if o.EnforceWriteBufferManagerDuringRecovery {
			t.errf("WARNING: flipping `enforce_write_buffer_manager_during_recovery` to false for `preserve_unverified_changes` to keep all files\n")
			o.EnforceWriteBufferManagerDuringRecovery = false
		}
		o.DisableAutoCompactions = true
	}
	if f.SstFileManagerBytesPerSec > 0 || f.SstFileManagerBytesPerTruncate > 0 {
		o.SstFileManager = file.NewSstFileManager(s.env, nil, nil, int64(f.SstFileManagerBytesPerSec), 0.25, f.SstFileManagerBytesPerTruncate)
	}
	var err error
	if o.CompressionManager, err = compressionManager(f.CompressionManager); err != nil {
		return err
	}
	o.TablePropertiesCollectorFactories = []rocksdb.TablePropertiesCollectorFactory{&stressCollectorFactory{int(f.MarkForCompactionOneFileIn)}}
	if s.sqfc == nil {
		if s.sqfc, err = newSqfcFactory(f.SqfcName, f.SqfcVersion); err != nil {
			return err
		}
	}
	if !s.sqfc.GetConfigs().IsEmptyNotFound() {
		o.TablePropertiesCollectorFactories = append(o.TablePropertiesCollectorFactories, s.sqfc)
	}
	if f.EnableCompactionOnDeletionTrigger {
		o.TablePropertiesCollectorFactories = append(o.TablePropertiesCollectorFactories, tablepropertiescollectors.NewCompactOnDeletionCollectorFactory(
			uint64(f.CompactionOnDeletionWindowSize), uint64(f.CompactionOnDeletionTriggerCount), f.CompactionOnDeletionRatio, f.CompactionOnDeletionMinFileSize))
	}
	if f.MockDirectIO {
		o.UseDirectReads, o.UseDirectIOForFlushAndCompaction, o.UseDirectIOForCompactionReads = false, false, false
	}
	s.options = o
	return nil
}

func (s *stressTest) optionsFromFile(o *rocksdb.Options) error {
	cfg := rocksdb.DefaultConfigOptions()
	cfg.Env = s.tool.rawEnv
	p := options.NewParser()
	if err := p.Parse(&cfg, s.flags.OptionsFile, s.tool.rawEnv.GetFileSystem()); err != nil {
		return rocksdb.InvalidArgument("Unable to load options file "+s.flags.OptionsFile, err.Error())
	}
	if p.NumColumnFamilies() == 0 {
		return rocksdb.InvalidArgument("Unable to load options file "+s.flags.OptionsFile, "it has no column family")
	}
	*o = rocksdb.Options{DBOptions: *p.DBOptions(), ColumnFamilyOptions: p.CFOptions()[0]}
	return nil
}

func (s *stressTest) optionsFromFlags(o *rocksdb.Options) error {
	s.tableFromFlags(o)
	s.dbOptionsFromFlags(&o.DBOptions)
	if err := s.cfOptionsFromFlags(&o.ColumnFamilyOptions); err != nil {
		return err
	}
	s.compactionFromFlags(o)
	return nil
}

func (s *stressTest) tableFromFlags(o *rocksdb.Options) {
	f, t := s.flags, s.tool
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.DecouplePartitionedFilters = f.DecouplePartitionedFilters
	b.BlockCache = t.cache
	b.NoBlockCache = t.cache == nil
	b.CacheIndexAndFilterBlocks = f.CacheIndexAndFilterBlocks
	b.MetadataCacheOptions = rocksdb.MetadataCacheOptions{
		TopLevelIndexPinning: rocksdb.PinningTier(f.TopLevelIndexPinning), PartitionPinning: rocksdb.PinningTier(f.PartitionPinning),
		UnpartitionedPinning: rocksdb.PinningTier(f.UnpartitionedPinning),
	}
	b.Checksum = t.checksumType()
	b.BlockSize = uint64(f.BlockSize)
	b.CacheUsageOptions.OptionsOverrides = map[rocksdb.CacheEntryRole]rocksdb.CacheEntryRoleOptions{}
	for role, on := range map[rocksdb.CacheEntryRole]bool{
		rocksdb.CacheEntryRoleCompressionDictionaryBuildingBuffer: f.ChargeCompressionDictionaryBuildingBuffer,
		rocksdb.CacheEntryRoleFilterConstruction:                  f.ChargeFilterConstruction,
		rocksdb.CacheEntryRoleBlockBasedTableReader:               f.ChargeTableReader,
		rocksdb.CacheEntryRoleFileMetadata:                        f.ChargeFileMetadata,
		rocksdb.CacheEntryRoleBlobCache:                           f.ChargeBlobCache,
	} {
		d := rocksdb.CacheEntryRoleDisabled
		if on {
			d = rocksdb.CacheEntryRoleEnabled
		}
		b.CacheUsageOptions.OptionsOverrides[role] = rocksdb.CacheEntryRoleOptions{Charged: d}
	}
	b.FormatVersion = uint32(f.FormatVersion)
	b.SeparateKeyValueInDataBlock = f.SeparateKeyValueInDataBlock
	b.IndexBlockRestartInterval = int(f.IndexBlockRestartInterval)
	b.FilterPolicy = t.filterPolicy()
	b.PartitionFilters = f.PartitionFilters
	b.OptimizeFiltersForMemory = f.OptimizeFiltersForMemory
	b.DetectFilterConstructCorruption = f.DetectFilterConstructCorruption
	b.IndexType = rocksdb.IndexType(f.IndexType)
	b.DataBlockIndexType = rocksdb.DataBlockIndexType(f.DataBlockIndexType)
	b.IndexBlockSearchType = rocksdb.BlockSearchType(f.IndexBlockSearchType)
	b.UniformCVThreshold = f.UniformCvThreshold
	b.PrepopulateBlockCache = rocksdb.PrepopulateBlockCache(f.PrepopulateBlockCache)
	b.InitialAutoReadaheadSize, b.MaxAutoReadaheadSize = f.InitialAutoReadaheadSize, f.MaxAutoReadaheadSize
	b.NumFileReadsForAutoReadahead = f.NumFileReadsForAutoReadahead
	b.CacheIndexAndFilterBlocksWithHighPriority = f.CacheIndexAndFilterBlocksWithHighPriority
	b.UseDeltaEncoding = f.UseDeltaEncoding
	b.VerifyCompression = f.VerifyCompression
	b.ReadAmpBytesPerBit = f.ReadAmpBytesPerBit
	b.EnableIndexCompression = f.EnableIndexCompression
	b.IndexShortening = rocksdb.IndexShorteningMode(f.IndexShortening)
	b.BlockAlign = f.BlockAlign
	b.SuperBlockAlignmentSize = f.SuperBlockAlignmentSize
	b.SuperBlockAlignmentSpaceOverheadRatio = f.SuperBlockAlignmentSpaceOverheadRatio
	o.TableFactory = blockbased.NewBlockBasedTableFactory(&b)
}

func (s *stressTest) dbOptionsFromFlags(o *rocksdb.DBOptions) {
	f := s.flags
	o.DBWriteBufferSize = uint64(f.DBWriteBufferSize)
	if f.UseWriteBufferManager {
		o.WriteBufferManager = s.tool.wbm
	}
	o.MaxBackgroundCompactions = int(f.MaxBackgroundCompactions)
	o.MaxBackgroundFlushes = int(f.MaxBackgroundFlushes)
	o.MaxOpenFiles = int(f.OpenFiles)
	o.OpenFilesAsync = f.OpenFilesAsync
	if f.OpenFilesAsync && !f.SkipStatsUpdateOnDBOpen {
		f.SkipStatsUpdateOnDBOpen = true
		s.tool.errf("open_files_async requires skip_stats_update_on_db_open, enabling it automatically\n")
	}
	o.AsyncWALPrecreate = f.AsyncWALPrecreate
	o.UseFsync = f.UseFsync
	o.CompactionReadaheadSize = uint64(f.CompactionReadaheadSize)
	o.AllowMmapReads, o.AllowMmapWrites = f.MmapRead, f.MmapWrite
	o.UseDirectReads = f.UseDirectReads
	o.UseDirectIOForCompactionReads = f.UseDirectIOForCompactionReads
	o.UseDirectIOForFlushAndCompaction = f.UseDirectIOForFlushAndCompaction
	o.RecycleLogFileNum = f.RecycleLogFileNum
	o.MaxManifestFileSize = f.MaxManifestFileSize
	o.MaxManifestSpaceAmpPct = int(f.MaxManifestSpaceAmpPct)
	o.VerifyManifestContentOnClose = f.VerifyManifestContentOnClose
	o.MaxSubcompactions = uint32(f.Subcompactions)
	o.AllowConcurrentMemtableWrite = f.AllowConcurrentMemtableWrite
	o.DailyOffpeakTimeUTC = f.DailyOffpeakTimeUtc
	o.StatsDumpPeriodSec = uint32(f.StatsDumpPeriodSec)
	o.MaxCompactionTriggerWakeupSeconds = f.MaxCompactionTriggerWakeupSeconds
	o.EnablePipelinedWrite = f.EnablePipelinedWrite
	o.UnorderedWrite, o.TwoWriteQueues = f.UnorderedWrite, f.TwoWriteQueues
	o.EnableWriteThreadAdaptiveYield = f.EnableWriteThreadAdaptiveYield
	o.AtomicFlush = f.AtomicFlush
	o.ManualWALFlush = f.ManualWALFlushOneIn > 0
	o.AvoidUnnecessaryBlockingIO = f.AvoidUnnecessaryBlockingIO
	o.WriteDBIDToManifest = f.WriteDbidToManifest
	o.OptimizeManifestForRecovery = f.OptimizeManifestForRecovery
	o.WriteIdentityFile = f.WriteIdentityFile
	o.ReuseManifestOnOpen = f.ReuseManifestOnOpen
	o.AvoidFlushDuringRecovery = f.AvoidFlushDuringRecovery
	o.EnforceWriteBufferManagerDuringRecovery = f.EnforceWriteBufferManagerDuringRecovery
	o.MaxWriteBatchGroupSizeBytes = f.MaxWriteBatchGroupSizeBytes
	o.TrackAndVerifyWALsInManifest = true
	o.TrackAndVerifyWALs = f.TrackAndVerifyWals
	o.VerifySstUniqueIDInManifest = f.VerifySstUniqueIDInManifest
	o.FastSstOpen = f.FastSstOpen
	o.WALCompression = s.tool.compressionType(f.WALCompression)
	o.BestEffortsRecovery = f.BestEffortsRecovery
	o.AllowDataInErrors = f.AllowDataInErrors
	o.EnableThreadTracking = f.EnableThreadTracking
	o.AllowFallocate = f.AllowFallocate
	o.TableCacheNumshardbits = int(f.TableCacheNumshardbits)
	o.LogReadaheadSize = f.LogReadaheadSize
	o.BGErrorResumeRetryInterval = f.BgerrorResumeRetryInterval
	o.DeleteObsoleteFilesPeriodMicros = f.DeleteObsoleteFilesPeriodMicros
	o.MaxLogFileSize, o.LogFileTimeToRoll = f.MaxLogFileSize, f.LogFileTimeToRoll
	o.UseAdaptiveMutex = f.UseAdaptiveMutex
	o.AdviseRandomOnOpen = f.AdviseRandomOnOpen
	o.WALTTLSeconds, o.WALSizeLimitMB = f.WALTtlSeconds, f.WALSizeLimitMB
	o.BytesPerSync, o.WALBytesPerSync = f.BytesPerSync, f.WALBytesPerSync
	o.StrictBytesPerSync = f.StrictBytesPerSync
	o.AvoidFlushDuringShutdown = f.AvoidFlushDuringShutdown
	o.DumpMallocStats = f.DumpMallocStats
	o.StatsHistoryBufferSize = f.StatsHistoryBufferSize
	o.SkipStatsUpdateOnDBOpen = f.SkipStatsUpdateOnDBOpen
	o.ManifestPreallocationSize = f.ManifestPreallocationSize
	if f.EnableChecksumHandoff {
		o.ChecksumHandoffFileTypes = ^rocksdb.FileTypeSet(0)
	}
	o.MaxTotalWALSize = f.MaxTotalWALSize
	o.LowestUsedCacheTier = rocksdb.CacheTier(f.LowestUsedCacheTier)
}

func (s *stressTest) cfOptionsFromFlags(o *rocksdb.ColumnFamilyOptions) error {
	f, t := s.flags, s.tool
	o.WriteBufferSize = uint64(f.WriteBufferSize)
	o.MaxWriteBufferNumber = int(f.MaxWriteBufferNumber)
	o.MinWriteBufferNumberToMerge = int(f.MinWriteBufferNumberToMerge)
	o.MaxWriteBufferSizeToMaintain = f.MaxWriteBufferSizeToMaintain
	o.MemtablePrefixBloomSizeRatio = f.MemtablePrefixBloomSizeRatio
	o.MemtableWholeKeyFiltering = f.MemtableWholeKeyFiltering
	if f.PrefixSize >= 0 {
		o.PrefixExtractor = util.NewFixedPrefixTransform(int(f.PrefixSize))
		if f.EnableMemtableInsertWithHintPrefixExtractor {
			o.MemtableInsertWithHintPrefixExtractor = o.PrefixExtractor
		}
	}
	o.Compression, o.BottommostCompression = t.compression, t.bottommost
	c := &o.CompressionOpts
	c.MaxDictBytes = uint32(f.CompressionMaxDictBytes)
	c.ZSTDMaxTrainBytes = uint32(f.CompressionZstdMaxTrainBytes)
	c.ParallelThreads = uint32(f.CompressionParallelThreads)
	c.MaxDictBufferBytes = f.CompressionMaxDictBufferBytes
	c.UseZSTDDictTrainer = f.CompressionUseZstdDictTrainer
	c.Checksum = c.Checksum || f.CompressionChecksum
	o.ExperimentalMempurgeThreshold = f.ExperimentalMempurgeThreshold
	o.MemtableProtectionBytesPerKey = f.MemtableProtectionBytesPerKey
	o.ExperimentalMempurgeThreshold = f.ExperimentalMempurgeThreshold
	o.BlockProtectionBytesPerKey = uint8(f.BlockProtectionBytesPerKey)
	o.ParanoidMemoryChecks = f.ParanoidMemoryChecks
	o.MemtableVerifyPerKeyChecksumOnSeek = f.MemtableVerifyPerKeyChecksumOnSeek
	o.MemtableBatchLookupOptimization = f.MemtableBatchLookupOptimization
	if err := s.blobsFromFlags(o); err != nil {
		return err
	}
	for _, x := range []struct {
		flag, name string
		to         *rocksdb.Temperature
	}{
		{"last_level_temperature", f.LastLevelTemperature, &o.LastLevelTemperature},
		{"default_write_temperature", f.DefaultWriteTemperature, &o.DefaultWriteTemperature},
		{"default_temperature", f.DefaultTemperature, &o.DefaultTemperature},
	} {
		v, err := t.temperature(x.flag, x.name)
		if err != nil {
			return err
		}
		*x.to = v
	}
	if ages := f.FileTemperatureAgeThresholds; ages != "" {
		cfg := rocksdb.DefaultConfigOptions()
		next, err := options.GetColumnFamilyOptionsFromString(&cfg, o, fmt.Sprintf(
			"compaction_options_fifo={file_temperature_age_thresholds=%s;allow_trivial_copy_when_change_temperature=%t}",
			ages, f.AllowTrivialCopyWhenChangeTemperature))
		if err != nil {
			return rocksdb.InvalidArgument("--file_temperature_age_thresholds", err.Error())
		}
		*o = next
	}
	// -1 is: off, but SetOptions may turn it on.
	o.PrecludeLastLevelDataSeconds = uint64(max(f.PrecludeLastLevelDataSeconds, 0))
	o.PreserveInternalTimeSeconds = uint64(f.PreserveInternalTimeSeconds)
	switch f.Memtablerep {
	case "prefix_hash":
		o.MemtableFactory = memtable.NewHashSkipListRepFactory(10000, 4, 4)
	case "vector":
		o.MemtableFactory = memtable.NewVectorRepFactory(0)
	}
	switch {
	case f.UseFullMergeV1:
		o.MergeOperator = mergeoperators.PutOperator{}
	case f.UsePutEntityOneIn > 0:
		o.MergeOperator = &stressWideMergeOperator{putEntityOneIn: f.UsePutEntityOneIn}
	default:
		o.MergeOperator = mergeoperators.PutOperatorV2{}
	}
	s.timestampsFromFlags(o)
	if f.EnableCompactionFilter {
		s.filterFactory = &stressCompactionFilterFactory{keys: t.keys}
		o.CompactionFilterFactory = s.filterFactory
	}
	o.ParanoidFileChecks = f.ParanoidFileChecks
	o.MemtableMaxRangeDeletions = f.MemtableMaxRangeDeletions
	o.OptimizeFiltersForHits = f.OptimizeFiltersForHits
	o.SampleForCompression = f.SampleForCompression
	o.ReportBGIOStats = f.ReportBgIOStats
	o.MaxSequentialSkipInIterations = f.MaxSequentialSkipInIterations
	o.InplaceUpdateSupport = f.InplaceUpdateSupport
	o.UncacheAggressiveness = f.UncacheAggressiveness
	o.MemtableOpScanFlushTrigger = f.MemtableOpScanFlushTrigger
	o.MemtableAvgOpScanFlushTrigger = f.MemtableAvgOpScanFlushTrigger
	o.MinTombstonesForRangeConversion = f.MinTombstonesForRangeConversion
	return nil
}

func (s *stressTest) blobsFromFlags(o *rocksdb.ColumnFamilyOptions) error {
	f, t := s.flags, s.tool
	o.EnableBlobFiles, o.MinBlobSize, o.BlobFileSize = f.EnableBlobFiles, f.MinBlobSize, f.BlobFileSize
	o.BlobCompressionType = t.compressionType(f.BlobCompressionType)
	o.EnableBlobGarbageCollection = f.EnableBlobGarbageCollection
	o.BlobGarbageCollectionAgeCutoff = f.BlobGarbageCollectionAgeCutoff
	o.BlobGarbageCollectionForceThreshold = f.BlobGarbageCollectionForceThreshold
	o.BlobCompactionReadaheadSize = f.BlobCompactionReadaheadSize
	o.BlobFileStartingLevel = int(f.BlobFileStartingLevel)
	if !f.UseBlobCache {
		return nil
	}
	if f.PrepopulateBlobCache < 0 || f.PrepopulateBlobCache > 1 {
		return rocksdb.InvalidArgument("Unknown prepopulate blob cache mode")
	}
	o.PrepopulateBlobCache = rocksdb.PrepopulateBlobCache(f.PrepopulateBlobCache)
	if f.UseSharedBlockAndBlobCache {
		o.BlobCache = t.cache
		return nil
	}
	if f.BlobCacheSize == 0 {
		return rocksdb.InvalidArgument("Unable to create a standalone blob cache if blob_cache_size <= 0.")
	}
	c := rocksdb.DefaultLRUCacheOptions(int(f.BlobCacheSize))
	c.NumShardBits = int(f.BlobCacheNumshardbits)
	var err error
	o.BlobCache, err = cache.MakeSharedLRUCache(c)
	return err
}

func (s *stressTest) compactionFromFlags(o *rocksdb.Options) {
	f := s.flags
	o.DisableAutoCompactions = s.disableAutoCompactionsBeforeVerify() || f.DisableAutoCompactions
	o.CompactionStyle = rocksdb.CompactionStyle(f.CompactionStyle)
	if o.CompactionStyle == rocksdb.CompactionStyleFIFO {
		fifo := &o.CompactionOptionsFIFO
		fifo.AllowCompaction = f.FifoAllowCompaction
		if n := f.FifoCompactionMaxDataFilesSizeMB; n > 0 {
			fifo.MaxDataFilesSize = n << 20
		}
		if n := f.FifoCompactionMaxTableFilesSizeMB; n > 0 {
			fifo.MaxTableFilesSize = n << 20
		}
		fifo.UseKVRatioCompaction = f.FifoCompactionUseKvRatioCompaction
	}
	o.CompactionPri = rocksdb.CompactionPri(f.CompactionPri)
	o.NumLevels = int(f.NumLevels)
	o.TargetFileSizeBase = uint64(f.TargetFileSizeBase)
	o.TargetFileSizeMultiplier = int(f.TargetFileSizeMultiplier)
	o.MaxBytesForLevelBase = f.MaxBytesForLevelBase
	o.MaxBytesForLevelMultiplier = f.MaxBytesForLevelMultiplier
	o.Level0StopWritesTrigger = int(f.Level0StopWritesTrigger)
	o.Level0SlowdownWritesTrigger = int(f.Level0SlowdownWritesTrigger)
	o.Level0FileNumCompactionTrigger = int(f.Level0FileNumCompactionTrigger)
	o.PeriodicCompactionSeconds = f.PeriodicCompactionSeconds
	o.TTL = f.CompactionTtl
	u := &o.CompactionOptionsUniversal
	u.SizeRatio = uint32(f.UniversalSizeRatio)
	u.MinMergeWidth = uint32(f.UniversalMinMergeWidth)
	u.MaxMergeWidth = uint32(f.UniversalMaxMergeWidth)
	u.MaxSizeAmplificationPercent = uint32(f.UniversalMaxSizeAmplificationPercent)
	u.MaxReadAmp = int(f.UniversalMaxReadAmp)
	u.ReduceFileLocking = f.UniversalReduceFileLocking
	o.LevelCompactionDynamicLevelBytes = f.LevelCompactionDynamicLevelBytes
	o.BottommostFileCompactionDelay = f.BottommostFileCompactionDelay
	o.SoftPendingCompactionBytesLimit = f.SoftPendingCompactionBytesLimit
	o.HardPendingCompactionBytesLimit = f.HardPendingCompactionBytesLimit
	o.VerifyOutputFlags = rocksdb.VerifyOutputFlags(f.VerifyOutputFlags)
	o.ReadTriggeredCompactionThreshold = f.ReadTriggeredCompactionThreshold
	if f.EnableSstPartitionerFactory {
		o.SstPartitionerFactory = compaction.NewSstPartitionerFixedPrefixFactory(1)
	}
}

func (s *stressTest) disableAutoCompactionsBeforeVerify() bool {
	return !s.flags.DisableAutoCompactions && s.flags.EnableCompactionFilter
}
