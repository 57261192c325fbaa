// Port of Benchmark::InitializeOptionsFromFile, InitializeOptionsFromFlags and
// InitializeOptionsGeneral of tools/db_bench_tool.cc.

package main

import (
	"errors"
	"strings"

	"github.com/rocksdb-go/rocksdb/cache"
	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/options"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/ratelimiter"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// open makes the options from the file or the flags, and opens the database.
func (b *benchmark) open() error {
	b.out.printf("Initializing RocksDB Options from the specified file\n")
	if b.flags.OptionsFile != "" {
		if err := b.optionsFromFile(); err != nil {
			return err
		}
	} else {
		b.out.printf("Initializing RocksDB Options from command-line flags\n")
		b.openOptions = rocksdb.DefaultOptions()
		if err := b.optionsFromFlags(&b.openOptions); err != nil {
			return err
		}
	}
	if err := b.optionsGeneral(&b.openOptions); err != nil {
		return err
	}
	return b.openAll()
}

func (b *benchmark) optionsFromFile() error {
	cfg := rocksdb.DefaultConfigOptions()
	cfg.Env = b.tool.sysEnv
	p := options.NewParser()
	if err := p.Parse(&cfg, b.flags.OptionsFile, b.tool.sysEnv.GetFileSystem()); err != nil {
		b.out.errf("Unable to load options file %s --- %v\n", b.flags.OptionsFile, err)
		return exitCode(1)
	}
	if p.NumColumnFamilies() == 0 {
		b.out.errf("Unable to load options file %s --- it has no column family\n", b.flags.OptionsFile)
		return exitCode(1)
	}
	b.openOptions = rocksdb.Options{DBOptions: *p.DBOptions(), ColumnFamilyOptions: p.CFOptions()[0]}
	b.openOptions.Env = b.tool.sysEnv
	return nil
}

func (b *benchmark) optionsFromFlags(o *rocksdb.Options) error {
	b.dbOptionsFromFlags(&o.DBOptions)
	b.cfOptionsFromFlags(&o.ColumnFamilyOptions)
	b.blobOptionsFromFlags(&o.ColumnFamilyOptions)
	b.compactionOptionsFromFlags(&o.ColumnFamilyOptions)
	if err := b.memtableFromFlags(&o.ColumnFamilyOptions); err != nil {
		return err
	}
	if err := b.tableFromFlags(o); err != nil {
		return err
	}
	if n := len(b.tool.multiplierAdditional); n > 0 {
		if n != int(b.flags.NumLevels) {
			b.out.errf("Insufficient number of fanouts specified %d\n", n)
			return exitCode(1)
		}
		o.MaxBytesForLevelMultiplierAdditional = b.tool.multiplierAdditional
	}
	if b.flags.MergeOperator != "" {
		op, err := createByName[rocksdb.MergeOperator](registry.KindMergeOperator, b.flags.MergeOperator)
		if err != nil {
			b.out.errf("invalid merge operator[%s]: %v\n", b.flags.MergeOperator, err)
			return exitCode(1)
		}
		o.MergeOperator = op
	}
	return nil
}

func (b *benchmark) dbOptionsFromFlags(o *rocksdb.DBOptions) {
	f := b.flags
	o.Env = b.tool.sysEnv
	o.WALDir = f.WALDir
	o.DumpMallocStats = f.DumpMallocStats
	o.StatsDumpPeriodSec = uint32(f.StatsDumpPeriodSec)
	o.MaxCompactionTriggerWakeupSeconds = f.MaxCompactionTriggerWakeupSeconds
	o.StatsPersistPeriodSec = uint32(f.StatsPersistPeriodSec)
	o.PersistStatsToDisk = f.PersistStatsToDisk
	o.StatsHistoryBufferSize = f.StatsHistoryBufferSize
	o.AvoidFlushDuringRecovery = f.AvoidFlushDuringRecovery
	o.AvoidFlushDuringShutdown = f.AvoidFlushDuringShutdown
	o.MaxOpenFiles = int(f.OpenFiles)
	if f.CostWriteBufferToCache || f.DBWriteBufferSize != 0 {
		o.WriteBufferManager = memtable.NewWriteBufferManager(uint64(f.DBWriteBufferSize), b.cache, false)
	}
	o.MaxManifestFileSize = uint64(f.MaxManifestFileSize)
	o.MaxManifestSpaceAmpPct = int(f.MaxManifestSpaceAmpPct)
	o.VerifyManifestContentOnClose = f.VerifyManifestContentOnClose
	o.MaxBackgroundJobs = int(f.MaxBackgroundJobs)
	o.MaxBackgroundCompactions = int(f.MaxBackgroundCompactions)
	o.MaxSubcompactions = uint32(f.Subcompactions)
	o.MaxBackgroundFlushes = int(f.MaxBackgroundFlushes)
	o.AllowMmapReads, o.AllowMmapWrites = f.MmapRead, f.MmapWrite
	o.UseDirectReads = f.UseDirectReads
	o.UseDirectIOForCompactionReads = f.UseDirectIOForCompactionReads
	o.UseDirectIOForFlushAndCompaction = f.UseDirectIOForFlushAndCompaction
	o.ManualWALFlush = f.ManualWALFlush
	o.WALCompression = b.tool.walCompressionType
	o.MaxFileOpeningThreads = int(f.FileOpeningThreads)
	o.CompactionReadaheadSize = f.CompactionReadaheadSize
	o.LogReadaheadSize = uint64(f.LogReadaheadSize)
	o.WritableFileMaxBufferSize = uint64(f.WritableFileMaxBufferSize)
	o.UseFsync = f.UseFsync
	o.WALTTLSeconds, o.WALSizeLimitMB = f.WALTTLSeconds, f.WALSizeLimitMB
	o.MaxTotalWALSize = f.MaxTotalWALSize
	o.DelayedWriteRate = f.DelayedWriteRate
	o.AllowConcurrentMemtableWrite = f.AllowConcurrentMemtableWrite
	o.EnableWriteThreadAdaptiveYield = f.EnableWriteThreadAdaptiveYield
	o.EnablePipelinedWrite, o.UnorderedWrite = f.EnablePipelinedWrite, f.UnorderedWrite
	o.WriteThreadMaxYieldUsec, o.WriteThreadSlowYieldUsec = f.WriteThreadMaxYieldUsec, f.WriteThreadSlowYieldUsec
	o.TableCacheNumshardbits = int(f.TableCacheNumshardbits)
	o.OpenFilesAsync = f.OpenFilesAsync
	if f.OpenFilesAsync && !f.SkipStatsUpdateOnDBOpen {
		f.SkipStatsUpdateOnDBOpen = true
		b.out.errf("open_files_async requires skip_stats_update_on_db_open, enabling it automatically\n")
	}
	o.SkipStatsUpdateOnDBOpen = f.SkipStatsUpdateOnDBOpen
	o.ParanoidChecks = f.ParanoidChecks
	o.AdviseRandomOnOpen = f.AdviseRandomOnOpen
	o.UseAdaptiveMutex = f.UseAdaptiveMutex
	o.BytesPerSync, o.WALBytesPerSync = f.BytesPerSync, f.WALBytesPerSync
	o.EnableThreadTracking = f.ThreadStatusPerInterval > 0
	o.AllowDataInErrors = f.AllowDataInErrors
	o.TrackAndVerifyWALsInManifest = f.TrackAndVerifyWALsInManifest
	o.TrackAndVerifyWALs = f.TrackAndVerifyWALs
	o.AsyncWALPrecreate = f.AsyncWALPrecreate
	if f.UseStderrInfoLogger {
		o.InfoLog = &stderrLogger{out: b.out}
	}
}

func (b *benchmark) cfOptionsFromFlags(o *rocksdb.ColumnFamilyOptions) {
	f, t := b.flags, b.tool
	o.CompressionOpts.Level = int(f.CompressionLevel)
	o.CompressionOpts.MaxDictBytes = uint32(f.CompressionMaxDictBytes)
	o.CompressionOpts.ZSTDMaxTrainBytes = uint32(f.CompressionZSTDMaxTrainBytes)
	o.CompressionOpts.ParallelThreads = uint32(f.CompressionParallelThreads)
	o.CompressionOpts.MaxDictBufferBytes = f.CompressionMaxDictBufferBytes
	o.CompressionOpts.UseZSTDDictTrainer = f.CompressionUseZSTDDictTrainer
	o.Compression, o.CompressionManager = t.compressionType, t.compressionManager
	o.SampleForCompression = uint64(f.SampleForCompression)
	if first := int(f.MinLevelToCompress); first >= 0 {
		o.CompressionPerLevel = make([]rocksdb.CompressionType, f.NumLevels)
		for i := min(first, len(o.CompressionPerLevel)); i < len(o.CompressionPerLevel); i++ {
			o.CompressionPerLevel[i] = t.compressionType
		}
	}
	o.ArenaBlockSize = uint64(f.ArenaBlockSize)
	o.WriteBufferSize = uint64(f.WriteBufferSize)
	o.MaxWriteBufferNumber = int(f.MaxWriteBufferNumber)
	o.MinWriteBufferNumberToMerge = int(f.MinWriteBufferNumberToMerge)
	o.MaxWriteBufferSizeToMaintain = f.MaxWriteBufferSizeToMaintain
	o.BloomLocality = uint32(f.BloomLocality)
	o.NumLevels = int(f.NumLevels)
	o.TargetFileSizeBase = uint64(f.TargetFileSizeBase)
	o.TargetFileSizeMultiplier = int(f.TargetFileSizeMultiplier)
	o.MaxBytesForLevelBase = f.MaxBytesForLevelBase
	o.LevelCompactionDynamicLevelBytes = f.LevelCompactionDynamicLevelBytes
	o.MaxBytesForLevelMultiplier = f.MaxBytesForLevelMultiplier
	o.UncacheAggressiveness = f.UncacheAggressiveness
	o.Level0StopWritesTrigger = int(f.Level0StopWritesTrigger)
	o.Level0FileNumCompactionTrigger = int(f.Level0FileNumCompactionTrigger)
	o.Level0SlowdownWritesTrigger = int(f.Level0SlowdownWritesTrigger)
	o.PrecludeLastLevelDataSeconds = uint64(f.PrecludeLastLevelDataSeconds)
	o.PreserveInternalTimeSeconds = uint64(f.PreserveInternalTimeSeconds)
	o.SoftPendingCompactionBytesLimit = f.SoftPendingCompactionBytesLimit
	o.HardPendingCompactionBytesLimit = f.HardPendingCompactionBytesLimit
	o.ExperimentalMempurgeThreshold = f.ExperimentalMempurgeThreshold
	o.InplaceUpdateSupport, o.InplaceUpdateNumLocks = f.InplaceUpdateSupport, f.InplaceUpdateNumLocks
	o.MaxCompactionBytes = f.MaxCompactionBytes
	o.DisableAutoCompactions = f.DisableAutoCompactions
	o.OptimizeFiltersForHits = f.OptimizeFiltersForHits
	o.ForceConsistencyChecks = f.ForceConsistencyChecks
	o.PeriodicCompactionSeconds = f.PeriodicCompactionSeconds
	o.TTL = f.TTLSeconds
	o.MaxSuccessiveMerges = uint64(f.MaxSuccessiveMerges)
	o.StrictMaxSuccessiveMerges = f.StrictMaxSuccessiveMerges
	o.ReportBGIOStats = f.ReportBGIOStats
	o.MemtableProtectionBytesPerKey = f.MemtableProtectionBytesPerKey
	o.BlockProtectionBytesPerKey = uint8(f.BlockProtectionBytesPerKey)
	o.ParanoidMemoryChecks = f.ParanoidMemoryChecks
	o.MemtableVerifyPerKeyChecksumOnSeek = f.MemtableVerifyPerKeyChecksumOnSeek
	o.MemtableOpScanFlushTrigger = f.MemtableOpScanFlushTrigger
	o.MinTombstonesForRangeConversion = f.MinTombstonesForRangeConversion
	o.ReadTriggeredCompactionThreshold = f.ReadTriggeredCompactionThreshold
	if f.PrefixSize != 0 {
		o.PrefixExtractor = util.NewFixedPrefixTransform(int(f.PrefixSize))
	}
}

func (b *benchmark) blobOptionsFromFlags(o *rocksdb.ColumnFamilyOptions) {
	f := b.flags
	o.EnableBlobFiles = f.EnableBlobFiles
	o.EnableBlobDirectWrite = f.EnableBlobDirectWrite
	o.BlobDirectWritePartitions = uint32(f.BlobDirectWritePartitions)
	o.MinBlobSize, o.BlobFileSize = f.MinBlobSize, f.BlobFileSize
	o.BlobCompressionType = b.tool.blobCompressionType
	o.EnableBlobGarbageCollection = f.EnableBlobGarbageCollection
	o.BlobGarbageCollectionAgeCutoff = f.BlobGarbageCollectionAgeCutoff
	o.BlobGarbageCollectionForceThreshold = f.BlobGarbageCollectionForceThreshold
	o.BlobCompactionReadaheadSize = f.BlobCompactionReadaheadSize
	o.BlobFileStartingLevel = int(f.BlobFileStartingLevel)
}

func (b *benchmark) compactionOptionsFromFlags(o *rocksdb.ColumnFamilyOptions) {
	f := b.flags
	o.CompactionStyle = rocksdb.CompactionStyle(f.CompactionStyle)
	o.CompactionPri = rocksdb.CompactionPri(f.CompactionPri)
	fifo := &o.CompactionOptionsFIFO
	fifo.MaxTableFilesSize = f.FIFOCompactionMaxTableFilesSizeMB << 20
	fifo.AllowCompaction = f.FIFOCompactionAllowCompaction
	fifo.AgeForWarm = f.FIFOAgeForWarm
	fifo.MaxDataFilesSize = f.FIFOCompactionMaxDataFilesSizeMB << 20
	fifo.UseKVRatioCompaction = f.FIFOCompactionUseKVRatioCompaction
	u := &o.CompactionOptionsUniversal
	for _, c := range []struct {
		from int32
		to   *uint32
	}{
		{f.UniversalSizeRatio, &u.SizeRatio},
		{f.UniversalMinMergeWidth, &u.MinMergeWidth},
		{f.UniversalMaxMergeWidth, &u.MaxMergeWidth},
		{f.UniversalMaxSizeAmplificationPercent, &u.MaxSizeAmplificationPercent},
	} {
		if c.from != 0 {
			*c.to = uint32(c.from)
		}
	}
	if f.UniversalCompressionSizePercent != -1 {
		u.CompressionSizePercent = int(f.UniversalCompressionSizePercent)
	}
	u.MaxReadAmp = int(f.UniversalMaxReadAmp)
	u.AllowTrivialMove, u.Incremental = f.UniversalAllowTrivialMove, f.UniversalIncremental
	u.StopStyle = rocksdb.CompactionStopStyle(f.UniversalStopStyle)
	u.ReduceFileLocking = f.UniversalReduceFileLocking
}

func (b *benchmark) memtableFromFlags(o *rocksdb.ColumnFamilyOptions) error {
	f := b.flags
	if f.MemtableUseHugePage {
		o.MemtableHugePageSize = 2048
	}
	o.MemtablePrefixBloomSizeRatio = f.MemtableBloomSizeRatio
	o.MemtableWholeKeyFiltering = f.MemtableWholeKeyFiltering
	o.MemtableBatchLookupOptimization = f.MemtableBatchLookupOptimization
	if n := f.MemtableInsertWithHintPrefixSize; n > 0 {
		o.MemtableInsertWithHintPrefixExtractor = util.NewCappedPrefixTransform(int(n))
	}
	if f.UseUint64Comparator {
		if f.KeySize != 8 {
			b.out.errf("Using Uint64 comparator but key size is not 8.\n")
			return exitCode(1)
		}
		o.Comparator = util.Uint64Comparator()
	}
	if n := f.UserTimestampSize; n > 0 {
		if n != timestampSize {
			b.out.errf("Only 64 bits timestamps are supported.\n")
			return exitCode(1)
		}
		o.Comparator = util.BytewiseComparatorWithU64Ts()
	}
	var err error
	switch strings.ToLower(f.Memtablerep) {
	case "skip_list":
		o.MemtableFactory = memtable.NewSkipListFactory(int(f.SkipListLookahead))
	case "prefix_hash":
		o.MemtableFactory = memtable.NewHashSkipListRepFactory(int(f.HashBucketCount), 0, 0)
	case "vector":
		o.MemtableFactory = memtable.NewVectorRepFactory(0)
	case "hash_linkedlist":
		o.MemtableFactory = memtable.NewHashLinkListRepFactory(int(f.HashBucketCount))
	default:
		o.MemtableFactory, err = createByName[rocksdb.MemTableRepFactory](registry.KindMemTableRepFactory, f.Memtablerep)
	}
	if err != nil {
		b.out.errf("Could not create memtable factory: %v\n", err)
		return exitCode(1)
	}
	if f.PrefixSize == 0 && b.isHashMemtable(o) {
		b.out.errf("prefix_size should be non-zero if PrefixHash or HashLinkedList memtablerep is used\n")
		return exitCode(1)
	}
	return nil
}

func (b *benchmark) isHashMemtable(o *rocksdb.ColumnFamilyOptions) bool {
	return rocksdb.IsInstanceOf(o.MemtableFactory, "prefix_hash") || rocksdb.IsInstanceOf(o.MemtableFactory, "hash_linkedlist")
}

// filterPolicy is what --bloom_bits and --use_ribbon_filter stand for.
func (b *benchmark) filterPolicy() rocksdb.FilterPolicy {
	bits := float64(b.flags.BloomBits)
	switch {
	case bits <= 0:
		return nil
	case b.flags.UseRibbonFilter:
		return blockbased.NewRibbonFilterPolicy(bits, 0)
	}
	return blockbased.NewBloomFilterPolicy(bits)
}

// optionsGeneral sets what the benchmark needs whatever the options come from,
// and fills in what an OPTIONS file left out.
func (b *benchmark) optionsGeneral(o *rocksdb.Options) error {
	f, t := b.flags, b.tool
	o.CreateMissingColumnFamilies, o.CreateIfMissing = true, true
	if o.Statistics == nil && t.dbstats != nil {
		o.Statistics = t.dbstats
	}
	if o.TableFactory == nil {
		bbto := rocksdb.DefaultBlockBasedTableOptions()
		o.TableFactory = newBlockBasedTableFactory(&bbto)
	}
	if bbto, ok := o.TableFactory.OptionsPtr(rocksdb.BlockBasedTableOptionsName).(*rocksdb.BlockBasedTableOptions); ok && bbto != nil {
		if b.cache != nil {
			bbto.BlockCache = b.cache
		}
		if bbto.FilterPolicy == nil {
			bbto.FilterPolicy = b.filterPolicy()
		}
	}
	if o.RowCache == nil && f.RowCacheSize != 0 {
		opts := rocksdb.DefaultLRUCacheOptions(int(f.RowCacheSize))
		if f.CacheNumshardbits >= 1 {
			opts.NumShardBits = int(f.CacheNumshardbits)
		}
		c, err := cache.NewLRUCache(opts)
		if err != nil {
			return err
		}
		o.RowCache = c
	}
	if f.EnableIOPrio {
		o.Env.LowerThreadPoolIOPriority(rocksdb.LowPriority)
		o.Env.LowerThreadPoolIOPriority(rocksdb.HighPriority)
	}
	if f.EnableCPUPrio {
		if err := errors.Join(o.Env.LowerThreadPoolCPUPriority(rocksdb.LowPriority, rocksdb.CPUPriorityLow),
			o.Env.LowerThreadPoolCPUPriority(rocksdb.HighPriority, rocksdb.CPUPriorityLow)); err != nil {
			b.out.errf("%v\n", err)
		}
	}
	if f.SineWriteRate {
		f.BenchmarkWriteRateLimit = uint64(b.sineRate(0))
	}
	if o.RateLimiter == nil && f.RateLimiterBytesPerSec > 0 {
		mode := rocksdb.WritesOnly
		if f.RateLimitBGReads {
			mode = rocksdb.ReadsOnly
		}
		l, err := ratelimiter.NewGenericRateLimiter(int64(f.RateLimiterBytesPerSec), f.RateLimiterRefillPeriodUs, 10,
			mode, f.RateLimiterAutoTuned, f.RateLimiterSingleBurstBytes)
		if err != nil {
			return err
		}
		o.RateLimiter = l
	}
	o.Listeners = append(o.Listeners, b.listener)
	if o.FileChecksumGenFactory == nil && f.FileChecksum {
		o.FileChecksumGenFactory = util.GetFileChecksumGenCrc32cFactory()
	}
	return nil
}
